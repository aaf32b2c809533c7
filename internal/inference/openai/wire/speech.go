package wire

import (
	"unicode/utf8"

	"presswork/internal/inference"
	"presswork/internal/inference/jsonbody"
)

// maxSpeechInput is the longest text to be spoken, in characters.
const maxSpeechInput = 40_000

// ParseSpeech reads the body of a request for speech (OpenAI: audio/speech). Unknown fields are ignored. Errors
// are *inference.Error: 400 with the field and the allowed values.
func ParseSpeech(body []byte) (*inference.Speech, error) {
	var err error

	o := jsonbody.Parse(body, &err)
	if err != nil {
		return nil, err
	}
	r := &inference.Speech{
		Model:        o.Required("model"),
		Input:        o.Required("input"),
		Voice:        o.Required("voice"),
		Instructions: o.Str("instructions"),
		Format:       o.Enum("response_format", inference.SpeechFormats()...),
		Speed:        o.Float("speed", 0.25, 5),
		SampleRate:   o.Integer("sample_rate", 8000, 48000),
	}
	o.Enum("stream_format", "audio") // the answer is a stream of audio, not of events

	if n := utf8.RuneCountInString(r.Input); n > maxSpeechInput {
		o.Failf("input", "has %d characters; allowed: up to %d", n, maxSpeechInput)
	}

	if err != nil {
		return nil, err
	}

	return r, nil
}
