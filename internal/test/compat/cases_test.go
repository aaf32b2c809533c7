//go:build compat

package compat

// cases lists the cases that every client must report, in the order of the table.
var cases = []struct{ id, what string }{
	{"A1", "a minimal request"},
	{"A2", "every parameter at once (with INFERENCE_LAX=true)"},
	{"A3", "response headers: request id, limits"},
	{"A4", "the raw response"},
	{"A5", "a whole stream, in blocking and asynchronous clients"},
	{"A6", "closing a stream early frees the model"},
	{"A7", "`stream_options.include_usage`"},
	{"A8", "the vendor's fields on the first and the last chunk"},
	{"A9", "unknown fields"},
	{"A10", "content parts, an image, all roles, `null` content"},
	{"A11", "list of models, a model id with a slash"},
	{"A12", "deleting a model is rejected"},
	{"B13", "a tool call in one chunk"},
	{"B14", "a tool call in many chunks"},
	{"B15", "two calls, interleaved"},
	{"B16", "a loop: call, tool message, answer"},
	{"B17", "`tool_choice` none, auto, required, a function"},
	{"B18", "empty chunks after a call do not make another call"},
	{"B19", "a call of an unknown tool; `disable_tool_validation`"},
	{"B20", "malformed arguments: `tool_use_failed`"},
	{"B21", "built-in tools that no worker runs: `tool_unavailable`"},
	{"T1", "`code_interpreter`: `executed_tools` in the client's types, whole and streamed"},
	{"T2", "`browser_search`: results, a page, its citation; `tool_choice`"},
	{"T3", "a built-in tool next to a client's function"},
	{"T4", "`n` and `logprobs`"},
	{"T5", "`POST /v1/completions`"},
	{"C22", "`json_object`"},
	{"C23", "`json_schema` by the client's own helper"},
	{"C24", "invalid JSON: `json_validate_failed` with `failed_generation`"},
	{"C25", "raw reasoning with JSON is rejected"},
	{"C26", "`json_schema` streamed"},
	{"D27", "six forms of reasoning × raw, parsed, hidden"},
	{"D28", "the same, streamed"},
	{"D29", "`reasoning_format` with `include_reasoning` is rejected"},
	{"D30", "hidden reasoning is counted"},
	{"D31", "`reasoning_effort`, and an unsupported value"},
	{"E32", "upstreams with CRLF, comments, split characters, no end"},
	{"E33", "line separators and line ends in the content"},
	{"E34", "eleven seconds of silence"},
	{"E35", "a chunk of 1.4 MB"},
	{"E36", "a failure during a stream raises the client's error"},
	{"E37", "closing a stream twice"},
	{"F38", "a wrong key"},
	{"F39", "an unknown model"},
	{"F40", "an unknown address"},
	{"F41", "a body of 50 MB"},
	{"F42", "wrong values: the error names the field"},
	{"F43", "429, and success after `retry-after`"},
	{"F44", "failures of the model: class, status, tries"},
	{"F45", "a time-out while waiting: the model gets no request"},
	{"F46", "a time-out while running: the model is freed"},
	{"G47", "transcription as json, text, verbose_json with words; translation"},
	{"G48", "a recording in a `data:` URI; an invalid one is rejected"},
	{"G49", "speech, streamed"},
	{"G50", "embeddings, as numbers and in base64"},
	{"R1", "`POST /v1/responses`: text, roles, an image, whole and streamed by the client's helper"},
	{"R2", "three turns with a function and encrypted reasoning; changed reasoning is rejected"},
	{"R3", "custom tools and namespaces, and their outputs"},
	{"R4", "`text.format` by the client's own helper"},
	{"R5", "`web_search` with citations, `code_interpreter` with outputs"},
	{"R6", "incomplete and failed responses, refusals, the count of tokens"},
}

// client is a program that uses an SDK and prints a row for each case.
type client struct {
	name string
	// pkg is the package of npm, PyPI or Go whose version is in the table.
	pkg string
	// run returns the directory and the command that starts the program.
	run func(tools string) (dir string, command []string)
}

// node returns the run of a client in JavaScript.
func node(script string) func(string) (string, []string) {
	return func(tools string) (string, []string) { return "js", []string{tools + "/nodejs", script} }
}

// python returns the run of a client in Python with a folder of packages.
func python(script, packages string) func(string) (string, []string) {
	return func(tools string) (string, []string) {
		return "py", []string{"env", "PYTHONPATH=" + tools + "/" + packages, "python3", "-W", "ignore", script}
	}
}

var clients = []client{
	{"groq-python", "groq", python("sdk.py", "python")},
	{"openai-python", "openai", python("sdk.py", "python")},
	{"langchain-groq", "langchain-groq", python("langchain.py", "langchain")},
	{"groq-sdk", "groq-sdk", node("sdk.mjs")},
	{"openai-node", "openai", node("sdk.mjs")},
	{"ai-sdk-groq", "@ai-sdk/groq", node("aisdk.mjs")},
	{"ai-sdk-openai-compatible", "@ai-sdk/openai-compatible", node("aisdk.mjs")},
	{"openai-go", "github.com/openai/openai-go/v3", func(tools string) (string, []string) {
		return "openaigo", []string{tools + "/openaigo"}
	}},
}
