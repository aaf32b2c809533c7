// Package inference holds the types of model inference that its child packages share.
//
// A [Request] is a checked chat completion; it goes through the queue as JSON. A [Catalogue] holds the models, and
// [Catalogue.Admit] checks a request against its model. An [Engine] speaks to one [Upstream] of a [Model]; a
// [Toolbox] runs built-in tools. The answer is a series of [Chunk], and a worker sends it to the API in [Frame].
// Failures are [*Error]: they carry the HTTP status and the body of the inference API.
//
// Its child packages have these tasks:
//   - gateway runs requests
//   - catalogue reads models.yaml
//   - openai reads requests, writes responses and speaks to upstreams
//   - ollama finds and fetches the models of a local Ollama
package inference
