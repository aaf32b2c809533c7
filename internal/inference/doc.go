// Package inference holds the types of model inference that its child packages share.
//
// A [Request] is a checked chat completion; it goes through the queue as JSON. A [Catalogue] holds the models, and
// [Catalogue.Admit] checks a request against its model. An [Engine] speaks to one [Upstream] of a [Model]; a
// [Toolbox] runs built-in tools. The answer is a series of [Chunk], and a worker sends it to the API in [Frame].
// Failures are [*Error]: they carry the HTTP status and the body of the inference API.
//
// A chat takes these steps:
//  1. openai/wire reads the body of the caller, and Admit completes the request.
//  2. gateway picks an upstream. A package for its format, openai or anthropic, sends the request.
//  3. reasoning separates thoughts from the answer, and schema checks JSON and the arguments of tools.
//  4. browse, sandbox and toolserver run tools; gateway sends their results to the upstream in a further round.
//  5. openai/wire writes the chunks for the caller, and meter settles the limits of the key.
//
// Of the other child packages, catalogue reads models.yaml, ollama finds and fetches the models of a local Ollama, and
// audio prepares recordings.
package inference
