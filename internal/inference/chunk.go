package inference

import "encoding/json"

// Chunk is a piece of an answer, in one form whatever the upstream sent. The
// first chunk has First set, the last one Finish and Usage; there is nothing after
// it. Its JSON form is what a worker hands to the API.
type Chunk struct {
	// Choice is which answer it is a piece of, from 0.
	Choice int `json:"choice,omitempty"`
	// First marks the first chunk, which stands for the role of every answer.
	First bool `json:"first,omitempty"`
	// Fingerprint names the configuration that answers; on the first chunk.
	Fingerprint string `json:"fingerprint,omitempty"`
	// Content is answer text; Reasoning is text of the reasoning field.
	Content   string `json:"content,omitempty"`
	Reasoning string `json:"reasoning,omitempty"`
	// ToolCalls are pieces of calls; those of one Index make up a call.
	ToolCalls []ToolDelta `json:"tool_calls,omitempty"`
	// Executed are calls of built-in tools that have ended.
	Executed []ExecutedTool `json:"executed,omitempty"`
	// Extra is a JSON object of the delta's other fields: as the upstream sent
	// them, and the annotations of cited pages.
	Extra json.RawMessage `json:"extra,omitempty"`
	// Logprobs is a JSON object of lists about the tokens of this piece, as the
	// upstream sent it.
	Logprobs json.RawMessage `json:"logprobs,omitempty"`
	// Finish is stop, length, tool_calls or content_filter; on the last chunk of each
	// answer.
	Finish string `json:"finish,omitempty"`
	// Usage is on the last chunk of all, nil on the others.
	Usage *Usage `json:"usage,omitempty"`
}

// ToolDelta is a piece of a tool call.
type ToolDelta struct {
	// Index is the place of the call in the answer, from 0 and without a gap.
	Index int `json:"index"`
	// ID and Name stand on the first piece of the call and nowhere else.
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
	// Arguments are a piece of JSON text, to be joined in order.
	Arguments string `json:"arguments,omitempty"`
}

// ExecutedTool is a call of a built-in tool, and what came of it.
type ExecutedTool struct {
	// Index counts the calls of an answer from 0.
	Index int `json:"index"`
	BuiltinCall
	ToolResult
}

// Result describes a completion at its end. After a failure or when the caller has left, Usage has the tokens used
// until then.
type Result struct {
	// Model is the id of the catalogue, Upstream the name of the one that
	// answered, or that was tried last.
	Model    string `json:"model"`
	Upstream string `json:"upstream,omitempty"`
	// Finish is as in Chunk; "" after an error.
	Finish string `json:"finish,omitempty"`
	Usage  Usage  `json:"usage"`
	// Failed is what calls of upstreams used that failed before anything was emitted. It
	// is not part of Usage: the caller got nothing for it.
	Failed Usage `json:"failed,omitzero"`
	// Attempts counts calls of upstreams: 1, and one for each retry, repair or
	// further round.
	Attempts int `json:"attempts"`
	// Emitted is whether any chunk was emitted; a completion that failed before
	// may be run again.
	Emitted bool `json:"emitted"`
}
