package inferencetest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Thought and Answer are the reasoning and the answer of the reasoning scenarios.
const (
	Thought = "Okay, the user asks for a fruit. 🍎"
	Answer  = "An apple – naturally."
)

// scenarios are the chat models by name. The text after a colon is their argument.
var scenarios = map[string]func(*call){
	// Good answers.
	"hello": func(c *call) { c.answer("Hello", ", ", "world", "!") },
	"echo":  func(c *call) { c.answer(words(c.prompt())...) },
	// demo:40 sends 40 tokens a second.
	"demo": func(c *call) {
		c.answerPaced(words(
			"This is the scripted model of Presswork. " +
				"It knows one answer, and it streams it token by token, so that you can see that everything " +
				"between your client and the model works. You said: " + c.prompt(),
		))
	},
	// tokens:500@50 sends 500 tokens, 50 a second. With @0 it sends them without pauses.
	"tokens": func(c *call) { c.sendTokens(func(i int) string { return fmt.Sprintf(" t%d", i) }) },
	// stamps:500@50 does the same, and each token is the time when it was sent: see Clock.
	"stamps": func(c *call) { c.sendTokens(func(int) string { return strconv.FormatInt(int64(Clock()), 10) }) },
	"whole": func(c *call) {
		c.sendJSON(
			`{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant",` +
				`"content":"Hello, ` +
				`world!"},"finish_reason":"stop"}],"usage":{"prompt_tokens":11,"completion_tokens":4,"total_tokens":15}}`,
		)
	},
	"length": func(c *call) { c.beginStream(); c.sendContent("Once upon"); c.endStream("length", 2) },
	// stopped ends before the stop sequence END, as vLLM reports it.
	"stopped": func(c *call) {
		c.beginStream()
		c.sendContent("Hello")
		c.sendChunk(c.chunk(`"choices":[{"index":0,"delta":{},"finish_reason":"stop","stop_reason":"END"}],` +
			`"usage":{"prompt_tokens":11,"completion_tokens":1,"total_tokens":12}`))
		c.sendDone()
	},
	"extra": func(c *call) {
		c.beginStream()
		c.sendDelta(`"content":"Hi","annotations":[{"type":"function_citation"}],"refusal":null`)
		c.endStream("stop", 1)
	},
	// executed reports a built-in tool that the server itself ran.
	"executed": func(c *call) {
		c.beginStream()
		c.sendContent("Let me count.")
		c.sendDelta(
			`"executed_tools":[{"name":"python","index":0,"type":"function","arguments":"{\"code\":\"print(1+1)\"}",` +
				`"output":"2\n"}]`,
		)
		c.sendContent(" Two.")
		c.endStream("stop", 2)
	},
	// cited reports a search that the server itself ran, and cites its results.
	"cited": func(c *call) {
		c.beginStream()
		c.sendDelta(
			`"executed_tools":[{"name":"browser_search","index":0,"type":"function","arguments":"{\"query\":\"hand presses\"}",` +
				`"output":"","search_results":{"results":[{"title":"Hand presses","url":"https://www.example.org/press"},` +
				`{"title":"Friskets","url":"https://example.com/frisket"}]}}]`,
		)
		c.sendContent("Ein Preß 🍎 druckt【0†L1-L2】, der Rahmen schützt【1†L3】【0†L9】.")
		c.sendDelta(
			`"annotations":[{"type":"url_citation","url_citation":{"start_index":17,"end_index":26,` +
				`"url":"https://www.example.org/press","title":"Hand presses"}},` +
				`{"type":"url_citation","url_citation":{"start_index":46,"end_index":52,"url":"https://example.com/frisket","title":"Friskets"}},` +
				`{"type":"url_citation","url_citation":{"start_index":52,"end_index":58,"url":"https://www.example.org/press","title":"Hand presses"}}]`,
		)
		c.endStream("stop", 20)
	},
	"timings": func(c *call) {
		c.beginStream()
		c.sendContent("Hi")
		c.holdBack()
		c.sendChunk(c.chunk(
			`"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],` +
				`"timings":{"cache_n":3,"prompt_n":8,"prompt_ms":20.5,"predicted_n":2,"predicted_ms":41}`,
		))
		c.sendDone()
	},
	// many sends as many choices as the request asks for, interleaved.
	"many": func(c *call) { c.answerChoices() },
	// few sends one choice, even if the request asks for more.
	"few": func(c *call) { c.answer("Hello") },
	"no-usage": func(c *call) {
		c.beginStream()
		c.sendContent("Hello", ", ", "world")
		c.sendFinish("stop")
		c.sendDone()
	},

	// Reasoning.
	"reason-field":     func(c *call) { c.answerWithReasoning("reasoning") },
	"reason-content":   func(c *call) { c.answerWithReasoning("reasoning_content") },
	"reason-think":     func(c *call) { c.answer("<thi", "nk>\n"+Thought, "\n</th", "ink>\n\n", Answer) },
	"reason-prefilled": func(c *call) { c.answer("\n"+Thought, "\n</", "think>", "\n\n"+Answer) },
	"reason-harmony": func(c *call) {
		c.answer("<|chan", "nel|>analysis<|message|>"+Thought, "<|end|><|start|>assistant<|channel|>final<|mess",
			"age|>"+Answer, "<|return|>")
	},
	"reason-letters": func(c *call) { c.answer(strings.Split("<think>\n"+Thought+"\n</think>\n\n"+Answer, "")...) },

	// JSON.
	"json":        func(c *call) { c.answer(`{"name"`, `:"Ada",`, `"age":36}`) },
	"json-fenced": func(c *call) { c.answer("Here it is:\n```json\n", `{"name":"Ada","age":36}`, "\n```") },
	"json-broken": func(c *call) { c.answer(`{"name":`) },
	// reading answers with an analysis by the schema of internal/analysis/recommend.
	"reading": func(c *call) {
		c.answer(
			`{"document_type":"newsletter","emotional_tone":"festive","sentiment":{"label":"positive","score":0.8},`,
			`"formality":{"label":"informal","score":0.2},"keywords":["harvest supper"],"language":"en"}`,
		)
	},
	"json-wrong": func(c *call) { c.answer(`{"name":"Ada","age":"old"}`) },
	"json-second": func(c *call) {
		if c.index == 0 {
			c.answer(`{"name":"Ada","age":"old"}`)
			return
		}
		c.answer(`{"name":"Ada","age":36}`)
	},

	// Odd but legal streams: all of them say "Grüße, 世界!".
	"crlf": func(c *call) { c.sendRewritten("\r\n", "data: ", "") },
	"bare": func(c *call) { c.sendRewritten("\n", "data:", "") },
	"noisy": func(c *call) {
		c.sendRewritten("\n", ": a comment\n\nid: 7\nretry: 3000\nevent: message\ndata: ", "")
	},
	"no-done": func(c *call) { c.sendRewritten("\n", "data: ", "no-done") },
	"no-end":  func(c *call) { c.sendRewritten("\n", "data: ", "no-end") },
	"two-lines": func(c *call) {
		c.beginStream()
		c.sendRaw("data: {\"choices\":[{\"index\":0,\ndata: \"delta\":{\"content\":\"Grüße, 世界!\"}}]}\n\n")
		c.endStream("stop", 3)
	},
	"big-line":    func(c *call) { c.answer(strings.Repeat("0123456789abcdef", 90_000)) },
	"split-bytes": func(c *call) { c.sendBytewise() },

	// Failures.
	"html": func(c *call) {
		c.w.Header().Set("Content-Type", "text/html")
		c.sendRaw("<html><body>502 Bad Gateway</body></html>")
	},
	"garbage": func(c *call) { c.beginStream(); c.sendRaw("data: {\"choices\":[{]\n\n") },
	"flood":   func(c *call) { c.beginStream(); c.sendRaw("data: "); c.sendFlood() },
	"hang":    func(c *call) { c.hang() },
	"hang-open": func(c *call) {
		c.beginStream()
		c.sendRole()
		c.hang()
	},
	// late:12s sends nothing for 12 s, then answers.
	"late": func(c *call) {
		wait, err := time.ParseDuration(c.argument)
		if err != nil {
			wait = time.Second
		}

		if c.pause(wait) {
			c.answer("Hello", ", ", "world", "!")
		}
	},
	"hang-middle": func(c *call) { c.beginStream(); c.sendContent("Hello"); c.hang() },
	// hang-once hangs in the first request of each model, and answers the others.
	"hang-once": func(c *call) {
		if c.index > 0 {
			c.answer("Hello", ", ", "world", "!")
			return
		}
		c.beginStream()
		c.sendContent("Hello")
		c.hang()
	},
	"hang-end":  func(c *call) { c.beginStream(); c.sendContent("Hello"); c.sendFinish("stop"); c.hang() },
	"cut":       func(c *call) { c.beginStream(); c.sendContent("Hello", ", "); panic(http.ErrAbortHandler) },
	"cut-clean": func(c *call) { c.beginStream(); c.sendContent("Hello", ", ") },
	"cut-first": func(*call) { panic(http.ErrAbortHandler) },
	"error-frame": func(c *call) {
		c.beginStream()
		c.sendContent("Hello")
		c.sendChunk(`{"error":{"message":"CUDA out of memory","type":"server_error","code":500}}`)
	},
	// status:503 answers with that status.
	"status": func(c *call) {
		status, err := strconv.Atoi(c.argument)
		if err != nil {
			status = http.StatusInternalServerError
		}

		if status == http.StatusTooManyRequests {
			c.w.Header().Set("Retry-After", "7")
		}
		fail(c.w, status, "scripted failure")
	},
	"context": func(c *call) {
		fail(
			c.w,
			http.StatusBadRequest,
			"This model's maximum context length is 4096 tokens. However, your messages resulted in 9000 tokens.",
		)
	},
	// fail-once fails the first request of each model.
	"fail-once": func(c *call) {
		if c.index == 0 {
			fail(c.w, http.StatusInternalServerError, "scripted failure")
			return
		}
		c.answer("Hello", ", ", "world", "!")
	},
}
