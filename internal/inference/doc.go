// Package inference answers chat completions: it knows the models, picks an
// upstream for each request, and turns whatever the upstream streams into one
// form.
//
// A [Request] is a checked chat completion; it travels through the queue as
// JSON. [Source] holds the [Catalogue] of models.yaml and reloads it.
// [Catalogue.Admit] checks a request against its model. [Gateway.Complete] runs
// it: by weight, priority, health and free places it picks an [Upstream], opens
// an [Engine] on it, tries another one as long as no token has come, separates
// reasoning from answer, checks tool calls and JSON, and emits each [Chunk] as
// it comes. Failures are [*Error]: they carry the HTTP status and the body of
// the inference API.
//
// The wire dialect is below: package openai reads requests, writes responses
// and talks to upstreams; package ollama finds models of a local Ollama and
// fetches new ones.
package inference
