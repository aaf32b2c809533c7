package inference

import (
	"context"
	"encoding/json"
)

// Engine speaks to one upstream. It is safe for concurrent use.
type Engine interface {
	// Complete sends the request and calls emit for each piece of the answer, in order and from one goroutine.
	// When ctx ends, it returns at once and closes the connection, so that the upstream stops. An error of emit
	// ends the call and is returned unchanged. Failures of the upstream are *Error. A stream that ends before its
	// finish reason is a failure.
	//
	// An empty delta reports only that the upstream is alive: the gateway restarts its idle time-out.
	//
	// The engine tells the model about Format, Tools and ToolChoice, in the upstream's own fields or as an
	// instruction. The gateway only checks that the answer follows them.
	Complete(ctx context.Context, r *Request, m *Model, emit func(*Delta) error) error
	// Models returns the ids of the models that the upstream serves.
	Models(ctx context.Context) ([]string, error)
	// Traits returns what the gateway must do for this engine.
	Traits() Traits
}

// Traits are the differences between engines that Engine does not hide.
type Traits struct {
	// FetchesImages is set for a service on the internet that may load image addresses itself. Other engines receive
	// the image itself, as a data URI.
	FetchesImages bool
	// NativeJSON is set for an engine that enforces a JSON format while it generates.
	NativeJSON bool
}

// Delta is a piece of an upstream's answer, unchanged.
type Delta struct {
	// Choice is the index of the answer that it belongs to, less than Request.Choices.
	Choice int
	// Content may still contain reasoning between tags. Reasoning is that of a separate field.
	Content   string
	Reasoning string
	// Thought ends the reasoning that came before it, with the upstream's signature; nil if there is none.
	Thought *Thought
	// ToolCalls are pieces of calls, not yet joined and checked.
	ToolCalls []RawToolDelta
	// Extra holds the other fields of the delta, a JSON object.
	Extra json.RawMessage
	// Logprobs is an object of lists, nil if the upstream sends none.
	Logprobs json.RawMessage
	// Finish is the finish_reason, "" before the end.
	Finish string
	// StopSequence is the text that ended the answer, "" if the engine does not report it.
	StopSequence string
	// Fingerprint is the system_fingerprint, "" if the engine sends none.
	Fingerprint string
	// Usage is nil until the upstream sends its counts.
	Usage *RawUsage
}

// RawToolDelta is a piece of a tool call as the engine sent it. Engines repeat ids and names, omit the index, or
// give several calls the same index.
type RawToolDelta struct {
	// Index is that of the engine, or the position in the delta if the engine sent none.
	Index int
	ID    string
	Name  string
	// Arguments are JSON text, or a piece of it.
	Arguments string
}

// RawUsage holds token counts and times as the upstream reported them. Times are in seconds; 0 is unknown.
type RawUsage struct {
	// PromptTokens and CompletionTokens are the upstream's counts, which may differ from those of EstimateTokens.
	PromptTokens     int
	CompletionTokens int
	// CachedTokens are part of PromptTokens, ReasoningTokens of CompletionTokens; nil if the upstream does not
	// count them.
	CachedTokens    *int
	ReasoningTokens *int
	// WrittenTokens are the part of PromptTokens that the upstream put into its cache; nil if it does not count them.
	WrittenTokens *int
	// PromptTime is the time of reading the prompt, CompletionTime that of generating the answer.
	PromptTime     float64
	CompletionTime float64
	// QueueTime is the time in the upstream's own queue.
	QueueTime float64
}
