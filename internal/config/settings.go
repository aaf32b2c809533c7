package config

import "slices"

// setting is a variable, the field that gets its value, and the values that it may have.
type setting struct {
	name string
	// field points to a field of Config: a string, a bool, a number, a duration or a list of strings.
	field any
	def   string // the default
	// min and max bound a number or a duration.
	min, max string
	// allowed is a comma list of words.
	allowed string
	// check is cidr, hostport, word, url or origin.
	check string
	// redact hides the passwords in the value, a comma list of addresses, where it is shown.
	redact bool
	// secret hides the value where it is shown, and lets NAME_FILE name a file that holds it.
	secret bool
	help   string
}

// settings lists every setting with its field of c, in the order of the documentation.
func (c *Config) settings() []setting {
	return slices.Concat(c.apiSettings(), c.folderSettings(), c.workerSettings(), c.retentionSettings(),
		c.serviceSettings(), c.requestSettings(), c.outboundSettings(), c.inferenceSettings(), c.searchSettings(),
		c.logSettings())
}

// apiSettings are about the API and its keys.
func (c *Config) apiSettings() []setting {
	return []setting{
		{name: "API_HOST", field: &c.APIHost, def: "127.0.0.1", help: "Listen address of the API."},
		{
			name: "API_PORT", field: &c.APIPort, def: "8000", min: "0", max: "65535",
			help: "Listen port of the API; 0 picks a free port.",
		},
		{
			name: "API_TLS_CERT", field: &c.APITLSCert,
			help: "Certificate file (PEM); with API_TLS_KEY the API speaks TLS.",
		},
		{name: "API_TLS_KEY", field: &c.APITLSKey, help: "Private key file (PEM) of API_TLS_CERT."},
		{
			name: "TRUSTED_PROXIES", field: &c.TrustedProxies, check: "cidr",
			help: "Comma list of addresses or CIDRs whose X-Forwarded-* headers count.",
		},
		{
			name:   "API_KEY",
			field:  &c.APIKeys,
			secret: true,
			help: "Shared key, or a comma list of keys. Unset: the API is open on loopback, and refuses to start on any " +
				"other address unless API_AUTH is off.",
		},
		{
			name: "API_AUTH", field: &c.APIAuth, def: "on", allowed: "on,off",
			help: "off lets an API without keys listen beyond loopback.",
		},
		{
			name: "KEYS_CONFIG", field: &c.KeysConfig,
			help: "File of named keys, reloaded when it changes. Unset: keys.yaml, if it exists now or later.",
		},
		{name: "DEBUG", field: &c.Debug, def: "false", help: "Debug logging; the same as LOG_LEVEL=debug."},
	}
}

// folderSettings are about folders.
func (c *Config) folderSettings() []setting {
	return []setting{
		{name: "DATA_DIR", field: &c.DataDir, def: "./.presswork", help: "Durable data: the private Redis."},
		{
			name:  "CACHE_DIR",
			field: &c.CacheDir,
			def:   "./.cache",
			help: "Browser profiles. Safe to delete. A root process keeps them in the temporary directory, where the " +
				"browser's user can reach them.",
		},
		{
			name: "THEMES_DIR", field: &c.ThemesDir, def: "./themes",
			help: "Custom themes, one NAME.css each (at most 1 MB), reloaded when they change. May be absent.",
		},
		{
			name: "PDF_OUTPUT_DIR", field: &c.PDFOutputDir, def: "./output",
			help: "Artifact directory when no S3 store is set.",
		},
	}
}

// workerSettings are about workers.
func (c *Config) workerSettings() []setting {
	return []setting{
		{
			name: "WORKERS", field: &c.Workers, def: "0", min: "0", max: "256",
			help: "Renders at a time in this process: one limit shared by render, export and bulk. 0: the number of " +
				"CPUs.",
		},
		{
			name: "WORKER_QUEUES", field: &c.WorkerQueues, allowed: "render,export,text,audio,infer,tools,bulk",
			help: "Comma list of the queues that this worker serves. Unset: all. A fleet whose nodes list only infer " +
				"and tools serves only completions and needs no S3 store.",
		},
		{
			name:  "CHROMIUM_PATH",
			field: &c.ChromiumPath,
			help:  "The browser: a name in PATH or a file. Unset: searched in the usual places, headless shells first.",
		},
		{
			name: "WORKER_ADDR", field: &c.WorkerAddr, def: "127.0.0.1:9090", check: "hostport",
			help: "Where a worker serves /healthz, /readyz and /metrics.",
		},
	}
}

// retentionSettings are about queues and retention.
func (c *Config) retentionSettings() []setting {
	return []setting{
		{
			name:  "CACHE_MAX_SIZE_GB",
			field: &c.CacheMaxSizeGB,
			def:   "2.0",
			min:   "0",
			max:   "1000000",
			help: "Size limit of the store, in GB: artifacts, render cache and sources of jobs. The least recently used " +
				"artifacts and renders are deleted first, but none younger than an hour. If nothing can be deleted, " +
				"submissions get 503 store_full.",
		},
		{
			name: "CACHE_RETENTION_DAYS", field: &c.CacheRetentionDays, def: "30", min: "1", max: "3650",
			help: "Artifacts older than this are deleted.",
		},
		{
			name:  "RECORD_RETENTION_DAYS",
			field: &c.RecordRetentionDays,
			def:   "0",
			min:   "0",
			max:   "3650",
			help: "How long a job's record is kept after its end; at least CACHE_RETENTION_DAYS. 0: 7 days longer than " +
				"artifacts; in that time a deleted artifact answers 410.",
		},
		{
			name:  "QUEUE_MAX_JOBS",
			field: &c.QueueMaxJobs,
			def:   "100000",
			min:   "0",
			max:   "100000000",
			help: "How many jobs may wait in one queue; further submissions get 429 queue_full. One key gets at most four " +
				"fifths of them, and less the more other keys have. 0: no limit.",
		},
		{
			name: "QUEUE_MAX_AGE", field: &c.QueueMaxAge, def: "0s", min: "0s", max: "24h",
			help: "How long the first job of a queue may wait. While it has waited longer, submissions get 429 " +
				"queue_full, except from keys without such an old job. 0s: no limit.",
		},
		{
			name:  "RENDER_CACHE_SHARED",
			field: &c.RenderCacheShared,
			def:   "false",
			help: "Keys share the render cache. Equal documents print faster, but a fast job reveals that another " +
				"key printed the same text.",
		},
	}
}

// serviceSettings are about Redis and the store.
func (c *Config) serviceSettings() []setting {
	return []setting{
		{
			name: "REDIS_URL", field: &c.RedisURL, redact: true,
			help: "redis://, rediss://, unix:// or redis-sentinel:// address; a comma list is a cluster. Unset: a " +
				"private redis-server under DATA_DIR.",
		},
		{
			name: "CACHE_REDIS_URL", field: &c.CacheRedisURL, redact: true,
			help: "Redis for cached analyses and theme choices; it may evict (LRU). Unset: REDIS_URL.",
		},
		{
			name: "S3_ENDPOINT", field: &c.S3Endpoint,
			help: "host:port of MinIO or any S3. Unset: files in PDF_OUTPUT_DIR.",
		},
		{name: "S3_BUCKET", field: &c.S3Bucket, help: "Bucket; created when missing."},
		{name: "S3_ACCESS_KEY", field: &c.S3AccessKey, secret: true, help: "Access key."},
		{name: "S3_SECRET_KEY", field: &c.S3SecretKey, secret: true, help: "Secret key."},
		{name: "S3_REGION", field: &c.S3Region, def: "us-east-1", help: "Region."},
		{name: "S3_USE_TLS", field: &c.S3UseTLS, def: "false", help: "https to S3_ENDPOINT and S3_PUBLIC_ENDPOINT."},
		{
			name:  "S3_PUBLIC_ENDPOINT",
			field: &c.S3PublicEndpoint,
			help: "host:port of the store as callers reach it; downloads then answer 307 to a presigned URL there. Unset: " +
				"the API streams downloads.",
		},
	}
}

// requestSettings are about requests and secrets.
func (c *Config) requestSettings() []setting {
	return []setting{
		{
			name: "ALLOWED_ORIGINS", field: &c.AllowedOrigins, check: "origin",
			help: "Comma list of origins (https://app.example) that may call from a browser, or *. Unset: same " +
				"origin only.",
		},
		{
			name: "MAX_CONTENT_BYTES", field: &c.MaxContentBytes, def: "10485760", min: "1024", max: "1073741824",
			help: "Largest Markdown, in bytes.",
		},
		{
			name: "MAX_UPLOAD_BYTES", field: &c.MaxUploadBytes, def: "104857600", min: "1024", max: "10737418240",
			help: "Total size of the files of one request, in bytes.",
		},
		{
			name:  "RENDER_TIMEOUT",
			field: &c.RenderTimeout,
			def:   "120s",
			min:   "1s",
			max:   "15m",
			help:  "Time limit for composing a document, and again for printing it. Waiting for a free tab does not count.",
		},
		{
			name: "RATE_LIMIT_RPM", field: &c.RateLimitRPM, def: "0", min: "0", max: "1000000",
			help: "Requests that make work, per minute and key. 0: no limit.",
		},
		{
			name:   "TOKEN_SECRET",
			field:  &c.TokenSecret,
			secret: true,
			help: "Signs the tokens in URLs and encrypts the reasoning in responses. Unset: created at first start and " +
				"kept in Redis.",
		},
		{
			name:   "WEBHOOK_SECRET",
			field:  &c.WebhookSecret,
			secret: true,
			help: "Signs webhooks (whsec_…); a comma list of a new and an old secret signs with both. Unset: created at " +
				"first start and kept in Redis; set it so that receivers can verify.",
		},
	}
}

// outboundSettings are about addresses that requests may reach.
func (c *Config) outboundSettings() []setting {
	return []setting{
		{
			name: "OUTBOUND_ALLOW_PRIVATE", field: &c.OutboundAllowPrivate,
			help: "Private addresses that webhooks, remote images and pages for models may reach: comma list of " +
				"host[:port] or CIDR. true: loopback, RFC 1918 and ULA. Link-local and metadata addresses stay closed.",
		},
		{
			name: "EXPORT_AUTH", field: &c.ExportAuth, def: "on", allowed: "on,off",
			help: "off opens /export-pdf and /export-screenshot, and nothing else, to callers without a key.",
		},
		{
			name:  "EXPORT_ALLOW_PRIVATE",
			field: &c.ExportAllowPrivate,
			help: "Private addresses and ports that exported pages may reach: comma list of host[:port] or CIDR. true: " +
				"loopback, RFC 1918 and ULA on any port. Link-local and metadata addresses and Presswork's own services stay " +
				"closed.",
		},
		{
			name:  "EXPORT_ALLOW_HOSTS",
			field: &c.ExportAllowHosts,
			help: "Comma list of host globs (*.example.com) that exported pages may reach; their addresses are checked as " +
				"well. Unset: every host.",
		},
		{
			name: "EXPORT_DENY_HOSTS", field: &c.ExportDenyHosts,
			help: "Comma list of host globs that exported pages may not reach.",
		},
	}
}

// logSettings are about the monitor, logs and traces.
func (c *Config) logSettings() []setting {
	return []setting{
		{
			name: "MONITOR_READONLY", field: &c.MonitorReadonly, def: "false",
			help: "The queue monitor without buttons.",
		},
		{
			name: "LOG_FORMAT", field: &c.LogFormat, def: "auto", allowed: "auto,text,json",
			help: "Format of log lines; auto is text on a terminal and json elsewhere.",
		},
		{
			name: "LOG_LEVEL", field: &c.LogLevel, def: "info", allowed: "debug,info,warn,error",
			help: "Lowest level that is logged.",
		},
		{
			name: "OTEL_EXPORTER_OTLP_ENDPOINT", field: &c.OTLPEndpoint, check: "url",
			help: "OpenTelemetry collector (http://host:4318) for traces of requests and jobs. Unset: no traces.",
		},
		{
			name:  "TRACE_URL",
			field: &c.TraceURL,
			check: "url",
			help:  "Page of a trace, with {trace} for its id (https://jaeger.example/trace/{trace}); /admin links jobs to it.",
		},
	}
}
