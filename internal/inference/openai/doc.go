// Package openai is the wire dialect of the inference API, in both directions.
//
// Towards callers: [ParseRequest] reads a chat completion, a [Writer] writes
// its chunks as server-sent events, a [Collector] gathers them into one
// response, [AppendError] writes error bodies, [AppendModels] the list of
// models. Towards upstreams: [New] opens an inference.Engine on any server that
// speaks the dialect; what engines do differently is the table in engines.go.
package openai
