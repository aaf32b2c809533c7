package responses

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"presswork/internal/inference"
	"presswork/internal/inference/jsonbody"
)

// parser reads one request.
type parser struct {
	jsonbody.Object
	options Options
	// limits checks the sizes of images and schemas.
	limits jsonbody.Limits
	r      *inference.Request // the result
	f      *Format            // how the answer is written
	// decisions are those of the user about calls on MCP servers.
	decisions map[string]decision
}

// readModel reads the model first: a wrong one must not cost the reading of a long input.
func (p *parser) readModel() {
	p.r.Model = p.Required("model")
	if !p.Failed() {
		*p.Err = p.options.CheckModel(p.r.Model)
	}
}

// rejectStored rejects the fields that need stored answers.
func (p *parser) rejectStored() {
	const resend = "answers are not stored; leave it out and send the whole conversation in 'input'"

	for name, why := range map[string]string{
		"previous_response_id": resend,
		"conversation":         resend,
		"prompt":               "prompts are not stored; send the text in 'instructions' and 'input'",
	} {
		if p.Has(name) {
			p.Failf(name, "it is not supported: %s", why)
		}
	}

	if p.IsTrue("background") {
		p.Failf("background", "it is not supported: an answer is sent on the connection of its request; use 'stream'")
	}
	p.Boolean("store") // only its type is checked
}

// readOptions reads the limits, sampling options, tier and reasoning of the request.
func (p *parser) readOptions() {
	r := p.r
	if n := p.Integer("max_output_tokens", 1, math.MaxInt32); n != nil {
		r.MaxTokens = int(*n)
	}
	r.Temperature = p.Float("temperature", 0, 2)
	r.TopP = p.Float("top_p", 0, 1)
	r.Stream = p.IsTrue("stream")

	r.ParallelToolCalls = p.Boolean("parallel_tool_calls")
	if n := p.Integer("max_tool_calls", 0, math.MaxInt32); n != nil {
		r.MaxToolCalls = int(*n)
	}
	p.f.truncate = p.Enum("truncation", "auto", "disabled") == "auto"

	if r.User = p.Str("safety_identifier"); r.User == "" {
		r.User = p.Str("user")
	}

	// Vendors name tiers differently. The default tier, also called on_demand, needs no name.
	switch p.Enum("service_tier", "auto", "default", "flex", "priority", "scale", "fast", "ultrafast", "on_demand",
		"performance") {
	case "flex":
		r.ServiceTier = "flex"
	case "auto":
		r.ServiceTier = "auto"
	case "priority", "scale", "fast", "ultrafast", "performance":
		r.ServiceTier = "performance"
	}
	p.readInclude()
	p.checkMetadata()

	if n := p.Integer("top_logprobs", 0, 20); n != nil {
		r.TopLogprobs = int(*n)
	}
	r.Logprobs = p.f.logprobs
}

// includes are the known values of include.
var includes = []string{
	"code_interpreter_call.outputs",
	"computer_call_output.output.image_url",
	"file_search_call.results",
	"message.input_image.image_url",
	"message.output_text.logprobs",
	"reasoning.encrypted_content",
	"web_search_call.action.sources",
	"web_search_call.results",
}

// readInclude reads which optional fields the items of the answer have.
func (p *parser) readInclude() {
	p.List("include", func(item json.RawMessage, path string) {
		switch value := jsonbody.Text(item); value {
		case "code_interpreter_call.outputs":
			p.f.outputs = true
		case "message.output_text.logprobs":
			p.f.logprobs = true
		case "reasoning.encrypted_content":
			p.f.encrypt = true
		case "web_search_call.action.sources":
			p.f.sources = true
		default:
			// A known value of items that Presswork does not make is no error.
			if !slices.Contains(includes, value) {
				p.Failf(path, "value %q must be one of %q", jsonbody.Bounded(value, 60), includes)
			}
		}
	})
}

// checkMetadata checks the pairs that the answer repeats.
func (p *parser) checkMetadata() {
	if !p.Has("metadata") {
		return
	}

	pairs := p.Object.Object("metadata")
	if len(pairs.Fields) > 16 {
		p.Failf("metadata", "has %d pairs; allowed: up to 16", len(pairs.Fields))
	}

	for name := range pairs.Fields {
		if len(name) > 64 || len(pairs.Str(name)) > 512 {
			pairs.Failf(name, "names may have up to 64 bytes, values up to 512")
		}
	}
}

// readReasoning reads the effort, and whether the answer has summaries of the reasoning.
func (p *parser) readReasoning() {
	// The answer separates reasoning from the text.
	p.r.IncludeReasoning, p.r.ReasoningFormat = true, inference.Parsed

	if !p.Has("reasoning") {
		return
	}
	o := p.Object.Object("reasoning")
	p.r.ReasoningEffort = o.Enum("effort", inference.Efforts()...)

	summary := o.Str("summary")
	if summary == "" {
		summary = o.Str("generate_summary")
	}
	p.f.summary = summary != "" && summary != "none"
}

// readText reads the verbosity and the format of the answer's text.
func (p *parser) readText() {
	if !p.Has("text") {
		return
	}

	text := p.Object.Object("text")
	if v := text.Enum("verbosity", "low", "medium", "high"); v != "" {
		p.r.SetField("verbosity", text.Raw("verbosity"))
	}

	if !text.Has("format") {
		return
	}
	o, f := text.Object("format"), &p.r.Format

	switch kind := o.Enum("type", "text", inference.JSONObject, inference.JSONSchema); kind {
	case "":
		o.Failf("type", "property 'type' is missing")
	case inference.JSONObject:
		f.Type = kind
	case inference.JSONSchema:
		f.Type = kind
		if f.Name = o.Str("name"); !inference.ValidName(f.Name) {
			o.Failf("name", "must be 1 to 64 letters, digits, underscores and dashes")
		}
		f.Description, f.Strict = o.Str("description"), o.IsTrue("strict")
		f.Schema = p.limits.Schema(o, "schema")
	}
}

// repeated are the fields of the answer that repeat the request, each with its value when the request lacks it.
var repeated = [][2]string{
	{"instructions", `null`},
	{"max_output_tokens", `null`},
	{"max_tool_calls", `null`},
	{"metadata", `{}`},
	{"parallel_tool_calls", `true`},
	{"prompt_cache_key", `null`},
	{"reasoning", `{"effort":null,"summary":null}`},
	{"safety_identifier", `null`},
	{"temperature", `1`},
	{"text", `{"format":{"type":"text"}}`},
	{"tool_choice", `"auto"`},
	{"tools", `[]`},
	{"top_logprobs", `0`},
	{"top_p", `1`},
	{"truncation", `"disabled"`},
	{"user", `null`},
}

// repeatOptions writes the fields of the answer that repeat the request.
func (p *parser) repeatOptions() {
	// These fields are the same in every answer.
	b := []byte(`"background":false,"previous_response_id":null,"service_tier":"default","store":false,`)

	for _, field := range repeated {
		value := p.Raw(field[0])
		if field[0] == "tools" {
			value = withoutSecrets(value)
		}

		if value == nil {
			value = json.RawMessage(field[1])
		} else {
			value = oneLine(value)
		}
		b = append(strconv.AppendQuote(b, field[0]), ':')
		b = append(append(b, value...), ',')
	}
	p.f.options = b
}

// oneLine returns JSON without the characters that some clients take for the end of a line of an event.
func oneLine(value json.RawMessage) []byte {
	b, err := json.Marshal(value) // compacts it and escapes two line separators
	if err != nil {
		return []byte("null")
	}

	return bytes.ReplaceAll(b, []byte("\u0085"), []byte(`\u0085`))
}
