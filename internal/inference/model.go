package inference

import (
	"slices"
	"time"
)

// The capabilities of a model, with their names in models.yaml and GET /v1/models. Admit rejects a request for a
// capability that the model lacks.
const (
	// CanChat: the model answers chat completions.
	CanChat = "chat"
	// CanTools: it accepts tools and answers with tool calls.
	CanTools = "tools"
	// CanVision: it accepts images in user messages.
	CanVision = "vision"
	// CanReason: it reasons before it answers, and accepts reasoning_effort.
	CanReason = "reasoning"
	// CanJSONSchema: it enforces a JSON Schema while it generates. A streamed answer in JSON then need not be
	// withheld until it is checked.
	CanJSONSchema = "json_schema"
	// CanBuiltinTools: it uses the tools BrowserSearch and CodeInterpreter. A model has it if and only if it has
	// CanTools.
	CanBuiltinTools = "builtin_tools"
	// CanChoices: it gives several answers to a request (n).
	CanChoices = "choices"
	// CanLogprobs: it returns the log probabilities of tokens.
	CanLogprobs = "logprobs"
	// CanText: it continues texts (POST /v1/completions).
	CanText = "completions"
	// CanTranscribe: it turns recordings into text.
	CanTranscribe = "transcription"
	// CanSpeak: it turns text into speech.
	CanSpeak = "speech"
	// CanEmbed: it turns text into vectors.
	CanEmbed = "embeddings"
	// CanRerank: it ranks documents by their relevance for a query.
	CanRerank = "rerank"
	// CanDraw: it turns text into images.
	CanDraw = "images"
	// CanModerate: it recognises harmful content.
	CanModerate = "moderations"
)

// Capabilities returns all capabilities.
func Capabilities() []string {
	return []string{
		CanChat,
		CanTools,
		CanVision,
		CanReason,
		CanJSONSchema,
		CanBuiltinTools,
		CanChoices,
		CanLogprobs,
		CanText,
		CanTranscribe,
		CanSpeak,
		CanEmbed,
		CanRerank,
		CanDraw,
		CanModerate,
	}
}

// The kinds of upstream. All but Anthropic use OpenAI's chat completions; the kind determines additions and missing
// parts.
const (
	// Ollama is Ollama's /v1.
	Ollama = "ollama"
	// LlamaServer is llama-server of llama.cpp.
	LlamaServer = "llama-server"
	// VLLM is vLLM's OpenAI-compatible server.
	VLLM = "vllm"
	// Groq is api.groq.com.
	Groq = "groq"
	// WhisperServer is whisper-server of whisper.cpp, which transcribes.
	WhisperServer = "whisper-server"
	// OpenAI is api.openai.com.
	OpenAI = "openai"
	// Anthropic is api.anthropic.com, with the Messages API.
	Anthropic = "anthropic"
	// Plain is any other server. It receives only parameters that all servers understand.
	Plain = "plain"
)

// Kinds lists the kinds of upstream.
func Kinds() []string {
	return []string{Plain, Ollama, LlamaServer, WhisperServer, VLLM, Groq, OpenAI, Anthropic}
}

// kindCan returns the capabilities of all models at a kind of upstream.
func kindCan(kind string) []string {
	switch kind {
	case VLLM:
		return []string{CanChoices, CanLogprobs, CanText}
	case LlamaServer, Ollama:
		return []string{CanLogprobs, CanText}
	case OpenAI:
		return []string{CanChoices, CanLogprobs}
	}

	return nil
}

// Lacks returns the capabilities that no model at this kind of upstream has.
func (u *Upstream) Lacks() []string {
	switch u.Kind {
	case Ollama, OpenAI:
		return []string{CanRerank}
	case Groq:
		return []string{CanEmbed, CanRerank}
	case WhisperServer:
		return []string{CanEmbed, CanRerank, CanDraw, CanModerate}
	case Anthropic:
		return []string{
			CanEmbed,
			CanRerank,
			CanText,
			CanChoices,
			CanLogprobs,
			CanTranscribe,
			CanSpeak,
			CanDraw,
			CanModerate,
		}
	}

	return nil
}

// Model is one entry of the catalogue.
type Model struct {
	// ID is the name for callers; Aliases are other names.
	ID      string   `yaml:"id"`
	Aliases []string `yaml:"aliases"`
	// Fallbacks are the ids of other models. They answer in this order when all upstreams of this one are down or
	// limited, or a request is too long for it.
	Fallbacks []string `yaml:"fallbacks"`
	// OwnedBy is shown by GET /v1/models.
	OwnedBy string `yaml:"owned_by"`
	// ContextWindow and MaxCompletionTokens are in tokens; 0 is unknown.
	ContextWindow       int `yaml:"context_window"`
	MaxCompletionTokens int `yaml:"max_completion_tokens"`
	// Capabilities defaults to chat and tools. A chat model also has the capabilities that the kinds of all its
	// upstreams have.
	Capabilities []string  `yaml:"capabilities"`
	Reasoning    Reasoning `yaml:"reasoning"`
	// ToolValidation says how a call is handled whose arguments do not match the tool's schema: ValidateOff
	// (default), ValidateFeedBack or ValidateStrict.
	ToolValidation string  `yaml:"tool_validation"`
	Routing        Routing `yaml:"routing"`
	// Audio says how recordings are sent to a transcription model.
	Audio Audio `yaml:"audio"`
	// Batches says in which parts an embedding or rerank model gets long lists.
	Batches Batches `yaml:"batches"`
	// Upstreams are the servers of the model; at least one.
	Upstreams []Upstream `yaml:"upstreams"`
	Price     Price      `yaml:"price"`
	// Created is when the entry was read.
	Created time.Time `yaml:"-"`
}

// MaxFallbacks is the largest number of fallbacks of a model or a request.
const MaxFallbacks = 8

// Can reports whether the model has a capability.
func (m *Model) Can(capability string) bool { return slices.Contains(m.Capabilities, capability) }

// Values of the setting for tool calls whose arguments do not match the tool's schema. In each case the arguments
// must be JSON, and the request must have the tool.
const (
	// ValidateOff passes the call on to the caller, which can ask again.
	ValidateOff = "off"
	// ValidateFeedBack shows the error to the model once. A second such call fails.
	ValidateFeedBack = "feed_back"
	// ValidateStrict fails the request.
	ValidateStrict = "strict"
)

// The parsers of reasoning.
const (
	// ParseField takes it from the reasoning or reasoning_content field, and from a <think> block at the beginning
	// of the content.
	ParseField = "field"
	// ParseThink takes a leading <think> block of the content.
	ParseThink = "think"
	// ParsePrefilled takes everything before the first </think>. The chat template has written the opening tag into the
	// prompt.
	ParsePrefilled = "think_prefilled"
	// ParseHarmony takes the analysis channel of gpt-oss's Harmony format.
	ParseHarmony = "harmony"
)

// Reasoning says how a model marks its reasoning and how reasoning is requested.
type Reasoning struct {
	// Efforts are the allowed values of reasoning_effort. If absent, a reasoning model allows every value; an empty
	// list rejects the parameter. Default is used if the caller sets none.
	Efforts *[]string `yaml:"efforts"`
	Default string    `yaml:"default"`
	// Formats are the allowed values of reasoning_format. If absent, all are allowed; an empty list rejects the
	// parameter. DefaultFormat is used if the caller sets none. Its default is raw for the think parsers, otherwise
	// parsed.
	Formats       *[]string       `yaml:"formats"`
	DefaultFormat ReasoningFormat `yaml:"default_format"`
	// Parser is field (default), think, think_prefilled or harmony.
	Parser string `yaml:"parser"`
	// Switch is the chat_template_kwargs field that turns thinking on and off on vLLM and llama-server, such as
	// enable_thinking or thinking. With kind anthropic, the value budget is for models that take a number of tokens for
	// their thoughts instead of an effort.
	Switch string `yaml:"switch"`
}

// The bounds of Audio.Part: shorter parts contain no whole sentences, and engines do not accept longer ones.
const (
	MinPart = 5 * time.Second
	MaxPart = time.Hour
)

// Audio says how a long recording is divided for a model.
type Audio struct {
	// Part is the longest recording that is sent in one piece; longer ones are cut at silences. Default 10 min.
	Part time.Duration `yaml:"part"`
	// Parallel is the number of parts of a recording that are sent at a time. With the default 1, each part gets
	// the end of the preceding text as its prompt.
	Parallel int `yaml:"parallel"`
}

// The routing strategies.
const (
	// ByPriority uses the lowest priority that has a free and healthy upstream, and chooses in it by weight at
	// random.
	ByPriority = "priority"
	// LeastBusy uses the lowest priority, and in it the upstream with the fewest requests for its weight.
	LeastBusy = "least_busy"
)

// Routing says how requests of a model are distributed and how long they may take.
type Routing struct {
	// Strategy is ByPriority (default) or LeastBusy.
	Strategy string `yaml:"strategy"`
	// Timeout bounds the whole answer. Default 10 min.
	Timeout time.Duration `yaml:"timeout"`
	// FirstTokenTimeout bounds the time before the first token. Default 2 min: a local engine may have to load the
	// model.
	FirstTokenTimeout time.Duration `yaml:"first_token_timeout"`
	// IdleTimeout bounds the time between two pieces of the answer. Default 1 min.
	IdleTimeout time.Duration `yaml:"idle_timeout"`
	// Retries is the number of retries of a request that got no token, on another upstream if there is one.
	// Default: until each upstream was tried, and at least one.
	Retries *int `yaml:"retries"`
	// Cooldown is how long a failing upstream is avoided. It is also the longest pause after a 429 without a time.
	// Default 30 s.
	Cooldown time.Duration `yaml:"cooldown"`
	// ToolRounds bounds the rounds of calls of built-in tools in one answer: 1 to 64. Parallel calls count as one
	// round. Default 8.
	ToolRounds int `yaml:"tool_rounds"`
	// ToolTimeout bounds the total time of the built-in tools of one answer. Default 90 s.
	ToolTimeout time.Duration `yaml:"tool_timeout"`
}

// Upstream is a server of the model.
type Upstream struct {
	// Name is for logs and metrics. Default: the host of BaseURL.
	Name string `yaml:"name"`
	// Kind is plain (default), ollama, llama-server, whisper-server, vllm, groq, openai or anthropic.
	Kind string `yaml:"kind"`
	// BaseURL ends before /chat/completions, such as "http://127.0.0.1:8000/v1".
	BaseURL string `yaml:"base_url"`
	// APIKey is sent as a bearer token; "" sends none.
	APIKey string `yaml:"api_key"`
	// Model is the name of the model on the server. Default: the model's id.
	Model string `yaml:"model"`
	// Weight is the upstream's part of the sum of all weights of its priority, by which it gets requests. Default 1.
	Weight int `yaml:"weight"`
	// MaxConcurrency bounds the simultaneous requests to the server; 0 is no limit.
	MaxConcurrency int `yaml:"max_concurrency"`
	// Priority: lower ones are used first. Default 0.
	Priority int `yaml:"priority"`
	// Fields are names of VendorFields that the server knows in addition to those of its kind.
	Fields []string `yaml:"fields"`
	// Headers are sent with each request.
	Headers map[string]string `yaml:"headers"`
}

// Price is in the operator's currency per million tokens. Presswork does not bill; it only shows the price.
type Price struct {
	// InputPerM is the price of prompt tokens, OutputPerM that of completion tokens.
	InputPerM  float64 `yaml:"input_per_m"`
	OutputPerM float64 `yaml:"output_per_m"`
}

// Speaks reports whether the model has an upstream of this kind.
func (m *Model) Speaks(kind string) bool {
	return slices.ContainsFunc(m.Upstreams, func(u Upstream) bool { return u.Kind == kind })
}

// Key identifies an upstream across reloads of models.yaml.
func (u *Upstream) Key() string { return u.BaseURL + "\x00" + u.Model + "\x00" + u.Name }
