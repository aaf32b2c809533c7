package inference

import (
	"encoding/json"
	"strings"
	"time"
)

// Request is a checked chat completion without unknown fields. Its JSON goes through the queue.
type Request struct {
	// Model is an id or an alias in the catalogue; after Admit, the id.
	Model string `json:"model"`
	// Fallbacks are the models to ask, in this order, when Model fails before its first token; see Model.Fallbacks.
	Fallbacks []string `json:"fallbacks,omitempty"`
	// Messages is the conversation, oldest first. It has at least one message, but none with Text.
	Messages []Message `json:"messages"`
	// Text, if not nil, is a text to continue. The request then has no Messages.
	Text *Text `json:"text,omitempty"`
	// N is the number of requested answers; 0 is one.
	N int `json:"n,omitempty"`
	// Logprobs asks for the log probability of each token of the answer. TopLogprobs asks for that many
	// alternatives to each token. Requests with Text use its own field instead.
	Logprobs    bool `json:"logprobs,omitempty"`
	TopLogprobs int  `json:"top_logprobs,omitempty"`
	// MaxTokens bounds the answer, reasoning included; 0 leaves it to the upstream.
	MaxTokens int `json:"max_tokens,omitempty"`
	// Temperature is 0 to 2, TopP 0 to 1; nil leaves it to the upstream.
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	// FrequencyPenalty and PresencePenalty are -2 to 2; nil leaves them to the upstream.
	FrequencyPenalty *float64 `json:"frequency_penalty,omitempty"`
	PresencePenalty  *float64 `json:"presence_penalty,omitempty"`
	// Stop holds at most four texts. The answer ends before the first of them.
	Stop []string `json:"stop,omitempty"`
	// Seed is for sampling; an upstream may ignore it.
	Seed *int64 `json:"seed,omitempty"`
	// User is the caller's name for its own user. It is only passed on.
	User string `json:"user,omitempty"`
	// Fields are further fields of the caller's request. Only upstreams that know a field get it; see
	// Upstream.FieldName.
	Fields map[string]json.RawMessage `json:"fields,omitempty"`
	// Betas are the beta features of the Messages API that the caller asks for. Only upstreams of that form get them.
	Betas []string `json:"betas,omitempty"`
	// Stream means that the caller wants the answer in chunks. IncludeUsage means that it asked for the usage chunk
	// of stream_options.
	Stream       bool `json:"stream,omitempty"`
	IncludeUsage bool `json:"include_usage,omitempty"`

	// Format is response_format; the zero value is text.
	Format Format `json:"format,omitzero"`

	// Tools are the tools that the model may call, subject to ToolChoice.
	Tools      []Tool     `json:"tools,omitempty"`
	ToolChoice ToolChoice `json:"tool_choice,omitzero"`
	// ParallelToolCalls false keeps only the first call of an answer; nil is true.
	ParallelToolCalls *bool `json:"parallel_tool_calls,omitempty"`
	// MaxToolCalls bounds the calls of built-in tools in the answer; 0 leaves it to the gateway.
	MaxToolCalls int `json:"max_tool_calls,omitempty"`
	// Approvals means that the form of the answer has approval requests and lists of the tools of servers. Tools that
	// need an approval are otherwise left out.
	Approvals bool `json:"approvals,omitempty"`
	// DisableToolValidation passes on calls unchecked, including those of unknown tools and with arguments that do
	// not match the schema.
	DisableToolValidation bool `json:"disable_tool_validation,omitempty"`
	// LegacyFunctions means that the caller used functions, the form before tools, and expects function_call in
	// the answer.
	LegacyFunctions bool `json:"legacy_functions,omitempty"`

	// ReasoningEffort is "" or one of Efforts.
	ReasoningEffort string `json:"reasoning_effort,omitempty"`
	// ReasoningFormat is raw, parsed or hidden; "" until Admit sets the model's default. include_reasoning becomes
	// parsed or hidden.
	ReasoningFormat ReasoningFormat `json:"reasoning_format,omitempty"`
	// IncludeReasoning means that the caller used include_reasoning, which is also allowed on models that reject
	// reasoning_format.
	IncludeReasoning bool `json:"include_reasoning,omitempty"`

	// Ignored are the fields that were left out because the model lacks them; see Catalogue.Fit.
	Ignored []string `json:"ignored,omitempty"`
	// Admitted means that the defaults of the model are set.
	Admitted bool `json:"admitted,omitempty"`

	// ServiceTier is auto, on_demand, flex or performance; never "".
	ServiceTier string `json:"service_tier,omitempty"`
	// Accepted is the time at which the API accepted the request. usage.queue_time starts there. With the zero time,
	// usage.queue_time is 0.
	Accepted time.Time `json:"accepted,omitzero"`
	// Owner is the owner of the request. Owners take turns at a full upstream. The worker sets it from the task.
	Owner string `json:"-"`
}

// Text is the prompt of POST /v1/completions.
type Text struct {
	// Prompt is JSON: a text, a list of texts, or tokens in place of each. Prompts is the number of prompts; each
	// gets its own answers.
	Prompt  json.RawMessage `json:"prompt"`
	Prompts int             `json:"prompts"`
	// Echo puts the prompt before the answer. Suffix is text after it.
	Echo   bool   `json:"echo,omitempty"`
	Suffix string `json:"suffix,omitempty"`
	// Logprobs is the number of alternatives for each token, 0 to 5; nil is none.
	Logprobs *int `json:"logprobs,omitempty"`
}

// Choices returns the total number of requested answers.
func (r *Request) Choices() int {
	n := max(1, r.N)
	if r.Text != nil {
		n *= r.Text.Prompts
	}

	return n
}

// The roles of a message.
const (
	// System and Developer instruct the model. Developer is OpenAI's newer name.
	System    = "system"
	Developer = "developer"
	// User is a message of the caller's user; it may have images.
	User = "user"
	// Assistant is an earlier answer of the model.
	Assistant = "assistant"
	// ToolRole is the result of the call that ToolCallID names.
	ToolRole = "tool"
)

// Message is one message of the conversation.
type Message struct {
	// Role is one of those above.
	Role string `json:"role"`
	// Name distinguishes participants of one role; it may be "".
	Name string `json:"name,omitempty"`
	// Parts is the content: one text part for a plain string, empty for null.
	Parts []Part `json:"parts,omitempty"`
	// Reasoning is the assistant's earlier reasoning.
	Reasoning string `json:"reasoning,omitempty"`
	// ToolCalls are those of an assistant message.
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`
	// ToolCallID is the call that a tool message answers. Failed means that the call failed, Fields are as in Part.
	ToolCallID string          `json:"tool_call_id,omitempty"`
	Failed     bool            `json:"failed,omitempty"`
	Fields     json.RawMessage `json:"fields,omitempty"`
	// Thoughts are the parts of Reasoning that an upstream signed.
	Thoughts []Thought `json:"thoughts,omitempty"`
	// Approved is the call that the user has approved. It runs before the answer, and its result replaces Parts.
	Approved *ServerCall `json:"approved,omitempty"`
}

// Thought is reasoning with the signature of the upstream that made it. Some upstreams need it back unchanged next to
// the calls that follow it.
type Thought struct {
	Text      string `json:"text,omitempty"`
	Signature string `json:"signature,omitempty"`
	// Redacted is reasoning that only the upstream can read; then the other fields are empty.
	Redacted string `json:"redacted,omitempty"`
}

// Text joins the text parts of the message. A line break separates two parts that no white space separates.
func (m Message) Text() string {
	if len(m.Parts) == 1 {
		return m.Parts[0].Text
	}

	var s []byte
	for _, p := range m.Parts {
		if len(s) > 0 && p.Text != "" && !isSpace(s[len(s)-1]) && !isSpace(p.Text[0]) {
			s = append(s, '\n')
		}
		s = append(s, p.Text...)
	}

	return string(s)
}

// isSpace reports whether c is ASCII white space.
func isSpace(c byte) bool { return strings.IndexByte(" \t\r\n", c) >= 0 }

// Part is a piece of content: text, or an image when Image is set.
type Part struct {
	// Text is "" with an Image.
	Text  string `json:"text,omitempty"`
	Image *Image `json:"image,omitempty"`
	// Fields has the other fields of the part in the Messages API, a JSON object. Block is the whole part, if Text is
	// only a replacement for it. Upstreams of that form get them.
	Fields json.RawMessage `json:"fields,omitempty"`
	Block  json.RawMessage `json:"block,omitempty"`
}

// Image is a picture in a user message.
type Image struct {
	// URL is an http or https address, or a data URI of an image that was checked: PNG, JPEG, GIF or WebP, within
	// the limits.
	URL string `json:"url"`
	// Detail is auto, low, high or "".
	Detail string `json:"detail,omitempty"`
}

// ToolCall is a complete call. Arguments is JSON text as the model wrote it.
type ToolCall struct {
	// ID identifies the call in the tool message with its result.
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	// Fields are as in Part.
	Fields json.RawMessage `json:"fields,omitempty"`
}

// The types of a tool.
const (
	// FunctionTool is a function of the caller.
	FunctionTool = "function"
	// BrowserSearch and CodeInterpreter are built in: the Toolbox of the Gateway runs them.
	BrowserSearch   = "browser_search"
	CodeInterpreter = "code_interpreter"
)

// Tool is a tool that the model may call. Only functions have a name.
type Tool struct {
	// Type is one of those above.
	Type string `json:"type"`
	// Name is that of the function. Description is for the model.
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	// Parameters is the JSON Schema of the arguments, an object; nil for a function without arguments.
	Parameters json.RawMessage `json:"parameters,omitempty"`
	// Strict asks the upstream to enforce Parameters while it generates, if it can.
	Strict bool `json:"strict,omitempty"`
	// Fields and Block are as in Part.
	Fields json.RawMessage `json:"fields,omitempty"`
	Block  json.RawMessage `json:"block,omitempty"`
	// Optional means that a built-in tool is left out if no worker runs it.
	Optional bool `json:"optional,omitempty"`
	// Server is that of an MCPTool.
	Server *ToolServer `json:"server,omitempty"`
}

// The modes of a tool choice; "" is auto when there are tools.
const (
	// ChooseNone keeps the model from calling tools.
	ChooseNone = "none"
	// ChooseAuto leaves it to the model.
	ChooseAuto = "auto"
	// ChooseRequired makes an answer without a call fail with ToolUseFailed.
	ChooseRequired = "required"
	// ChooseNamed is ChooseRequired of one function.
	ChooseNamed = "named"
)

// ToolChoice says whether the model may or must call a tool.
type ToolChoice struct {
	// Mode is one of those above or "".
	Mode string `json:"mode,omitempty"`
	// Names restricts the choice. With ChooseNamed it has one function; with ChooseAuto and ChooseRequired it has
	// the allowed ones (OpenAI: allowed_tools), and empty means all. A built-in tool is named by its functions.
	Names []string `json:"names,omitempty"`
}

// The types of a response format; "" is text.
const (
	// JSONObject allows any JSON object.
	JSONObject = "json_object"
	// JSONSchema requires JSON that is valid by Format.Schema.
	JSONSchema = "json_schema"
)

// Format is the required form of the answer. An answer in another form fails with JSONValidateFailed.
type Format struct {
	// Type is one of those above or "".
	Type string `json:"type,omitempty"`
	// Name and Description of the schema are for the model.
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	// Schema is the JSON Schema of JSONSchema, otherwise nil.
	Schema json.RawMessage `json:"schema,omitempty"`
	// Strict asks the upstream to enforce Schema while it generates, if it can.
	Strict bool `json:"strict,omitempty"`
}

// JSON reports whether the answer must be JSON.
func (f Format) JSON() bool { return f.Type != "" }

// ReasoningFormat is the place of a model's reasoning in the answer.
type ReasoningFormat string

// The reasoning formats.
const (
	// Raw leaves it in the content, between <think> tags.
	Raw ReasoningFormat = "raw"
	// Parsed puts it into the field reasoning of the message.
	Parsed ReasoningFormat = "parsed"
	// Hidden removes it; its tokens still count.
	Hidden ReasoningFormat = "hidden"
)

// ReasoningFormats lists the reasoning formats.
func ReasoningFormats() []string { return []string{string(Raw), string(Parsed), string(Hidden)} }

// Efforts returns every reasoning effort; a model may allow fewer.
func Efforts() []string {
	return []string{"none", "default", "minimal", "low", "medium", "high", "xhigh", "max"}
}
