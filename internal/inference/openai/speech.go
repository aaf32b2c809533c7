package openai

import (
	"unicode/utf8"

	"presswork/internal/inference"
)

// maxInput is the longest text to be spoken, in characters.
const maxInput = 40_000

// ParseSpeech reads the body of a request for speech (OpenAI: audio/speech). Unknown fields are ignored. Errors
// are *inference.Error: 400 with the field and the allowed values.
func ParseSpeech(body []byte) (*inference.Speech, error) {
	var err error

	o := newObject(body, "", &err)
	if err != nil {
		if wrong := syntax(body); wrong != nil {
			return nil, wrong
		}

		return nil, err
	}
	r := &inference.Speech{
		Model:        o.str("model"),
		Input:        o.str("input"),
		Voice:        o.str("voice"),
		Instructions: o.str("instructions"),
		Format: o.enum(
			"response_format",
			inference.SpeechFormats()...),
		Speed:      o.float("speed", 0.25, 5),
		SampleRate: o.integer("sample_rate", 8000, 48000),
	}
	o.enum("stream_format", "audio")

	for name, value := range map[string]string{"model": r.Model, "input": r.Input, "voice": r.Voice} {
		if value == "" {
			o.failf(name, "property '%s' is missing", name)
		}
	}

	if n := utf8.RuneCountInString(r.Input); n > maxInput {
		o.failf("input", "has %d characters; allowed: up to %d", n, maxInput)
	}

	if err != nil {
		return nil, err
	}

	return r, nil
}
