package config

// inferenceSettings are about models, audio and tools.
func (c *Config) inferenceSettings() []setting {
	return []setting{
		{
			name:  "INFERENCE_CONFIG",
			field: &c.InferenceConfig,
			help: "File of models and their upstreams, reloaded when it changes. Unset: models.yaml, if it exists " +
				"now or later; else the models of a local Ollama or llama-server.",
		},
		{
			name: "INFERENCE_VENDOR", field: &c.InferenceVendor, def: "presswork", check: "word",
			help: "Name of the field x_<vendor> in completions.",
		},
		{
			name: "INFERENCE_LAX", field: &c.InferenceLax, def: "false",
			help: "Completions accept options that cannot be combined; the tests of some SDKs send them.",
		},
		{
			name: "INFERENCE_CONCURRENCY", field: &c.InferenceConcurrency, def: "512", min: "1", max: "10000",
			help: "Completions at a time in this worker.",
		},
		{
			name:  "INFERENCE_QUEUE_TIMEOUT",
			field: &c.InferenceQueueTimeout,
			def:   "10m",
			min:   "0s",
			max:   "6h",
			help: "How long a completion or a text to speak may wait for a worker; then it gets 503 queue_unavailable " +
				"with retry-after. 0s: as long as its client waits.",
		},
		{
			name: "INFERENCE_START_OLLAMA", field: &c.InferenceStartOllama, def: "false",
			help: "serve and worker start an installed ollama if none is running.",
		},
		{
			name: "MAX_AUDIO_BYTES", field: &c.MaxAudioBytes, def: "26214400", min: "1024", max: "10737418240",
			help: "Largest recording to transcribe, in bytes.",
		},
		{
			name: "MAX_AUDIO_DURATION", field: &c.MaxAudioDuration, def: "4h", min: "1s", max: "24h",
			help: "Longest recording to transcribe.",
		},
		{
			name: "AUDIO_CONCURRENCY", field: &c.AudioConcurrency, def: "16", min: "1", max: "1000",
			help: "Recordings at a time in this worker.",
		},
		{
			name:  "INFERENCE_ENGINE",
			field: &c.InferenceEngine,
			help: "Model server that serve runs on loopback when there is no models.yaml: llama-server, whisper-server, " +
				"or the path of a program with the same options.",
		},
		{
			name: "INFERENCE_ENGINE_MODEL", field: &c.InferenceEngineModel,
			help: "Model file of INFERENCE_ENGINE, such as a GGUF for llama-server. The model has the file's name.",
		},
		{
			name:  "TOOL_CONCURRENCY",
			field: &c.ToolConcurrency,
			def:   "64",
			min:   "1",
			max:   "10000",
			help: "Completions whose built-in tools this worker serves at a time. At most half as many programs run as " +
				"the machine has CPUs.",
		},
		{
			name: "TOOL_PYTHON", field: &c.ToolPython, def: "python3",
			help: "Python for code_interpreter: a name in /usr/bin or a path below /usr. off: this worker offers no " +
				"code_interpreter.",
		},
		{
			name: "TOOL_MEMORY_MB", field: &c.ToolMemoryMB, def: "512", min: "64", max: "1048576",
			help: "Memory of one completion's code, in MB. Its files may take 64 MB more in /work and in /tmp.",
		},
		{
			name: "TOOL_MEMORY_TOTAL_MB", field: &c.ToolMemoryTotalMB, def: "0", min: "0", max: "16777216",
			help: "Memory of the code of all completions on this worker, files included, in MB; code waits for free " +
				"memory. 0: a quarter of the machine's memory, or of the worker's cgroup limit.",
		},
		{
			name: "TOOL_TIMEOUT", field: &c.ToolTimeout, def: "20s", min: "1s", max: "5m",
			help: "Time limit of one code_interpreter call.",
		},
		{
			name: "ANALYSIS_MODEL", field: &c.AnalysisModel,
			help: "Model that reads documents for the theme auto and POST /api/analysis. Set it for the API and for " +
				"workers of the queue text. If it fails, the built-in analyser is used. Unset: none.",
		},
	}
}

// searchSettings are about browser_search.
func (c *Config) searchSettings() []setting {
	return []setting{
		{
			name: "SEARXNG_URL", field: &c.SearXNGURL, check: "url", redact: true,
			help: "SearXNG instance for browser_search, with json in search.formats of its settings.yml. If this and " +
				"SEARCH_URL are unset, models cannot search.",
		},
		{
			name:   "SEARCH_URL",
			field:  &c.SearchURL,
			redact: true,
			help: "Search engine instead of SEARXNG_URL. With {query}: the address of a JSON API. Without: the address of " +
				"an OpenSearch description.",
		},
		{
			name:  "SEARCH_FIELDS",
			field: &c.SearchFields,
			help: "Paths in the JSON of SEARCH_URL, as a comma list of NAME=PATH: results (web.results), and title, url, " +
				"content and score of a result. Unset: the names themselves.",
		},
		{
			name: "SEARCH_HEADER", field: &c.SearchHeader, secret: true,
			help: "Header sent to SEARCH_URL, as Name: value; put the key of a search service here.",
		},
	}
}
