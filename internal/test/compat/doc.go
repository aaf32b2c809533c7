// Package compat runs the official clients of the inference API against the real program: the SDKs of Groq and
// OpenAI, the AI SDK and LangChain. Each client is a small program below this folder that prints its results as
// rows. The test starts the server, the models and the clients, and compares docs/lab/compatibility.md with the rows.
// The folder openapi has programs for clients that tools generate from api/openapi.yaml.
//
// `make compat` runs the tests. The clients come from registries, so the tests have a build tag, and `go test ./...`
// needs no client.
package compat
