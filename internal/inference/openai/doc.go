// Package openai implements the wire format of the inference API in both directions.
//
// For callers, [ParseRequest] reads a chat completion, a [Writer] writes its chunks as server-sent events, and a
// [Collector] gathers them into one response. [AppendError] writes error bodies, [AppendModels] the list of
// models. For upstreams, [New] opens an inference.Engine on any server with this wire format; the differences of
// engines are in the table of engines.go.
package openai
