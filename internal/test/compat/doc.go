// Package compat runs the official clients of the inference API against the real program: the SDKs of Groq and
// OpenAI, the AI SDK and LangChain. Each client is a small program below this folder that prints its results as
// rows. The test starts the server, the model and the clients, and writes docs/lab/compatibility.md. The folder
// openapi has clients that are generated from api/openapi.yaml: the file must be valid, and they must work.
//
// `make compat` runs it. The clients come from registries, so the test has a build tag, and `go test ./...` needs
// none of them.
package compat
