// Package config is every setting of the program: environment to struct, and
// struct to documentation. The struct's tags are the one source of names,
// defaults and meanings; docs/configuration.md is printed from them.
package config

import (
	"time"
)

// Config holds the settings. Fields with a secret tag may also be given as
// NAME_FILE, the path of a file that holds the value, and are never printed.
type Config struct {
	APIHost        string   `env:"API_HOST"        default:"127.0.0.1" help:"Listen address of the API."`
	APIPort        int      `env:"API_PORT"        default:"8000"      help:"Listen port of the API; 0 picks a free one."                                                                                               min:"0" max:"65535"`
	APITLSCert     string   `env:"API_TLS_CERT"                        help:"Certificate file (PEM); with API_TLS_KEY the API speaks TLS."`
	APITLSKey      string   `env:"API_TLS_KEY"                         help:"Private key file (PEM) of API_TLS_CERT."`
	TrustedProxies []string `env:"TRUSTED_PROXIES"                     help:"Comma list of addresses or CIDRs whose X-Forwarded-* headers count."                                                                                           check:"cidr"`
	APIKeys        []string `env:"API_KEY"                             help:"Shared key; a comma list is several. Unset, the API is open on loopback and refuses to start on any other address unless API_AUTH is off."                                  secret:"true"`
	APIAuth        string   `env:"API_AUTH"        default:"on"        help:"off lets an API without keys listen beyond loopback."                                                                                                                                     allowed:"on,off"`
	KeysConfig     string   `env:"KEYS_CONFIG"                         help:"File of named keys, reloaded when it changes. Unset: keys.yaml if present, also when it appears later."`
	Debug          bool     `env:"DEBUG"           default:"false"     help:"Debug logging; the same as LOG_LEVEL=debug."`

	DataDir      string `env:"DATA_DIR"       default:"./.presswork" help:"What must last: the private Redis."`
	CacheDir     string `env:"CACHE_DIR"      default:"./.cache"     help:"What can be made again: browser profiles (a process of root keeps those in the temporary directory, where the browser's own user can reach them). Safe to delete."`
	ThemesDir    string `env:"THEMES_DIR"     default:"./themes"     help:"Custom themes, NAME.css each (a file of at most 1 MB), reloaded when they change. May be absent."`
	PDFOutputDir string `env:"PDF_OUTPUT_DIR" default:"./output"     help:"Artifact directory when no S3 store is set."`

	Workers      int      `env:"WORKERS"       default:"0"              min:"0" max:"256" help:"Renders at a time in this process: one limit shared by render, export and bulk. 0: the number of CPUs."`
	WorkerQueues []string `env:"WORKER_QUEUES"                                            help:"Comma list of the queues this worker takes. Unset: all. On every node of a fleet nothing but infer and tools: completions are all it serves, and it needs no S3 store." allowed:"render,export,text,audio,infer,tools,bulk"`
	ChromiumPath string   `env:"CHROMIUM_PATH"                                            help:"The browser's program, a name in PATH or a file. Unset: the first of the well-known places, a headless shell before a whole browser."`
	WorkerAddr   string   `env:"WORKER_ADDR"   default:"127.0.0.1:9090"                   help:"Where a worker serves /healthz, /readyz and /metrics."                                                                                                                                                                      check:"hostport"`

	CacheMaxSizeGB      float64       `env:"CACHE_MAX_SIZE_GB"     default:"2.0"    min:"0"  max:"1000000"   help:"Cap on what is stored, in GB: artifacts, the render cache and the sources of jobs. The least recently used artifacts and renders go first, never one younger than an hour; when nothing may go, submissions get 503 store_full."`
	CacheRetentionDays  int           `env:"CACHE_RETENTION_DAYS"  default:"30"     min:"1"  max:"3650"      help:"Artifacts older than this are deleted."`
	RecordRetentionDays int           `env:"RECORD_RETENTION_DAYS" default:"0"      min:"0"  max:"3650"      help:"How long the record of a job is kept after its end: no less than CACHE_RETENTION_DAYS, as an artifact is found by its record. 0: 7 days more than that, in which a deleted artifact answers 410."`
	QueueMaxJobs        int64         `env:"QUEUE_MAX_JOBS"        default:"100000" min:"0"  max:"100000000" help:"How many jobs may wait in one queue: submissions beyond that get 429 queue_full. One key may have four fifths of them at most, and less the more the others have. 0: no limit."`
	QueueMaxAge         time.Duration `env:"QUEUE_MAX_AGE"         default:"0s"     min:"0s" max:"24h"       help:"How long the first job of a queue may have waited: submissions get 429 queue_full while it has waited longer, except those of keys none of whose own jobs has. 0s: no limit."`
	RenderCacheShared   bool          `env:"RENDER_CACHE_SHARED"   default:"false"                           help:"Keys share the render cache: quicker where they print the same documents, but a job then shows its key that another had the same text printed."`

	RedisURL         string `env:"REDIS_URL"          redact:"url" help:"redis://, rediss://, unix:// or redis-sentinel:// address; a comma list is a cluster. Unset: a private redis-server under DATA_DIR."`
	CacheRedisURL    string `env:"CACHE_REDIS_URL"    redact:"url" help:"Redis that remembers analyses and choices of themes; it may forget them (an LRU). Unset: REDIS_URL's."`
	S3Endpoint       string `env:"S3_ENDPOINT"                     help:"host:port of MinIO or any S3. Unset: files in PDF_OUTPUT_DIR."`
	S3Bucket         string `env:"S3_BUCKET"                       help:"Bucket; made when missing."`
	S3AccessKey      string `env:"S3_ACCESS_KEY"                   help:"Access key."                                                                                                                         secret:"true"`
	S3SecretKey      string `env:"S3_SECRET_KEY"                   help:"Secret key."                                                                                                                         secret:"true"`
	S3Region         string `env:"S3_REGION"                       help:"Region."                                                                                                                                           default:"us-east-1"`
	S3UseTLS         bool   `env:"S3_USE_TLS"                      help:"https to S3_ENDPOINT and S3_PUBLIC_ENDPOINT."                                                                                                      default:"false"`
	S3PublicEndpoint string `env:"S3_PUBLIC_ENDPOINT"              help:"host:port of the store as callers reach it: a download then answers 307 to a presigned URL there. Unset: downloads are streamed."`

	AllowedOrigins  []string      `env:"ALLOWED_ORIGINS"   check:"origin" help:"Comma list of origins (https://app.example) that may call from a browser, or *. Unset: same origin only."`
	MaxContentBytes int64         `env:"MAX_CONTENT_BYTES"                help:"Largest Markdown, in bytes."                                                                              default:"10485760"  min:"1024" max:"1073741824"`
	MaxUploadBytes  int64         `env:"MAX_UPLOAD_BYTES"                 help:"All files of one request, in bytes."                                                                      default:"104857600" min:"1024" max:"10737418240"`
	RenderTimeout   time.Duration `env:"RENDER_TIMEOUT"                   help:"How long a document may take to compose, and to print; waiting for a free tab does not count."            default:"120s"      min:"1s"   max:"15m"`
	RateLimitRPM    int           `env:"RATE_LIMIT_RPM"                   help:"Requests that make work, per minute and key; 0 is no limit."                                              default:"0"         min:"0"    max:"1000000"`
	TokenSecret     string        `env:"TOKEN_SECRET"                     help:"Signs the tokens in URLs. Unset: made at first start and kept in Redis."                                                                                   secret:"true"`
	WebhookSecret   string        `env:"WEBHOOK_SECRET"                   help:"Signs webhooks (whsec_…). Unset: made at first start and kept in Redis; set it to be able to verify."                                                      secret:"true"`

	OutboundAllowPrivate string `env:"OUTBOUND_ALLOW_PRIVATE" help:"Addresses beyond the public internet that webhooks, remote images and pages that models read may reach: comma list of host[:port] or CIDR; true is loopback, RFC 1918 and ULA. Link-local and metadata addresses never."`
	ExportAuth           string `env:"EXPORT_AUTH"            help:"off opens /export-pdf and /export-screenshot, and nothing else, to callers without a key."                                                                                                                                                           default:"on" allowed:"on,off"`
	ExportAllowPrivate   string `env:"EXPORT_ALLOW_PRIVATE"   help:"Addresses beyond the public internet that pages to export may reach, and on which ports: comma list of host[:port] or CIDR; true is loopback, RFC 1918 and ULA on any port. Link-local and metadata addresses, and Presswork's own services, never."`
	ExportAllowHosts     string `env:"EXPORT_ALLOW_HOSTS"     help:"Comma list of host globs (*.example.com) that pages to export may reach; their addresses are checked all the same. Unset: every host."`
	ExportDenyHosts      string `env:"EXPORT_DENY_HOSTS"      help:"Comma list of host globs that pages to export may not reach."`

	InferenceConfig       string        `env:"INFERENCE_CONFIG"        help:"File of models and their upstreams, reloaded when it changes. Unset: models.yaml if present, also when it appears later, else what an Ollama or llama-server on this machine offers."`
	InferenceVendor       string        `env:"INFERENCE_VENDOR"        help:"Names the member x_<vendor> of completions."                                                                                                                                                       default:"presswork" check:"word"`
	InferenceLax          bool          `env:"INFERENCE_LAX"           help:"Completions take options that exclude each other, as the tests of some SDKs send them."                                                                                                            default:"false"`
	InferenceConcurrency  int           `env:"INFERENCE_CONCURRENCY"   help:"Completions at a time in this worker."                                                                                                                                                             default:"512"                    min:"1"    max:"10000"`
	InferenceQueueTimeout time.Duration `env:"INFERENCE_QUEUE_TIMEOUT" help:"How long a completion, or a text to speak, may wait for a worker to begin it; then it gets 503 queue_unavailable with retry-after. 0s: as long as its client waits."                               default:"10m"                    min:"0s"   max:"6h"`
	InferenceStartOllama  bool          `env:"INFERENCE_START_OLLAMA"  help:"serve and worker start the ollama that is installed on this machine, where none is running."                                                                                                       default:"false"`
	MaxAudioBytes         int64         `env:"MAX_AUDIO_BYTES"         help:"Largest recording to transcribe, in bytes."                                                                                                                                                        default:"26214400"               min:"1024" max:"10737418240"`
	MaxAudioDuration      time.Duration `env:"MAX_AUDIO_DURATION"      help:"Longest recording to transcribe."                                                                                                                                                                  default:"4h"                     min:"1s"   max:"24h"`
	AudioConcurrency      int           `env:"AUDIO_CONCURRENCY"       help:"Recordings at a time in this worker."                                                                                                                                                              default:"16"                     min:"1"    max:"1000"`
	InferenceEngine       string        `env:"INFERENCE_ENGINE"        help:"serve runs this program as its own model server, on loopback, without a models.yaml: llama-server, whisper-server, or the path of one that takes their options."`
	InferenceEngineModel  string        `env:"INFERENCE_ENGINE_MODEL"  help:"File of INFERENCE_ENGINE's model: a GGUF for llama-server. Its name is that of the model."`
	ToolConcurrency       int           `env:"TOOL_CONCURRENCY"        help:"Completions whose built-in tools this worker holds at a time. Most of them wait for the model: half as many programs run at a time as there are CPUs."                                             default:"64"                     min:"1"    max:"10000"`
	ToolPython            string        `env:"TOOL_PYTHON"             help:"Python that runs what models write (code_interpreter): a name in /usr/bin or a path below /usr. off: models get no code_interpreter from this worker."                                             default:"python3"`
	ToolMemoryMB          int           `env:"TOOL_MEMORY_MB"          help:"Memory of the code of one completion, in MB; its files come on top, 64 MB each in /work and /tmp."                                                                                                 default:"512"                    min:"64"   max:"1048576"`
	ToolMemoryTotalMB     int           `env:"TOOL_MEMORY_TOTAL_MB"    help:"Memory of the code of all completions of this worker together, files included, in MB; code waits for it. 0: a quarter of the machine's memory, or of the limit of the worker's cgroup."            default:"0"                      min:"0"    max:"16777216"`
	ToolTimeout           time.Duration `env:"TOOL_TIMEOUT"            help:"How long one call of code_interpreter may run."                                                                                                                                                    default:"20s"                    min:"1s"   max:"5m"`
	AnalysisModel         string        `env:"ANALYSIS_MODEL"          help:"Model that reads documents for the theme auto and POST /api/analysis: to be set for the API and for the workers of the queue text; where it fails, the program's own analyser reads. Unset: none."`

	SearXNGURL   string   `env:"SEARXNG_URL"   check:"url" redact:"url" help:"SearXNG instance that browser_search asks, with json in search.formats of its settings.yml. Unset, and SEARCH_URL too: models cannot search."`
	SearchURL    string   `env:"SEARCH_URL"                redact:"url" help:"Search engine in place of SEARXNG_URL: with {query} in it, the address of anything that answers in JSON; without, that of an OpenSearch description."`
	SearchFields []string `env:"SEARCH_FIELDS"                          help:"Where the JSON of SEARCH_URL has what, as a comma list of NAME=PATH: results (web.results), and of each result title, url, content, score. Unset: those names themselves."`
	SearchHeader string   `env:"SEARCH_HEADER"                          help:"Header sent to SEARCH_URL, Name: value; keys of search services go there."                                                                                                 secret:"true"`

	MonitorReadonly bool   `env:"MONITOR_READONLY"            default:"false" help:"The queue monitor without buttons."`
	LogFormat       string `env:"LOG_FORMAT"                  default:"auto"  help:"Log lines; auto is lines for people on a terminal and json elsewhere."                                          allowed:"auto,text,json"`
	LogLevel        string `env:"LOG_LEVEL"                   default:"info"  help:"Lowest level that is logged."                                                                                   allowed:"debug,info,warn,error"`
	OTLPEndpoint    string `env:"OTEL_EXPORTER_OTLP_ENDPOINT"                 help:"OpenTelemetry collector (http://host:4318) that traces of requests and jobs are sent to. Unset: none are made."                                 check:"url"`
}
