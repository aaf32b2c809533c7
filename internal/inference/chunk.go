package inference

import "encoding/json"

// Chunk is a piece of an answer, in one form for all upstreams. The first chunk has First set; the last one has
// Finish and Usage. A worker sends its JSON to the API.
type Chunk struct {
	// Choice is the index of the answer that it belongs to.
	Choice int `json:"choice,omitempty"`
	// First marks the first chunk. The API then writes the role of every answer, whatever Choice is.
	First bool `json:"first,omitempty"`
	// Model is the model that answers in place of the requested one, on the first chunk; "" otherwise.
	Model string `json:"model,omitempty"`
	// Ignored are the fields of the request that the upstream does not know, on the first chunk.
	Ignored []string `json:"ignored,omitempty"`
	// Fingerprint names the configuration of the upstream; it is on the first chunk.
	Fingerprint string `json:"fingerprint,omitempty"`
	// Content is answer text; Reasoning is text of the reasoning field.
	Content   string `json:"content,omitempty"`
	Reasoning string `json:"reasoning,omitempty"`
	// Thought ends the reasoning that came before it, with the signature of the upstream.
	Thought *Thought `json:"thought,omitempty"`
	// ToolCalls are pieces of calls; pieces with the same Index belong to one call.
	ToolCalls []ToolDelta `json:"tool_calls,omitempty"`
	// Executed are completed calls of built-in tools.
	Executed []ExecutedTool `json:"executed,omitempty"`
	// Listings are the tools of servers, before the first piece of text. Approvals are calls that wait for the user.
	Listings  []Listing    `json:"listings,omitempty"`
	Approvals []ServerCall `json:"approvals,omitempty"`
	// Extra is a JSON object with the delta's other fields as the upstream sent them, or with the annotations of cited
	// pages.
	Extra json.RawMessage `json:"extra,omitempty"`
	// Logprobs is a JSON object of lists about the tokens of this piece, as the upstream sent it.
	Logprobs json.RawMessage `json:"logprobs,omitempty"`
	// Finish is stop, length, tool_calls or content_filter, on the last chunk of each answer.
	Finish string `json:"finish,omitempty"`
	// StopSequence is the text of Request.Stop that ended the answer, on the chunk with Finish; "" if the upstream does
	// not report it.
	StopSequence string `json:"stop_sequence,omitempty"`
	// Usage is on the very last chunk, nil on the others.
	Usage *Usage `json:"usage,omitempty"`
}

// ToolDelta is a piece of a tool call.
type ToolDelta struct {
	// Index is the position of the call in the answer, from 0 and without a gap.
	Index int `json:"index"`
	// ID and Name are only on the first piece of the call.
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
	// Arguments are a piece of JSON text, to be joined in order.
	Arguments string `json:"arguments,omitempty"`
}

// ExecutedTool is a call of a built-in tool or of a tool of a server, with its result.
type ExecutedTool struct {
	// Index counts the calls of an answer from 0.
	Index int `json:"index"`
	// Server is the label of the server; "" for a built-in tool. Name is then the name at the server.
	Server string `json:"server,omitempty"`
	// Approval is the id of the approval request; "" for a call without one.
	Approval string `json:"approval,omitempty"`
	BuiltinCall
	ToolResult
}

// Result describes a completion at its end. After a failure or a disconnection of the caller, Usage has the tokens
// used until then.
type Result struct {
	// Model is the id in the catalogue. Upstream is the name of the upstream that answered or was tried last.
	Model    string `json:"model"`
	Upstream string `json:"upstream,omitempty"`
	// Finish is as in Chunk; "" after an error.
	Finish string `json:"finish,omitempty"`
	Usage  Usage  `json:"usage"`
	// Failed is the usage of upstream calls that failed before they emitted anything. Usage does not include it,
	// because the caller received nothing for it.
	Failed Usage `json:"failed,omitzero"`
	// Attempts counts the calls of upstreams: the first, and one for each retry, correction or further round.
	Attempts int `json:"attempts"`
	// Emitted reports whether a chunk was emitted. A completion that failed without one may run again.
	Emitted bool `json:"emitted"`
}
