package wire_test

import (
	"fmt"
	"strings"
	"testing"

	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/inference/openai/wire"
)

const hi = `"messages":[{"role":"user","content":"Hi"}]`

// with returns a request with a message and the field.
func with(field string) string { return `{"model":"m",` + hi + `,` + field + `}` }

// message returns a request with only the message.
func message(m string) string { return `{"model":"m","messages":[` + m + `]}` }

func TestInvalidRequestsNameTheField(t *testing.T) {
	t.Parallel()

	for body, want := range map[string]struct {
		code        fault.Code
		param, says string
	}{
		``:                                     {fault.InvalidJSON, "", "empty"},
		`{"model":`:                            {fault.InvalidJSON, "", "JSON"},
		`[]`:                                   {fault.InvalidType, "", "an object"},
		`{"model":"m",` + hi + `,"model":"n"}`: {fault.InvalidJSON, "model", "more than once"},
		message(`{"role":"user","content":"a","content":"b"}`): {
			fault.InvalidJSON,
			"messages[0].content",
			"more than once",
		},
		`null`:                                         {fault.InvalidType, "", "an object"},
		message(`null`):                                {fault.InvalidType, "messages[0]", "an object"},
		`{` + hi + `}`:                                 {fault.InvalidOption, "model", "missing"},
		`{"model":7,` + hi + `}`:                       {fault.InvalidType, "model", "a string"},
		`{"model":"m"}`:                                {fault.InvalidOption, "messages", "missing"},
		`{"model":"m","messages":[]}`:                  {fault.InvalidOption, "messages", "minimum number of items is 1"},
		`{"model":"m","messages":"x"}`:                 {fault.InvalidType, "messages", "a list"},
		message(`"x"`):                                 {fault.InvalidType, "messages[0]", "an object"},
		message(`{"content":"x"}`):                     {fault.InvalidOption, "messages[0].role", "missing"},
		message(`{"role":"usr","content":"x"}`):        {fault.InvalidOption, "messages[0].role", `did you mean "user"`},
		message(`{"role":"user"}`):                     {fault.InvalidOption, "messages[0].content", "missing"},
		message(`{"role":"user","content":5}`):         {fault.InvalidType, "messages[0].content", "a string or a list"},
		message(`{"role":"assistant","content":null}`): {fault.InvalidOption, "messages[0].content", "tool_calls"},
		message(`{"role":"tool","content":"x"}`):       {fault.InvalidOption, "messages[0].tool_call_id", "missing"},
		message(`{"role":"user","content":[{"type":"video"}]}`): {
			fault.InvalidOption,
			"messages[0].content[0].type",
			"image_url",
		},
		message(`{"role":"system","content":[{"type":"image_url","image_url":{"url":"https://x.org"}}]}`): {
			fault.InvalidOption,
			"messages[0].content[0].type",
			"must be one of [text]",
		},
		message(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"file:///etc/passwd"}}]}`): {
			fault.InvalidOption,
			"messages[0].content[0].image_url.url",
			"http or https",
		},
		message(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}`): {
			fault.InvalidOption,
			"messages[0].content[0].image_url.url",
			"cannot be read",
		},
		message(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,*"}}]}`): {
			fault.InvalidOption,
			"messages[0].content[0].image_url.url",
			"damaged",
		},
		message(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/svg+xml;base64,PHN2Zy8+"}}]}`): {
			fault.InvalidOption,
			"messages[0].content[0].image_url.url",
			"image/svg+xml; allowed",
		},
		message(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"` + picture(8000, 5000) + `"}}]}`): {
			fault.InvalidOption,
			"messages[0].content[0].image_url.url",
			"pixels",
		},
		message(`{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":{}}}]}`): {
			fault.InvalidType,
			"messages[0].tool_calls[0].function.arguments",
			"a string",
		},
		with(`"temperature":2.5`):    {fault.InvalidOption, "temperature", "between 0 and 2"},
		with(`"temperature":"hot"`):  {fault.InvalidType, "temperature", "a number"},
		with(`"n":0`):                {fault.InvalidOption, "n", "between 1 and 128"},
		with(`"n":129`):              {fault.InvalidOption, "n", "between 1 and 128"},
		with(`"logprobs":2`):         {fault.InvalidType, "logprobs", "true or false"},
		with(`"top_logprobs":3`):     {fault.InvalidOption, "top_logprobs", "'logprobs' is true"},
		with(`"top_logprobs":21`):    {fault.InvalidOption, "top_logprobs", "between 0 and 20"},
		with(`"top_logprobs":"3"`):   {fault.InvalidType, "top_logprobs", "a whole number"},
		with(`"background":true`):    {fault.InvalidOption, "background", "not supported"},
		with(`"background":"yes"`):   {fault.InvalidType, "background", "true or false"},
		with(`"store":"yes"`):        {fault.InvalidType, "store", "true or false"},
		with(`"service_tier":1`):     {fault.InvalidType, "service_tier", "a string"},
		with(`"logit_bias":{"5":1}`): {fault.InvalidOption, "logit_bias", "not supported"},
		with(`"max_tokens":0`):       {fault.InvalidOption, "max_tokens", "at least 1"},
		with(`"max_tokens":1e12`):    {fault.InvalidOption, "max_tokens", "between 1 and 2147483647"},
		with(`"seed":18446744073709551615`): {
			fault.InvalidOption,
			"seed",
			"between -9223372036854775808 and 9223372036854775807",
		},
		with(`"max_completion_tokens":1.5`):  {fault.InvalidType, "max_completion_tokens", "a whole number"},
		with(`"stop":["1","2","3","4","5"]`): {fault.InvalidOption, "stop", "at most 4"},
		with(`"stop":[1]`):                   {fault.InvalidType, "stop[0]", "a string"},
		with(`"stream":"yes"`):               {fault.InvalidType, "stream", "true or false"},
		with(`"stream_options":{}`):          {fault.InvalidOption, "stream_options", "'stream' is true"},
		with(`"service_tier":"flexx"`):       {fault.InvalidOption, "service_tier", `did you mean "flex"`},
		with(`"reasoning_effort":"lo"`):      {fault.InvalidOption, "reasoning_effort", `did you mean "low"`},
		with(`"reasoning_format":"raw","include_reasoning":true`): {
			fault.InvalidOption,
			"include_reasoning",
			"together",
		},
		with(`"reasoning_format":"raw","response_format":{"type":"json_object"}`): {
			fault.InvalidOption,
			"reasoning_format",
			"response_format",
		},
		with(`"reasoning_format":"raw",` + weatherTool): {fault.InvalidOption, "reasoning_format", "tools"},
		with(`"response_format":{"type":"xml"}`):        {fault.InvalidOption, "response_format.type", "json_schema"},
		with(`"response_format":{"type":"json_schema"}`): {
			fault.InvalidType,
			"response_format.json_schema",
			"an object",
		},
		with(`"response_format":{"type":"json_schema","json_schema":{"name":"a b"}}`): {
			fault.InvalidOption,
			"response_format.json_schema.name",
			"letters",
		},
		with(`"tools":[{"type":"functoin"}]`): {fault.InvalidOption, "tools[0].type", `did you mean "function"`},
		with(`"tools":[{"type":"function","function":{"name":"a.b"}}]`): {
			fault.InvalidOption,
			"tools[0].function.name",
			"letters",
		},
		with(`"tools":[{"type":"function","function":{"name":"f","parameters":[]}}]`): {
			fault.InvalidOption,
			"tools[0].function.parameters",
			"an object",
		},
		with(`"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"x"}}}]`): {
			fault.InvalidOption,
			"tools[0].function.parameters",
			"not a JSON Schema",
		},
		with(`"tools":[{"type":"function","function":{"name":"f","parameters":{"$ref":"http://127.0.0.1:1/x"}}}]`): {
			fault.InvalidOption,
			"tools[0].function.parameters",
			"another document",
		},
		with(`"tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"f"}}]`): {
			fault.InvalidOption,
			"tools[1].function.name",
			"two functions",
		},
		with(`"tool_choice":"required"`): {fault.InvalidOption, "tool_choice", "'tools' are given"},
		with(weatherTool + `,"tool_choice":{"type":"function"}`): {
			fault.InvalidOption,
			"tool_choice.name",
			"'name' is missing",
		},
		with(weatherTool + `,"tool_choice":"always"`): {fault.InvalidOption, "tool_choice", "required"},
		with(weatherTool + `,"tool_choice":{"type":"function","function":{"name":"whether"}}`): {
			fault.InvalidOption,
			"tool_choice.function.name",
			`did you mean "weather"`,
		},
	} {
		t.Run(body, func(t *testing.T) {
			_, err := wire.ParseRequest([]byte(body), wire.ParseOptions{})

			e := inference.AsError(err)
			if e == nil || e.Code != want.code || e.Param != want.param ||
				!strings.Contains(e.Message, want.says) || e.Status != 400 ||
				e.Type != inference.InvalidRequestType || e.Retryable {
				t.Errorf("got %+v, want %+v with status 400", e, want)
			}
		})
	}
}

func TestToolsAndImagesHaveLimits(t *testing.T) {
	t.Parallel()

	function := func(n, size int) string {
		return fmt.Sprintf(`{"type":"function","function":{"name":"f%d","parameters":{"description":%q}}}`, n,
			strings.Repeat("x", size))
	}

	var tools []string
	for n := range 128 {
		tools = append(tools, function(n, 1))
	}

	for says, tools := range map[string][]string{
		"at most 128 tools":                append(tools, "7"), // the count is checked before the tools
		"at most 524288 bytes together":    {function(1, 200<<10), function(2, 200<<10), function(3, 200<<10)},
		"the schema has more than 262144 ": {function(1, 300<<10)},
	} {
		t.Run(says, func(t *testing.T) {
			_, err := wire.ParseRequest([]byte(with(`"tools":[`+strings.Join(tools, ",")+`]`)), wire.ParseOptions{})
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("got %.200v, want an error with %q", err, says)
			}
		})
	}

	image := `{"type":"image_url","image_url":{"url":"` + picture(4, 4) + `"}}`
	many := message(`{"role":"user","content":[` + strings.Repeat(image+",", 5) + image + `]}`)

	_, err := wire.ParseRequest([]byte(many), wire.ParseOptions{})
	if err == nil || !strings.Contains(err.Error(), "at most 5 images") {
		t.Errorf("six images: got %v, want an error with \"at most 5 images\"", err)
	}

	_, err = wire.ParseRequest(
		[]byte(message(`{"role":"user","content":[`+image+`]}`)),
		wire.ParseOptions{MaxImageBytes: 20},
	)
	if e := inference.AsError(err); e == nil || e.Status != 413 {
		t.Errorf("a large image: got %+v, want status 413", e)
	}
}
