package openai_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"presswork/internal/inference"
	"presswork/internal/inference/jsonbody"
	"presswork/internal/inference/openai"
	"presswork/internal/inference/openai/wire"
	"presswork/internal/test/golden"
)

// TestRequestsMatchTheKindOfUpstream compares the requests that each kind of engine receives for the same input. The
// golden file has one line for each field.
func TestRequestsMatchTheKindOfUpstream(t *testing.T) {
	t.Parallel()
	const request = `{"model":"qwen3","max_completion_tokens":100,"temperature":0,"parallel_tool_calls":false,"verbosity":"low","reasoning_effort":%q,"tool_choice":%s,
		"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}},{"type":"function","function":{"name":"g"}}],
		"response_format":{"type":"json_schema","json_schema":{"name":"p","schema":{"type":"object"}}},
		"messages":[{"role":"developer","content":"Be brief."},{"role":"user","name":"Ada","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},
		{"role":"assistant","content":null,"reasoning":"hm","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"42"}]}`
	var out bytes.Buffer

	for _, kind := range openai.Kinds() {
		if kind == inference.WhisperServer {
			continue // it does not chat
		}

		m := inference.NewCatalogue([]inference.Model{model("qwen3", kind, "http://x/v1")}).Models()[0]

		for effort, choice := range map[string]string{"none": `{"type":"function","function":{"name":"f"}}`, "max": `"required"`} {
			r := parse(t, fmt.Sprintf(request, effort, choice))
			r.SetField("top_k", json.RawMessage("40"))

			b, err := openai.Encode(m.Upstreams[0], m, r)
			if err != nil {
				t.Fatal(err)
			}

			var fields map[string]json.RawMessage
			if err := json.Unmarshal(b, &fields); err != nil {
				t.Fatal(err)
			}

			for _, name := range slices.Sorted(maps.Keys(fields)) {
				fmt.Fprintf(&out, "%s, effort %s: %s: %s\n", kind, effort, name, fields[name])
			}
		}
	}
	lines := strings.SplitAfter(out.String(), "\n")
	slices.Sort(lines)
	golden.Check(t, "engines.golden", []byte(strings.Join(lines, "")))
}

// head returns a head with all fields.
func head() wire.Head {
	return wire.Head{
		ID:          "chatcmpl-b610",
		RequestID:   "req_01kh52n",
		Created:     time.Unix(1770770843, 0),
		Model:       "qwen/qwen3-32b",
		Seed:        new(int64(872656815)),
		ServiceTier: "on_demand",
		Vendor:      "presswork",
	}
}

// chunks returns the chunks of a response with every kind of content.
func chunks() []inference.Chunk {
	return []inference.Chunk{
		{First: true, Fingerprint: "fp_78ac7f3229"},
		{Reasoning: "Okay"},
		{Content: "Hi \"Ada\"\n\u2028</script>"},
		{ToolCalls: []inference.ToolDelta{{Index: 0, ID: "call_1", Name: "weather"}}},
		{ToolCalls: []inference.ToolDelta{{Index: 0, Arguments: `{"city":"Oslo"}`}}},
		{Executed: []inference.ExecutedTool{
			{
				BuiltinCall: inference.BuiltinCall{Name: inference.PythonFunction, Arguments: `{"code":"1+1"}`},
				ToolResult: inference.ToolResult{
					Output: "2\u2028",
					Code:   []inference.CodeResult{{Text: "2"}, {PNG: "iVBORw0="}},
				},
			},
		}},
		{Executed: []inference.ExecutedTool{
			{
				Index:       1,
				BuiltinCall: inference.BuiltinCall{Name: inference.SearchFunction, Arguments: `{"query":"x"}`},
				ToolResult: inference.ToolResult{
					Output: "[0]",
					Search: []inference.SearchResult{{Title: "T", URL: "https://example.org/", Content: "c"}},
				},
			},
			{
				Index:       2,
				BuiltinCall: inference.BuiltinCall{Name: inference.OpenFunction, Arguments: `{"id":0}`},
				ToolResult: inference.ToolResult{
					Output: "[1]",
					Pages:  []inference.PageResult{{Title: "T", URL: "https://example.org/"}},
				},
			},
		}},
		{Extra: json.RawMessage(`{"annotations":[{"type":"function_citation"}]}`)},
		{Extra: json.RawMessage(`{"annotations":[{"type":"document_citation"}]}`)},
		{
			Finish: "tool_calls",
			Usage: &inference.Usage{
				QueueTime:        0.25,
				PromptTokens:     11,
				PromptTime:       0.010407901,
				CompletionTokens: 20,
				CompletionTime:   0.046601227,
				TotalTokens:      31,
				TotalTime:        0.057009128,
				ReasoningTokens:  new(5),
				CachedTokens:     new(0),
			},
		},
	}
}

func TestWireFormatGolden(t *testing.T) {
	t.Parallel()
	var out []byte

	for _, h := range []wire.Head{head(), {ID: "chatcmpl-1", RequestID: "req_1", Created: time.Unix(1, 0), Model: "m", Vendor: "presswork", IncludeUsage: true, LegacyFunctions: true, ServiceTier: "flex"}} {
		w, c := wire.NewWriter(h), wire.NewCollector(h)
		for _, chunk := range chunks() {
			out = w.Append(out, &chunk)
			c.Add(&inference.Frame{Chunk: &chunk})
		}
		out = append(c.Append(w.End(out)), "\n\n"...)
	}
	failed := inference.Errorf(503, inference.UpstreamUnavailable, "the model is at capacity").WithParam("model")
	failed.FailedGeneration = "<function=…>"
	out = wire.NewWriter(head()).Fail(out, failed)
	out = append(
		wire.AppendModels(
			out,
			inference.NewCatalogue([]inference.Model{
				{ID: "a/b", OwnedBy: "Ada", ContextWindow: 131072, Created: time.Unix(1748396646, 0)},
				{ID: "c", Created: time.Unix(1, 0), Price: inference.Price{InputPerM: 0.05, OutputPerM: 1e6}},
			}).Models(),
		),
		'\n',
	)
	golden.Check(t, "wire.golden", out)

	for line := range bytes.Lines(out) {
		line = bytes.TrimPrefix(bytes.TrimSpace(line), []byte("data: "))
		if len(line) > 0 && string(line) != "[DONE]" && !json.Valid(line) {
			t.Errorf("got the line %s, want JSON", line)
		}

		if bytes.Contains(line, []byte(`"error":null`)) {
			t.Errorf("got an error that is null, at which openai-go stops: %s", line)
		}
	}
}

// FuzzStringsSurvive checks that strings are written as JSON of one line. Invalid UTF-8 becomes U+FFFD.
func FuzzStringsSurvive(f *testing.F) {
	for _, s := range []string{"", "a\"b\\c\n\r\t\x00\x1f\x7f", "Grüße 世界 🍎", "\u2028\u2029\u0085", "\xff\xc3", "</script>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b := jsonbody.AppendString(nil, s)

		var back string
		if err := json.Unmarshal(b, &back); err != nil || back != string([]rune(s)) {
			t.Errorf("%q is written as %s and read as %q, %v; want %q", s, b, back, err, string([]rune(s)))
		}

		if bytes.ContainsAny(b, "\n\r") {
			t.Errorf("got a line end in %s, want it escaped", b)
		}
	})
}

func TestLinesOfAnEventAreJoined(t *testing.T) {
	t.Parallel()

	got, _ := openai.Events(strings.NewReader("data: a\ndata:b\n\n\ndata:  c\n: x\n\ndata: d"))
	if want := []string{"a\nb", " c", "d"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FuzzEventsDoNotDependOnTheCut checks that the events depend neither on the size of the reads, nor on LF or CRLF.
func FuzzEventsDoNotDependOnTheReads(f *testing.F) {
	f.Add("data: {\"a\":1}\n\n: ping\n\nid: 3\nevent: x\ndata:b\ndata: c\n\ndata: [DONE]")
	f.Add("\xef\xbb\xbfdata: x\r\n\r\ndata:\n\ndata: y")
	f.Fuzz(func(t *testing.T, stream string) {
		whole, err := openai.Events(strings.NewReader(stream))
		if !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}

		slow, _ := openai.Events(iotest.OneByteReader(strings.NewReader(stream)))
		if !slices.Equal(whole, slow) {
			t.Errorf("read byte by byte: got %q, want %q", slow, whole)
		}

		if strings.Contains(stream, "\r") {
			return
		}

		crlf, _ := openai.Events(strings.NewReader(strings.ReplaceAll(stream, "\n", "\r\n")))
		if !slices.Equal(whole, crlf) {
			t.Errorf("with CRLF: got %q, want %q as with LF", crlf, whole)
		}
	})
}

// FuzzDecode checks that every chunk can be decoded, and that the fields passed on are JSON. A chunk that is decoded with
// a template has the same delta as without one.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(
		`{"choices":[{"index":0,"delta":{"content":"a\u00e9","tool_calls":[{"function":{"arguments":{}}}]},"finish_reason":null}],"usage":{"prompt_tokens":1},"timings":{"predicted_n":1}}`,
	))
	f.Add([]byte("{\"choices\":[{\"delta\":{\"\x86\":\"\x86\"}}]}"))
	f.Add([]byte(`{"choices":{},"usage":[],"x_groq":7,"error":null}`))
	f.Add([]byte(`{"choices":[7,{"delta":{"content":[{"text":"a"},8],"tool_calls":[7,{"index":1e400}]}}]}`))
	f.Fuzz(func(t *testing.T, chunk []byte) {
		d := openai.Decode(chunk)
		if d.Extra != nil && !json.Valid(d.Extra) {
			t.Errorf("%s: passed on %s, want JSON", chunk, d.Extra)
		}

		u := d.Usage
		if u != nil && (u.PromptTokens < 0 || u.CompletionTokens < 0 || u.PromptTime < 0 || u.CompletionTime < 0) {
			t.Errorf("%s: the usage %+v has a negative number", chunk, u)
		}

		for _, text := range []string{" token", "\u4e16", "a\"b", "a\\u0062", "a\nb", "\xff", ""} {
			next := openai.WithText(chunk, text)

			diff := cmp.Diff(openai.Decode(next), openai.Decode(chunk, next), cmpopts.EquateEmpty())
			if next != nil && diff != "" {
				t.Errorf("%s alone and after %s (-alone +after):\n%s", next, chunk, diff)
			}
		}
	})
}

// TestSimilarChunksAreNotParsedAgain checks which chunks become a template for chunks that differ only in their text. An
// empty delta means that the chunk does not become a template.
func TestSimilarChunksAreNotParsedAgain(t *testing.T) {
	t.Parallel()

	const whole = `{"id":"x","system_fingerprint":"fp","choices":[{"index":0,"delta":%s,"finish_reason":null}]}`

	for piece, next := range map[string]inference.Delta{
		`{"content":"a"}`:                    {Content: "b", Fingerprint: "fp"},
		`{ "content": "a" }`:                 {},
		`{"content": "a" }`:                  {Content: "b", Fingerprint: "fp"},
		`{"role":"assistant","content":"a"}`: {Content: "b", Fingerprint: "fp"},
		`{"reasoning":"a"}`:                  {Reasoning: "b", Fingerprint: "fp"},
		`{"reasoning_content":"a"}`:          {Reasoning: "b", Fingerprint: "fp"},
		`{"content":"a","refusal":"no"}`:     {},
		`{"content":"a\n"}`:                  {},
		`{"content":""}`:                     {},
		`{"content":null}`:                   {},
		`{"tool_calls":[{"index":0}]}`:       {},
	} {
		t.Run(piece, func(t *testing.T) {
			chunk := fmt.Appendf(nil, whole, piece)

			other := openai.WithText(chunk, "b")
			if (other != nil) != (next.Fingerprint != "") {
				t.Errorf("%s is remembered as %q, want it remembered: %v", chunk, other, next.Fingerprint != "")
			}

			if other == nil {
				return
			}

			if diff := cmp.Diff(next, openai.Decode(chunk, other), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s after %s (-want +got):\n%s", other, chunk, diff)
			}

			for _, text := range []string{`"`, `a\u0062`, "a\nb", "\xff"} {
				t.Run("then "+text, func(t *testing.T) {
					odd := openai.WithText(chunk, text)

					diff := cmp.Diff(openai.Decode(odd), openai.Decode(chunk, odd), cmpopts.EquateEmpty())
					if diff != "" {
						t.Errorf("%s alone and after %s (-alone +after):\n%s", odd, chunk, diff)
					}
				})
			}
		})
	}

	for name, chunk := range map[string]string{
		"finish reason": `{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`,
		"logprobs":      `{"choices":[{"delta":{"content":"a"},"logprobs":{"content":[]}}]}`,
		"usage":         `{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`,
		"another text":  `{"choices":[{"delta":{"content":"a"},"text":"b"}]}`,
		"error":         `{"choices":[{"delta":{"content":"a"}}],"error":{"message":"a"}}`,
		"long chunk":    `{"choices":[{"delta":{"content":"a"}}],"x":"` + strings.Repeat("x", 4<<10) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			if next := openai.WithText([]byte(chunk), "b"); next != nil {
				t.Errorf("%s is remembered as a template, want that it is not", chunk)
			}
		})
	}
}

// TestFieldsOfUnexpectedTypesAreIgnored checks that the other fields of such a chunk are read.
func TestFieldsOfUnexpectedTypesAreIgnored(t *testing.T) {
	t.Parallel()

	for chunk, want := range map[string]inference.Delta{
		`{"system_fingerprint":7,"choices":[7,{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}],"usage":[]}`:           {Content: "a", Finish: "stop"},
		`{"choices":[{"delta":{"content":"a","reasoning":"r"}}]}`:                                                                {Content: "a", Reasoning: "r"},
		`{"choices":[{"delta":{"content": "\u0061" }}]}`:                                                                         {Content: "a"},
		`{"choices":[{"delta":{"content":[{"type":"text","text":"a"},8,{"text":"b"}]}}],"x_groq":7}`:                             {Content: "ab"},
		`{"choices":[{"delta":{"content":{},"reasoning":"r","reasoning_content":"r","audio":null,"annotations":[]}}]}`:           {Reasoning: "r"},
		`{"choices":[{"message":{"role":"assistant","refusal":"no","content":"a"}}]}`:                                            {Content: "a", Extra: json.RawMessage(`{"refusal":"no"}`)},
		`{"choices":[{"index":1,"delta":{"content":"a"}},{"delta":{"content":"b"}}]}`:                                            {Content: "b"},
		`{"choices":[{"delta":{"tool_calls":[7,{"id":3,"function":{"name":"f","arguments":{"a":1}}},{"index":"x","id":"c"}]}}]}`: {ToolCalls: []inference.RawToolDelta{{}, {Index: 1, Name: "f", Arguments: `{"a":1}`}, {ID: "c"}}},
		`{"choices":[{"delta":{"function_call":{"name":"f","arguments":"{}"}}}]}`:                                                {ToolCalls: []inference.RawToolDelta{{Name: "f", Arguments: "{}"}}},
	} {
		t.Run(chunk, func(t *testing.T) {
			if diff := cmp.Diff(want, openai.Decode([]byte(chunk)), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("Decode(%s) (-want +got):\n%s", chunk, diff)
			}
		})
	}
}

func TestUsageOfEveryEngineIsRead(t *testing.T) {
	t.Parallel()

	for chunk, want := range map[string]inference.RawUsage{
		`{"choices":[],"usage":{"prompt_tokens":8,"completion_tokens":2,"queue_time":0.5,"prompt_time":0.1,"completion_time":0.2}}`:              {PromptTokens: 8, CompletionTokens: 2, QueueTime: 0.5, PromptTime: 0.1, CompletionTime: 0.2},
		`{"x_groq":{"id":"r","usage":{"prompt_tokens":8,"completion_tokens":2}}}`:                                                                {PromptTokens: 8, CompletionTokens: 2},
		`{"timings":{"cache_n":3,"prompt_n":5,"prompt_ms":20.5,"predicted_n":2,"predicted_ms":41}}`:                                              {PromptTokens: 8, CompletionTokens: 2, PromptTime: 0.0205, CompletionTime: 0.041, CachedTokens: new(3)},
		`{"usage":{"prompt_tokens":8,"completion_tokens":2,"completion_tokens_details":{"reasoning_tokens":1},"prompt_tokens_details":null}}`:    {PromptTokens: 8, CompletionTokens: 2, ReasoningTokens: new(1)},
		`{"usage":{"prompt_tokens":8,"completion_tokens":-2,"prompt_tokens_details":{"cached_tokens":4}},"timings":{"prompt_ms":1,"cache_n":4}}`: {PromptTokens: 8, CachedTokens: new(4), PromptTime: 0.001},
		`{"usage":{"prompt_tokens":1,"completion_tokens":1,"prompt_time":1.7e308,"completion_time":-1}}`:                                         {PromptTokens: 1, CompletionTokens: 1, PromptTime: 1 << 40},
	} {
		t.Run(chunk, func(t *testing.T) {
			got := openai.Decode([]byte(chunk)).Usage
			gotJSON, _ := json.Marshal(got) // shows the values of pointers
			wantJSON, _ := json.Marshal(want)

			if got == nil || !bytes.Equal(gotJSON, wantJSON) {
				t.Errorf("the usage of %s is %s, want %s", chunk, gotJSON, wantJSON)
			}
		})
	}
}
