// Package wire reads and writes the wire format of the inference API as callers see it.
//
// [ParseRequest] reads a chat completion, a [Writer] writes its chunks as server-sent events, and a [Collector]
// gathers them into one response. [AppendError] writes error bodies, [AppendModels] the list of models.
package wire
