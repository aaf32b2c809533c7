package wire_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"reflect"
	"strings"
	"testing"

	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/inference/catalogue"
	"presswork/internal/inference/openai/wire"
	"presswork/internal/test/golden"
)

// picture returns a data: URI with the header of a PNG of this size. The parser reads no further.
func picture(width, height uint32) string {
	head := []byte("IHDR")
	head = binary.BigEndian.AppendUint32(head, width)
	head = binary.BigEndian.AppendUint32(head, height)
	head = append(head, 8, 0, 0, 0, 0)
	b := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), head...)
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(head))

	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b)
}

// parse returns the request of a body, which must be valid.
func parse(t *testing.T, body string) *inference.Request {
	t.Helper()

	r, err := wire.ParseRequest([]byte(body), wire.ParseOptions{})
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}

	return r
}

// weatherTool is a field with one tool.
const weatherTool = `"tools":[{"type":"function","function":{"name":"weather","parameters":{"type":"object"}}}]`

// allFields is a request with every field of the API.
const allFields = `{"model":"openai/gpt-oss-20b","stream":true,"stream_options":{"include_usage":true},"max_tokens":5,"max_completion_tokens":100,
"temperature":0.5,"top_p":0.9,"n":1,"stop":["a","b"],"seed":7,"user":"u","frequency_penalty":-1,"presence_penalty":1.5,"logit_bias":{},"logprobs":false,"top_logprobs":null,
"response_format":{"type":"json_schema","json_schema":{"name":"p","description":"d","strict":true,"schema":{"type":"object"}}},
"tools":[{"type":"function","function":{"name":"f","description":"d","strict":true,"parameters":{"type":"object"}}}],
"tool_choice":{"type":"function","function":{"name":"f"}},"parallel_tool_calls":false,"disable_tool_validation":true,
"reasoning_effort":"low","reasoning_format":"parsed","service_tier":"flex","metadata":{"a":"b"},"store":false,"unknown_field":[1],
"messages":[{"role":"system","content":"s"},{"role":"developer","content":[{"type":"text","text":"d"}],"cache_control":{}},
{"role":"user","name":"Ada","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"https://example.com/a.png","detail":"low"}},{"type":"document","document":{"id":"1","data":{"a":1}}}]},
{"role":"assistant","content":null,"reasoning_content":"hm","refusal":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"c1","content":"42"},{"role":"assistant","content":"done"},{"role":"user","content":"more"}]}`

// TestRequestKeepsAllFields compares the form of a request in the queue with a golden file, because the next version
// must be able to read it.
func TestRequestKeepsAllFields(t *testing.T) {
	t.Parallel()
	r := parse(t, allFields)

	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "request_v1.json", append(b, '\n'))

	var back inference.Request
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}

	again, err := json.MarshalIndent(back, "", "  ")
	if err != nil || !bytes.Equal(b, again) {
		t.Errorf("read and written again: got %s, %v; want the same JSON", again, err)
	}
}

func TestLegacyFunctionsBecomeTools(t *testing.T) {
	t.Parallel()

	r := parse(
		t,
		`{"model":"m","functions":[{"name":"f"}],"function_call":{"name":"f"},"messages":[{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}},{"role":"function","name":"f","content":"1"}]}`,
	)
	if !r.LegacyFunctions || len(r.Tools) != 1 || r.ToolChoice.Mode != inference.ChooseNamed ||
		r.Messages[0].ToolCalls[0].ID != r.Messages[1].ToolCallID {
		t.Errorf("got %+v, want a tool, a named choice and a call with its result", r)
	}
}

func TestOptionsWithoutEffectAreAccepted(t *testing.T) {
	t.Parallel()

	for field, tier := range map[string]string{
		`"top_logprobs":0`:                  "on_demand",
		`"logprobs":false,"top_logprobs":0`: "on_demand",
		`"background":false`:                "on_demand",
		`"background":null`:                 "on_demand",
		`"store":true`:                      "on_demand",
		`"store":null`:                      "on_demand",
		`"service_tier":"scale"`:            "performance",
		`"service_tier":null`:               "on_demand",
		`"service_tier":"auto"`:             "auto",
	} {
		t.Run(field, func(t *testing.T) {
			r := parse(t, fmt.Sprintf(`{%s,"model":"m","messages":[{"role":"user","content":"Hi"}]}`, field))
			if r.ServiceTier != tier {
				t.Errorf("the tier is %s, want %s", r.ServiceTier, tier)
			}
		})
	}
}

func TestDataURIsAreNormalised(t *testing.T) {
	t.Parallel()
	want := picture(4, 4)
	upperCase := strings.Replace(want, "data:image/png;base64", "DATA:Image/PNG;Base64", 1)

	r := parse(
		t,
		`{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"`+upperCase+`"}}]}]}`,
	)
	if got := r.Messages[0].Parts[0].Image.URL; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestLaxAcceptsOptionsThatCannotBeCombined(t *testing.T) {
	t.Parallel()

	body := `{"model":"m","messages":[{"role":"user","content":"Hi"}],"n":1,"max_tokens":0,"logprobs":true,"top_logprobs":0,"logit_bias":{"a":1},"include_reasoning":true,"reasoning_format":"raw","response_format":{"type":"json_object"},"stream_options":{"include_usage":true}}`
	if _, err := wire.ParseRequest([]byte(body), wire.ParseOptions{}); err == nil {
		t.Error("without Lax: got no error, want one")
	}

	r, err := wire.ParseRequest([]byte(body), wire.ParseOptions{Lax: true})
	if err != nil || r.ReasoningFormat != inference.Parsed || r.IncludeUsage {
		t.Errorf("with Lax: got %+v, %v; want the format parsed, without include_usage", r, err)
	}
}

func TestAdmitAppliesTheRulesOfTheModel(t *testing.T) {
	t.Parallel()

	c, err := catalogue.Parse("models.yaml", []byte(`models:
  - {id: gpt-oss, capabilities: [chat, tools, reasoning], max_completion_tokens: 100, reasoning: {efforts: [low, high], default: low, formats: []}, upstreams: [{base_url: "http://x/v1"}]}
  - {id: qwen, aliases: [q], reasoning: {parser: think}, upstreams: [{base_url: "http://x/v1"}]}
  - {id: plain, upstreams: [{base_url: "http://x/v1"}]}
  - {id: fast, upstreams: [{kind: vllm, base_url: "http://x/v1"}, {kind: openai, base_url: "http://y/v1"}]}
  - {id: vision, capabilities: [chat, vision], upstreams: [{base_url: "http://x/v1"}]}
  - {id: whisper, capabilities: [transcription], upstreams: [{base_url: "http://x/v1"}]}
`), func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}

	for fields, want := range map[string]struct {
		code fault.Code
		says string
	}{
		`"model":"gpt-os"`:  {inference.ModelNotFound, "Did you mean `gpt-oss`"},
		`"model":"whisper"`: {fault.InvalidOption, "does not support chat"},
		`"model":"gpt-oss","reasoning_effort":"medium"`:                                                          {fault.InvalidOption, "`low`, `high`"},
		`"model":"plain","reasoning_effort":"low"`:                                                               {fault.InvalidOption, "not supported with the model `plain`"},
		`"model":"plain","n":2`:                                                                                  {fault.InvalidOption, "must be 1 with the model `plain`"},
		`"model":"plain","logprobs":true`:                                                                        {fault.InvalidOption, "not supported with the model `plain`"},
		`"model":"fast","n":2,"tools":[{"type":"browser_search"}]`:                                               {fault.InvalidOption, "must be 1 with a built-in tool"},
		`"model":"plain","reasoning_effort":"none"`:                                                              {fault.InvalidOption, "not supported with the model `plain`"},
		`"model":"gpt-oss","reasoning_format":"parsed"`:                                                          {fault.InvalidOption, "include_reasoning"},
		`"model":"gpt-oss","max_completion_tokens":101`:                                                          {fault.InvalidOption, "at most 100"},
		`"model":"vision","tools":[{"type":"code_interpreter"}]`:                                                 {fault.InvalidOption, "does not support tool calling"},
		`"model":"q","tools":[{"type":"function","function":{"name":"browser_open"}},{"type":"browser_search"}]`: {fault.InvalidOption, "rename the function"},
	} {
		t.Run(fields, func(t *testing.T) {
			_, err := c.Admit(parse(t, fmt.Sprintf(`{%s,"messages":[{"role":"user","content":"Hi"}]}`, fields)))
			if e := inference.AsError(err); e == nil || e.Code != want.code || !strings.Contains(e.Message, want.says) {
				t.Errorf("got %+v, want %s with %q", e, want.code, want.says)
			}
		})
	}

	r := parse(
		t,
		`{"model":"qwen","messages":[{"role":"user","content":[{"type":"image_url","image_url":"https://example.org/a.png"}]}]}`,
	)
	if _, err := c.Admit(r); err == nil || !strings.Contains(err.Error(), "does not support images") {
		t.Errorf("an image: got %v, want \"does not support images\"", err)
	}

	for fields, want := range map[string]inference.ReasoningFormat{
		`"model":"q"`: inference.Raw, `"model":"q",` + weatherTool: inference.Parsed, `"model":"gpt-oss"`: inference.Parsed,
		`"model":"q","reasoning_effort":"max"`:        inference.Raw,
		`"model":"gpt-oss","include_reasoning":false`: inference.Hidden, `"model":"q","reasoning_format":"hidden"`: inference.Hidden,
	} {
		t.Run(fields, func(t *testing.T) {
			r := parse(t, fmt.Sprintf(`{%s,"messages":[{"role":"user","content":"Hi"}]}`, fields))
			if _, err := c.Admit(r); err != nil || r.ReasoningFormat != want {
				t.Errorf("got the format %q, %v; want %q", r.ReasoningFormat, err, want)
			}

			before := *r
			if _, err := c.Admit(r); err != nil || !reflect.DeepEqual(before, *r) {
				t.Errorf("the second Admit: got %v and the request %+v, want it unchanged", err, r)
			}
		})
	}
}

func TestInvalidTextRequestsNameTheField(t *testing.T) {
	t.Parallel()

	with := func(field string) string { return `{"model":"m","prompt":"Once",` + field + `}` }
	for body, want := range map[string][2]string{
		`{"model":"m"}`:                                                   {"prompt", "missing"},
		`{"model":"m","prompt":7}`:                                        {"prompt", "a list of texts"},
		`{"model":"m","prompt":[]}`:                                       {"prompt", "a list of texts"},
		`{"model":"m","prompt":["a",null]}`:                               {"prompt", "a list of texts"},
		`{"model":"m","prompt":["a",1]}`:                                  {"prompt", "a list of texts"},
		`{"model":"m","prompt":["a","b"],"n":100}`:                        {"n", "at most 128"},
		`{"model":"m","prompt":[` + strings.Repeat(`"a",`, 128) + `"a"]}`: {"prompt", "at most 128 prompts"},
		with(`"logprobs":true`):                                           {"logprobs", "a whole number"},
		with(`"logprobs":6`):                                              {"logprobs", "between 0 and 5"},
		with(`"best_of":2`):                                               {"best_of", "must be 1"},
		with(`"max_tokens":0`):                                            {"max_tokens", "at least 1"},
	} {
		t.Run(body, func(t *testing.T) {
			_, err := wire.ParseTextRequest([]byte(body), wire.ParseOptions{})

			e := inference.AsError(err)
			if e == nil || e.Status != 400 || e.Param != want[0] || !strings.Contains(e.Message, want[1]) {
				t.Errorf("got %+v, want the field %s and %q", e, want[0], want[1])
			}
		})
	}

	for prompt, n := range map[string]int{`"a"`: 1, `[1,2]`: 1, `["a","b"]`: 2, `[[1],[2,3],[4]]`: 3} {
		t.Run(prompt, func(t *testing.T) {
			r, err := wire.ParseTextRequest([]byte(`{"model":"m","n":2,"prompt":`+prompt+`}`), wire.ParseOptions{})
			if err != nil || r.Choices() != 2*n || r.MaxTokens != 16 {
				t.Errorf("got %+v, %v; want %d choices", r, err, 2*n)
			}
		})
	}
}

// FuzzParseRequest checks that any body is rejected with status 400 or 413, or has a model and messages.
func FuzzParseRequest(f *testing.F) {
	f.Add([]byte(allFields))
	f.Add([]byte(
		`{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,"}}]}],"tools":[{"type":"function","function":{"name":"f","parameters":{"$ref":"#/$defs/a","$defs":{"a":{"pattern":"(?=x)"}}}}}]}`,
	))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := wire.ParseRequest(body, wire.ParseOptions{})
		if err != nil {
			if e := inference.AsError(err); e.Status != 400 && e.Status != 413 {
				t.Errorf("got %+v, want status 400 or 413", e)
			}

			return
		}

		if r.Model == "" || len(r.Messages) == 0 {
			t.Errorf("got the request %+v, want a model and messages, or an error", r)
		}
	})
}
