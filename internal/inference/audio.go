package inference

import (
	"context"
	"io"
	"time"
)

// Tasks of a transcription. They differ in the language of the text.
const (
	// Transcribe returns the text in the spoken language.
	Transcribe = "transcribe"
	// Translate returns the text in English.
	Translate = "translate"
)

// AudioEngine is an Engine that transcribes and speaks.
type AudioEngine interface {
	Engine
	// Transcribe sends one recording and returns the text. It calls progress(false) for each piece of the recording
	// that it sends, and progress(true) for each piece of the answer. progress must be safe for concurrent use.
	// Failures of the upstream are *Error. Transcribe returns at once when ctx ends.
	Transcribe(ctx context.Context, r *Transcription, progress func(answer bool)) (*Transcript, error)
	// Speak sends a text and calls emit for each piece of the recording, first with the content type and no data.
	// An error of emit ends the call and is returned unchanged.
	Speak(ctx context.Context, r *Speech, emit func(*Sound) error) error
}

// Transcription is a request for the text of one recording.
type Transcription struct {
	// Model is the model's id; Owner is as in Request.
	Model string
	Owner string
	// Task is Transcribe or Translate.
	Task string
	// Language is the spoken language, an ISO 639-1 code. With "" the model detects it.
	Language string
	// Prompt is preceding text, or the spelling of names.
	Prompt string
	// Temperature is 0 to 1; nil is the engine's default.
	Temperature *float64
	// Timed requests segments with times. Words also requests the times of words.
	Timed, Words bool
	// Name ends in the format of the recording, such as "audio.wav".
	Name string
	// Duration is the length of the recording; 0 is unknown.
	Duration time.Duration
	// Size is the number of bytes that Open's reader yields.
	Size int64
	// Open reads the recording from its start. It is called for each attempt.
	Open func() io.Reader
}

// Transcript is the text of a recording. Times are in seconds from the start.
type Transcript struct {
	// Language is the spoken language as the upstream names it, such as "english" or "en"; "" when unknown.
	Language string  `json:"language,omitempty"`
	Duration float64 `json:"duration"`
	Text     string  `json:"text"`
	// Segments is empty if the upstream returns no times.
	Segments []Segment `json:"segments,omitempty"`
	// Words is set on request.
	Words []Word `json:"words,omitempty"`
	// Untimed reports that requested times are missing.
	Untimed bool `json:"untimed,omitempty"`
}

// Segment is a sentence or a piece of one.
type Segment struct {
	// ID counts from 0.
	ID int `json:"id"`
	// Seek is where the engine's window began, in hundredths of a second.
	Seek int `json:"seek"`
	// Start and End are seconds from the start of the recording.
	Start float64 `json:"start"`
	End   float64 `json:"end"`
	Text  string  `json:"text"`
	// Tokens are the ids of the model's tokens. Temperature is the one with which the segment was sampled.
	Tokens      []int   `json:"tokens"`
	Temperature float64 `json:"temperature"`
	// An AvgLogprob below -1 or a CompressionRatio above 2.4 indicates that the text is doubtful. NoSpeechProb is the
	// probability of silence.
	AvgLogprob       float64 `json:"avg_logprob"`
	CompressionRatio float64 `json:"compression_ratio"`
	NoSpeechProb     float64 `json:"no_speech_prob"`
}

// Word is one word with its time.
type Word struct {
	Word  string  `json:"word"`
	Start float64 `json:"start"`
	End   float64 `json:"end"`
}

// Speech is a request to speak a text. It goes through the queue as JSON.
type Speech struct {
	// Owner is as in Request. Input is the text. Voice is a name that the engine knows.
	Model string `json:"model"`
	Owner string `json:"owner,omitempty"`
	Input string `json:"input"`
	Voice string `json:"voice"`
	// Format is one of SpeechFormats, or "" for the engine's default.
	Format string `json:"format,omitempty"`
	// Instructions say how to speak.
	Instructions string `json:"instructions,omitempty"`
	// Speed is a factor of the normal speed, SampleRate is in Hz; nil leaves them to the engine.
	Speed      *float64 `json:"speed,omitempty"`
	SampleRate *int64   `json:"sample_rate,omitempty"`
}

// SpeechFormats returns the formats of spoken text.
func SpeechFormats() []string {
	return []string{"mp3", "opus", "aac", "flac", "wav", "pcm", "ogg", "mulaw"}
}

// Sound is a piece of a spoken text.
type Sound struct {
	// ContentType is set on the first piece, which has no Data.
	ContentType string `json:"content_type,omitempty"`
	Data        []byte `json:"data,omitempty"`
}
