package openai

import (
	"cmp"
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
		return nil, cmp.Or(syntaxError(body), err)
	}
	r := &inference.Speech{
		Model:        o.required("model"),
		Input:        o.required("input"),
		Voice:        o.required("voice"),
		Instructions: o.str("instructions"),
		Format: o.enum(
			"response_format",
			inference.SpeechFormats()...),
		Speed:      o.float("speed", 0.25, 5),
		SampleRate: o.integer("sample_rate", 8000, 48000),
	}
	o.enum("stream_format", "audio")

	if n := utf8.RuneCountInString(r.Input); n > maxInput {
		o.failf("input", "has %d characters; allowed: up to %d", n, maxInput)
	}

	if err != nil {
		return nil, err
	}

	return r, nil
}
