package openai

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"net/http"

	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/inference/schema"
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
		o.MaxImages = 5
	}

	if o.MaxImageBytes <= 0 {
		o.MaxImageBytes = 20 << 20
	}
	var err error

	p := parser{
		object:        newObject(body, "", &err),
		lax:           o.Lax,
		checkModel:    o.CheckModel,
		maxImages:     o.MaxImages,
		maxImageBytes: o.MaxImageBytes,
	}
	if err != nil {
		return nil, cmp.Or(syntaxError(body), err)
	}

	r := &inference.Request{}
	for _, step := range steps(&p) {
		if step(r); err != nil {
			return nil, err
		}
	}

	return r, nil
}

// syntaxError returns an error that names the byte at which a body is not JSON; nil for valid JSON.
func syntaxError(body []byte) error {
	var value json.RawMessage

	err := json.Unmarshal(body, &value)
	if err == nil {
		return nil
	}

	if e, ok := errors.AsType[*json.SyntaxError](err); ok && len(body) > 0 {
		return inference.Errorf(
			http.StatusBadRequest,
			fault.InvalidJSON,
			"the body is not valid JSON (at byte %d): %s",
			e.Offset,
			e.Error(),
		)
	}

	return inference.Errorf(
		http.StatusBadRequest,
		fault.InvalidJSON,
		"the body is not valid JSON: it ends too early or is empty",
	)
}

// parser reads one request.
type parser struct {
	object
	lax                      bool
	checkModel               func(id string) error
	maxImages, maxImageBytes int
	schemas                  int // bytes of the schemas read so far
}

func (p *parser) readModel(r *inference.Request) {
	if r.Model = p.str("model"); r.Model == "" {
		p.failf("model", "property 'model' is missing")
	}

	if p.checkModel != nil && !p.failed() {
		*p.err = p.checkModel(r.Model)
	}
}

func (p *parser) readSampling(r *inference.Request) {
	least := int64(1)
	if p.lax {
		least = 0
	}

	for _, name := range []string{"max_tokens", "max_completion_tokens"} { // max_completion_tokens takes precedence
		if n := p.integer(name, least, math.MaxInt32); n != nil {
			r.MaxTokens = int(*n)
		}
	}
	r.Temperature = p.float("temperature", 0, 2)
	r.TopP = p.float("top_p", 0, 1)
	r.FrequencyPenalty = p.float("frequency_penalty", -2, 2)
	r.PresencePenalty = p.float("presence_penalty", -2, 2)
	r.Seed = p.integer("seed", math.MinInt64, math.MaxInt64)

	r.User = p.str("user")
	if v := p.raw("stop"); v != nil && v[0] == '"' {
		r.Stop = []string{p.str("stop")}
	} else {
		p.list("stop", func(item json.RawMessage, path string) {
			if item[0] != '"' {
				p.failType(path, "a string")
			}
			r.Stop = append(r.Stop, unquoted(item))
		})
	}

	if len(r.Stop) > 4 {
		p.failf("stop", "at most 4 stop sequences are allowed")
	}

	tiers := []string{"auto", "on_demand", "flex", "performance", "default", "priority", "scale"}
	switch r.ServiceTier = p.enum("service_tier", tiers...); r.ServiceTier {
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

	r.Logprobs = p.isTrue("logprobs")
	if top := p.integer("top_logprobs", 0, 20); top != nil {
		if r.TopLogprobs = int(*top); *top > 0 && !r.Logprobs {
			p.failf("top_logprobs", "it is only allowed when 'logprobs' is true")
		}
	}
}

// readChoices reads n. It rejects options that are not supported and would change the answer.
func (p *parser) readChoices(r *inference.Request) {
	if p.lax {
		return
	}

	if n := p.integer("n", 1, maxChoices); n != nil && *n > 1 {
		r.N = int(*n)
	}

	if r.Choices() > maxChoices {
		p.failf("n", "at most %d answers per request are allowed", maxChoices)
	}

	if p.isTrue("background") {
		p.failf(
			"background",
			"it is not supported: an answer is sent on the connection of its request. "+
				"A retry with the same 'Idempotency-Key' receives it from its beginning",
		)
	}
	p.boolean("store") // only its type is checked: answers are not stored

	if v := p.raw("logit_bias"); v != nil && len(p.object.object("logit_bias").fields) > 0 {
		p.failf("logit_bias", "it is not supported")
	}
}

func (p *parser) readStream(r *inference.Request) {
	r.Stream = p.isTrue("stream")
	if !p.has("stream_options") {
		return
	}

	if !r.Stream && !p.lax {
		p.failf("stream_options", "it is only allowed when 'stream' is true")
		return
	}
	r.IncludeUsage = r.Stream && p.object.object("stream_options").isTrue("include_usage")
}

func (p *parser) readFormat(r *inference.Request) {
	if !p.has("response_format") {
		return
	}

	f := p.object.object("response_format")
	switch kind := f.enum("type", "text", inference.JSONObject, inference.JSONSchema); kind {
	case "":
		f.failf("type", "property 'type' is missing")
	case inference.JSONObject:
		r.Format.Type = kind
	case inference.JSONSchema:
		r.Format.Type = kind

		s := f.object("json_schema")
		if r.Format.Name = s.str("name"); !namePattern.MatchString(r.Format.Name) {
			s.failf("name", "must be 1 to 64 letters, digits, underscores and dashes")
		}
		r.Format.Description = s.str("description")
		r.Format.Strict = s.isTrue("strict")
		r.Format.Schema = p.readSchema(s, "schema")
	}
}

// readSchema reads a JSON Schema.
func (p *parser) readSchema(o object, field string) json.RawMessage {
	v := o.raw(field)
	if v == nil || o.failed() {
		return nil
	}

	if p.schemas += len(v); p.schemas > maxSchemas {
		o.failf(field, "the schemas of a request may have at most %d bytes together", maxSchemas)
		return nil
	}

	if err := schema.Check(v); err != nil {
		o.failf(field, "%s", err)
	}

	return v
}

func (p *parser) readReasoning(r *inference.Request) {
	r.ReasoningEffort = p.enum("reasoning_effort", inference.Efforts()...)
	r.ReasoningFormat = inference.ReasoningFormat(p.enum("reasoning_format", inference.ReasoningFormats()...))

	include := p.boolean("include_reasoning")
	switch {
	case include == nil:
	case r.ReasoningFormat != "":
		if !p.lax {
			p.failf("include_reasoning", "it cannot be used together with 'reasoning_format'; leave one of them out")
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
	p.failf("reasoning_format", "'raw' cannot be used together with '%s'; use 'parsed' or 'hidden'", with)
}
