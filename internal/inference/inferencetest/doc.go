// Package inferencetest is a scripted model server with the OpenAI API. The name of the model selects the answer,
// which may be slow, broken or malformed. Tests of any package may start a server; the program in fakemodel runs
// the same server for demonstrations. A model name may have a path before the scenario, such as "acme/hello".
// Scenarios lists the scenarios of chats, text completions and vectors; those of audio are in this package's source.
package inferencetest
