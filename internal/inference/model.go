package inference

import (
	"slices"
	"time"
)

// The capabilities of a model, as models.yaml and GET /v1/models name them. Admit
// refuses a request that needs one the model does not have.
const (
	// CanChat takes chat completions.
	CanChat = "chat"
	// CanTools takes tools and answers with tool calls.
	CanTools = "tools"
	// CanVision takes images in user messages.
	CanVision = "vision"
	// CanReason thinks before it answers, and takes reasoning_effort.
	CanReason = "reasoning"
	// CanJSONSchema keeps to a JSON Schema while it generates, so that a streamed
	// answer in JSON need not be held back until it is checked.
	CanJSONSchema = "json_schema"
	// CanBuiltinTools uses the tools BrowserSearch and CodeInterpreter. It goes with
	// CanTools: each is there where the other is.
	CanBuiltinTools = "builtin_tools"
	// CanChoices gives several answers to a request: n.
	CanChoices = "choices"
	// CanLogprobs gives the log probabilities of tokens.
	CanLogprobs = "logprobs"
	// CanText continues texts: POST /v1/completions.
	CanText = "completions"
	// CanTranscribe turns recordings into text.
	CanTranscribe = "transcription"
	// CanSpeak turns text into speech.
	CanSpeak = "speech"
)

// Capabilities lists the capabilities a model may have.
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
	}
}

// The kinds of upstream. All speak OpenAI's chat completions; the kind decides on
// what they add to them or leave out.
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
	// Plain is any other server: it is sent only what all of them understand.
	Plain = "plain"
)

// Kinds lists the kinds of upstream.
func Kinds() []string { return []string{Plain, Ollama, LlamaServer, WhisperServer, VLLM, Groq, OpenAI} }

// kindCan lists the capabilities that all models have at a kind of upstream.
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

// Model is one entry of the catalogue.
type Model struct {
	// ID is what a caller names; Aliases are other names for it.
	ID      string   `yaml:"id"`
	Aliases []string `yaml:"aliases"`
	// OwnedBy is shown by GET /v1/models.
	OwnedBy string `yaml:"owned_by"`
	// ContextWindow and MaxCompletionTokens are in tokens; 0 is unknown.
	ContextWindow       int `yaml:"context_window"`
	MaxCompletionTokens int `yaml:"max_completion_tokens"`
	// Capabilities defaults to chat and tools. A model of chats has those of its
	// upstreams' kinds, too, as far as all have them.
	Capabilities []string  `yaml:"capabilities"`
	Reasoning    Reasoning `yaml:"reasoning"`
	// ToolValidation is what becomes of a call whose arguments miss the tool's
	// schema: ValidateOff (default), ValidateFeedBack or ValidateStrict.
	ToolValidation string  `yaml:"tool_validation"`
	Routing        Routing `yaml:"routing"`
	// Audio is how recordings are sent to a model that transcribes.
	Audio Audio `yaml:"audio"`
	// Upstreams are the servers that have the model; at least one.
	Upstreams []Upstream `yaml:"upstreams"`
	Price     Price      `yaml:"price"`
	// Created is when the entry was read.
	Created time.Time `yaml:"-"`
}

// Can reports whether the model has a capability.
func (m *Model) Can(capability string) bool { return slices.Contains(m.Capabilities, capability) }

// Values of the setting for tool calls whose arguments do not match the tool's schema. In each case the arguments
// must be JSON, and the request must have the tool.
const (
	// ValidateOff hands it to the caller, who knows how to ask again.
	ValidateOff = "off"
	// ValidateFeedBack shows the model what is wrong, once; a second such call
	// fails.
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
	// ParsePrefilled takes everything before the first </think>: the template
	// has already written the opening tag.
	ParsePrefilled = "think_prefilled"
	// ParseHarmony takes the analysis channel of gpt-oss's own format.
	ParseHarmony = "harmony"
)

// Reasoning is how a model marks its reasoning and how that is asked for.
type Reasoning struct {
	// Efforts are the values of reasoning_effort the model knows; absent allows
	// every one on a model that reasons, an empty list refuses the parameter. Default is sent when the
	// caller gives none.
	Efforts *[]string `yaml:"efforts"`
	Default string    `yaml:"default"`
	// Formats are the values of reasoning_format; absent allows all, an empty
	// list refuses the parameter. DefaultFormat holds when the caller gives none:
	// raw for the think parsers, parsed for the others.
	Formats       *[]string       `yaml:"formats"`
	DefaultFormat ReasoningFormat `yaml:"default_format"`
	// Parser is field (default), think, think_prefilled or harmony.
	Parser string `yaml:"parser"`
	// Switch is the chat_template_kwargs field that turns thinking on and off on
	// vLLM and llama-server, such as enable_thinking or thinking.
	Switch string `yaml:"switch"`
}

// The bounds of Audio.Part: in shorter pieces a model hears no sentences, and
// longer ones no engine takes.
const (
	MinPart = 5 * time.Second
	MaxPart = time.Hour
)

// Audio is in what pieces a model gets recordings.
type Audio struct {
	// Part is the longest recording that is sent in one piece; longer ones are cut
	// at silences. Default 10 min.
	Part time.Duration `yaml:"part"`
	// Parallel is the number of parts of a recording that are sent at a time. With the default 1, each part gets
	// the end of the preceding text as its prompt.
	Parallel int `yaml:"parallel"`
}

// The routing strategies.
const (
	// ByPriority takes the lowest priority that has a free and healthy upstream,
	// and within it one by weight at random.
	ByPriority = "priority"
	// LeastBusy takes, within the lowest priority, the one with the fewest
	// requests for its weight.
	LeastBusy = "least_busy"
)

// Routing is how requests of a model are spread and how long they may take.
type Routing struct {
	// Strategy is ByPriority (default) or LeastBusy.
	Strategy string `yaml:"strategy"`
	// Timeout bounds the whole answer. Default 10 min.
	Timeout time.Duration `yaml:"timeout"`
	// FirstTokenTimeout bounds the silence before the first token. Default 2 min: a
	// local engine may have to load the model.
	FirstTokenTimeout time.Duration `yaml:"first_token_timeout"`
	// IdleTimeout bounds the silence between pieces. Default 1 min.
	IdleTimeout time.Duration `yaml:"idle_timeout"`
	// Retries is how often a request that got no token is tried again, on
	// another upstream where there is one. Default: until each was tried, and at
	// least once.
	Retries *int `yaml:"retries"`
	// Cooldown is how long a failing upstream is passed over, and the longest rest for a
	// 429 that names no time. Default 30 s.
	Cooldown time.Duration `yaml:"cooldown"`
	// ToolRounds is how often the model may call built-in tools in one answer,
	// several at once counted as one: 1 to 64. Default 8.
	ToolRounds int `yaml:"tool_rounds"`
	// ToolTimeout is how long the built-in tools of one answer may run together.
	// Default 90 s.
	ToolTimeout time.Duration `yaml:"tool_timeout"`
}

// Upstream is a server that has the model.
type Upstream struct {
	// Name is for logs and metrics. Default: the host of BaseURL.
	Name string `yaml:"name"`
	// Kind is plain (default), ollama, llama-server, whisper-server, vllm, groq or
	// openai.
	Kind string `yaml:"kind"`
	// BaseURL ends before /chat/completions, such as "http://127.0.0.1:8000/v1".
	BaseURL string `yaml:"base_url"`
	// APIKey is sent as a bearer token; "" sends none.
	APIKey string `yaml:"api_key"`
	// Model is the model's name there. Default: the model's id.
	Model string `yaml:"model"`
	// Weight is the share of requests within a priority. Default 1.
	Weight int `yaml:"weight"`
	// MaxConcurrency is how many requests run there at a time; 0 is no limit.
	MaxConcurrency int `yaml:"max_concurrency"`
	// Priority: lower ones are used first. Default 0.
	Priority int `yaml:"priority"`
	// Headers are sent with each request.
	Headers map[string]string `yaml:"headers"`
}

// Price is in the operator's currency per million tokens. Nothing is billed by
// it: it stands in the file for those who do.
type Price struct {
	// InputPerM is of prompt tokens, OutputPerM of completion tokens.
	InputPerM  float64 `yaml:"input_per_m"`
	OutputPerM float64 `yaml:"output_per_m"`
}

// Key identifies an upstream across reloads.
func (u *Upstream) Key() string { return u.BaseURL + "\x00" + u.Model + "\x00" + u.Name }
