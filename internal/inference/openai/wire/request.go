package wire

import (
	"math"

	"presswork/internal/inference"
	"presswork/internal/inference/jsonbody"
)

// ParseOptions bounds the content of a request.
type ParseOptions struct {
	// Lax accepts options that cannot be combined or are not supported, and ignores them where necessary. It is
	// for SDK tests that set all parameters.
	Lax bool
	// CheckModel returns an error for a model before the rest of the body is read. Default: every model is
	// accepted.
	CheckModel func(id string) error
	// MaxImages bounds the images of a request. Default 5.
	MaxImages int
	// MaxImageBytes bounds the image of a data URI, decoded. Default 20 MB.
	MaxImageBytes int
}

// ParseRequest reads the body of a chat completion. Unknown fields are ignored. Catalogue.Admit checks everything
// that depends on the model. Errors are *inference.Error: 400 with the field and the allowed values, or 413 for an
// image that is too large.
func ParseRequest(body []byte, o ParseOptions) (*inference.Request, error) {
	return parseBody(body, o, func(p *parser) []func(*inference.Request) {
		return []func(*inference.Request){
			p.readModel,
			p.readMessages,
			p.readSampling,
			p.readChoices,
			p.readLogprobs,
			p.readStream,
			p.readTools,
			p.readFormat,
			p.readReasoning,
			p.checkCombinations,
		}
	})
}

// parseBody reads a body in steps, up to the first error.
func parseBody(
	body []byte,
	o ParseOptions,
	steps func(*parser) []func(*inference.Request),
) (*inference.Request, error) {
	if o.MaxImages <= 0 {
		o.MaxImages = jsonbody.MaxImages
	}
	var err error

	p := parser{
		Object:     jsonbody.Parse(body, &err),
		lax:        o.Lax,
		checkModel: o.CheckModel,
		maxImages:  o.MaxImages,
		limits:     jsonbody.Limits{MaxImageBytes: o.MaxImageBytes},
	}
	if err != nil {
		return nil, err
	}

	r := &inference.Request{}
	for _, step := range steps(&p) {
		if step(r); err != nil {
			return nil, err
		}
	}

	return r, nil
}

// parser reads one request.
type parser struct {
	jsonbody.Object
	lax        bool // accepts options that cannot be combined
	checkModel func(id string) error
	maxImages  int
	limits     jsonbody.Limits
}

// readModel reads the model and stops at one that checkModel rejects.
func (p *parser) readModel(r *inference.Request) {
	if r.Model = p.Str("model"); r.Model == "" {
		p.Failf("model", "property 'model' is missing")
	}

	if p.checkModel != nil && !p.Failed() {
		*p.Err = p.checkModel(r.Model)
	}
}

// readSampling reads the options of generation, the fallbacks and the service tier.
func (p *parser) readSampling(r *inference.Request) {
	least := int64(1)
	if p.lax {
		least = 0
	}

	for _, name := range []string{"max_tokens", "max_completion_tokens"} { // max_completion_tokens takes precedence
		if n := p.Integer(name, least, math.MaxInt32); n != nil {
			r.MaxTokens = int(*n)
		}
	}
	r.Temperature = p.Float("temperature", 0, 2)
	r.TopP = p.Float("top_p", 0, 1)
	r.FrequencyPenalty = p.Float("frequency_penalty", -2, 2)
	r.PresencePenalty = p.Float("presence_penalty", -2, 2)
	r.Seed = p.Integer("seed", math.MinInt64, math.MaxInt64)

	r.User = p.Str("user")

	p.Enum("verbosity", "low", "medium", "high") // only its value is checked; it is one of the vendor fields

	r.Fields = inference.KeepVendorFields(p.Fields)
	if v := p.Raw("stop"); v != nil && v[0] == '"' {
		r.Stop = []string{p.Str("stop")}
	} else if v != nil {
		r.Stop = jsonbody.Strings(p.Object, "stop")
	}

	if len(r.Stop) > 4 {
		p.Failf("stop", "at most 4 stop sequences are allowed")
	}

	if p.Has("models") {
		r.Fallbacks = jsonbody.Strings(p.Object, "models")
	}

	if len(r.Fallbacks) > inference.MaxFallbacks {
		p.Failf("models", "at most %d models are allowed", inference.MaxFallbacks)
	}

	// Clients of OpenAI send its names of tiers, which become Groq's.
	tiers := []string{"auto", "on_demand", "flex", "performance", "default", "priority", "scale"}
	switch r.ServiceTier = p.Enum("service_tier", tiers...); r.ServiceTier {
	case "", "default":
		r.ServiceTier = "on_demand"
	case "priority", "scale":
		r.ServiceTier = "performance"
	}
}

// readLogprobs reads the options for the probabilities of tokens.
func (p *parser) readLogprobs(r *inference.Request) {
	if p.lax {
		return
	}

	r.Logprobs = p.IsTrue("logprobs")
	if top := p.Integer("top_logprobs", 0, 20); top != nil {
		if r.TopLogprobs = int(*top); *top > 0 && !r.Logprobs {
			p.Failf("top_logprobs", "it is only allowed when 'logprobs' is true")
		}
	}
}

// readChoices reads n. It rejects options that are not supported and would change the answer.
func (p *parser) readChoices(r *inference.Request) {
	if p.lax {
		return
	}

	if n := p.Integer("n", 1, maxChoices); n != nil && *n > 1 {
		r.N = int(*n)
	}

	if r.Choices() > maxChoices {
		p.Failf("n", "at most %d answers per request are allowed", maxChoices)
	}

	if p.IsTrue("background") {
		p.Failf(
			"background",
			"it is not supported: an answer is sent on the connection of its request. "+
				"A retry with the same 'Idempotency-Key' receives it from its beginning",
		)
	}
	p.Boolean("store") // only its type is checked: answers are not stored

	if v := p.Raw("logit_bias"); v != nil && len(p.Object.Object("logit_bias").Fields) > 0 {
		p.Failf("logit_bias", "it is not supported")
	}
}

// readStream reads whether the answer is a stream, and whether the stream ends with the usage.
func (p *parser) readStream(r *inference.Request) {
	r.Stream = p.IsTrue("stream")
	if !p.Has("stream_options") {
		return
	}

	if !r.Stream && !p.lax {
		p.Failf("stream_options", "it is only allowed when 'stream' is true")
		return
	}
	r.IncludeUsage = r.Stream && p.Object.Object("stream_options").IsTrue("include_usage")
}

// readFormat reads the format of the answer.
func (p *parser) readFormat(r *inference.Request) {
	if !p.Has("response_format") {
		return
	}

	f := p.Object.Object("response_format")
	switch kind := f.Enum("type", "text", inference.JSONObject, inference.JSONSchema); kind {
	case "":
		f.Failf("type", "property 'type' is missing")
	case inference.JSONObject:
		r.Format.Type = kind
	case inference.JSONSchema:
		r.Format.Type = kind

		s := f.Object("json_schema")
		if r.Format.Name = s.Str("name"); !inference.ValidName(r.Format.Name) {
			s.Failf("name", "must be 1 to 64 letters, digits, underscores and dashes")
		}
		r.Format.Description = s.Str("description")
		r.Format.Strict = s.IsTrue("strict")
		r.Format.Schema = p.limits.Schema(s, "schema")
	}
}

// readReasoning reads reasoning_effort, reasoning_format and include_reasoning.
func (p *parser) readReasoning(r *inference.Request) {
	r.ReasoningEffort = p.Enum("reasoning_effort", inference.Efforts()...)
	r.ReasoningFormat = inference.ReasoningFormat(p.Enum("reasoning_format", inference.ReasoningFormats()...))

	include := p.Boolean("include_reasoning")
	switch {
	case include == nil:
	case r.ReasoningFormat != "":
		if !p.lax {
			p.Failf("include_reasoning", "it cannot be used together with 'reasoning_format'; leave one of them out")
		}
	default:
		r.IncludeReasoning, r.ReasoningFormat = true, inference.Hidden
		if *include {
			r.ReasoningFormat = inference.Parsed
		}
	}
}

// checkCombinations rejects fields that cannot be combined.
func (p *parser) checkCombinations(r *inference.Request) {
	if r.ReasoningFormat != inference.Raw || !(r.Format.JSON() || len(r.Tools) > 0) {
		return
	}

	if p.lax {
		r.ReasoningFormat = inference.Parsed
		return
	}

	with := "tools"
	if r.Format.JSON() {
		with = "response_format"
	}
	p.Failf("reasoning_format", "'raw' cannot be used together with '%s'; use 'parsed' or 'hidden'", with)
}
