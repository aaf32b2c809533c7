// Package compat holds the official clients of the inference API against the
// real program: the SDKs of Groq and OpenAI for Python, JavaScript and Go, the
// AI SDK and LangChain. Each client is a small program of its own below this
// folder and prints its results as rows; the test starts the server, the model
// behind it and the clients, and writes docs/lab/compatibility.md. The folder openapi
// has what is made from api/openapi.yaml: it must be valid, and clients that are
// generated from it must work.
//
// `make compat` runs it. The clients come from registries, so that the test is
// behind a build tag and `go test ./...` needs none of them.
package compat
