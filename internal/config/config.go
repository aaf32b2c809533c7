// Package config reads every setting of the program from the environment and prints their documentation. The tables in
// settings.go are the only source of names, defaults and meanings. [Load] returns a checked [Config], and [Misspelt]
// finds variables that look like settings.
package config

import "time"

// Config holds the settings. settings.go describes each of them.
type Config struct {
	APIHost        string
	APIPort        int
	APITLSCert     string
	APITLSKey      string
	TrustedProxies []string
	APIKeys        []string
	APIAuth        string
	KeysConfig     string
	Debug          bool

	DataDir      string
	CacheDir     string
	ThemesDir    string
	PDFOutputDir string

	Workers      int
	WorkerQueues []string
	ChromiumPath string
	WorkerAddr   string

	CacheMaxSizeGB      float64
	CacheRetentionDays  int
	RecordRetentionDays int
	QueueMaxJobs        int64
	QueueMaxAge         time.Duration
	RenderCacheShared   bool

	RedisURL         string
	CacheRedisURL    string
	S3Endpoint       string
	S3Bucket         string
	S3AccessKey      string
	S3SecretKey      string
	S3Region         string
	S3UseTLS         bool
	S3PublicEndpoint string

	AllowedOrigins  []string
	MaxContentBytes int64
	MaxUploadBytes  int64
	RenderTimeout   time.Duration
	RateLimitRPM    int
	TokenSecret     string
	WebhookSecret   string

	OutboundAllowPrivate string
	ExportAuth           string
	ExportAllowPrivate   string
	ExportAllowHosts     string
	ExportDenyHosts      string

	InferenceConfig       string
	InferenceVendor       string
	InferenceLax          bool
	InferenceConcurrency  int
	InferenceQueueTimeout time.Duration
	InferenceStartOllama  bool
	MaxAudioBytes         int64
	MaxAudioDuration      time.Duration
	AudioConcurrency      int
	InferenceEngine       string
	InferenceEngineModel  string
	ToolConcurrency       int
	ToolPython            string
	ToolMemoryMB          int
	ToolMemoryTotalMB     int
	ToolTimeout           time.Duration
	AnalysisModel         string

	SearXNGURL   string
	SearchURL    string
	SearchFields []string
	SearchHeader string

	MonitorReadonly bool
	LogFormat       string
	LogLevel        string
	OTLPEndpoint    string
	TraceURL        string
}
