package inference

import (
	"context"
	"io"
	"time"
)

// The tasks of a transcription: what language the text is in.
const (
	// Transcribe writes down what is said, in its language.
	Transcribe = "transcribe"
	// Translate writes it down in English.
	Translate = "translate"
)

// AudioEngine is an Engine that hears and speaks.
type AudioEngine interface {
	Engine
	// Transcribe sends one recording and returns the text. It calls life(false) for each
	// piece of the recording that it sends, and life(true) for each piece of the answer.
	// life must be safe for concurrent use. Failures of the upstream are *Error; it returns
	// at once when ctx ends.
	Transcribe(ctx context.Context, r *Transcription, life func(answer bool)) (*Transcript, error)
	// Speak sends a text and calls emit for each piece of the recording as it
	// comes, first with the content type and no data. An error of emit ends it and is returned as it is.
	Speak(ctx context.Context, r *Speech, emit func(*Sound) error) error
}

// Transcription is a request for the text of one recording.
type Transcription struct {
	// Model is the model's id; Owner is as in Request.
	Model string
	Owner string
	// Task is Transcribe or Translate.
	Task string
	// Language is what is spoken, an ISO 639-1 code; "" is for the model to find out.
	Language string
	// Prompt is text that came before, or how names are spelled.
	Prompt string
	// Temperature is 0 to 1; nil is the engine's own.
	Temperature *float64
	// Timed requests segments with times. Words also requests the times of words.
	Timed, Words bool
	// Name ends in what the recording is, such as "audio.wav".
	Name string
	// Duration is how long the recording is; 0 is unknown.
	Duration time.Duration
	// Size is how many bytes Open's reader yields.
	Size int64
	// Open reads the recording from its start; it is called for each try.
	Open func() io.Reader
}

// Transcript is what was said. Times are in seconds from the start.
type Transcript struct {
	// Language is as the upstream names it, such as "english" or "en"; "" where it does not.
	Language string  `json:"language,omitempty"`
	Duration float64 `json:"duration"`
	Text     string  `json:"text"`
	// Segments are none where the upstream gives no times.
	Segments []Segment `json:"segments,omitempty"`
	// Words were asked for.
	Words []Word `json:"words,omitempty"`
	// Untimed reports that the times which were asked for are missing.
	Untimed bool `json:"untimed,omitempty"`
}

// Segment is a sentence or a piece of one.
type Segment struct {
	ID int `json:"id"`
	// Seek is where the engine's window began, in hundredths of a second.
	Seek  int     `json:"seek"`
	Start float64 `json:"start"`
	End   float64 `json:"end"`
	Text  string  `json:"text"`
	// Tokens are the model's; Temperature is what the segment was sampled with.
	Tokens      []int   `json:"tokens"`
	Temperature float64 `json:"temperature"`
	// AvgLogprob below -1 and CompressionRatio above 2.4 mean that the engine
	// doubted the text; NoSpeechProb is how probably nothing was said.
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

// Speech is a request for a text to be spoken. As JSON it travels through the
// queue.
type Speech struct {
	Model string `json:"model"`
	Owner string `json:"owner,omitempty"`
	Input string `json:"input"`
	Voice string `json:"voice"`
	// Format is one of SpeechFormats, "" for the engine's own.
	Format string `json:"format,omitempty"`
	// Instructions say how to speak.
	Instructions string `json:"instructions,omitempty"`
	// Speed is a factor, SampleRate in Hz; nil leaves them to the engine.
	Speed      *float64 `json:"speed,omitempty"`
	SampleRate *int64   `json:"sample_rate,omitempty"`
}

// SpeechFormats are the forms of a spoken text.
func SpeechFormats() []string {
	return []string{"mp3", "opus", "aac", "flac", "wav", "pcm", "ogg", "mulaw"}
}

// Sound is a piece of a spoken text.
type Sound struct {
	// ContentType comes first, alone.
	ContentType string `json:"content_type,omitempty"`
	Data        []byte `json:"data,omitempty"`
}

// AdmitAudio finds the model of a request for CanTranscribe or CanSpeak. Errors are *Error: 404
// for an unknown model, 400 for one that cannot do it.
func (c *Catalogue) AdmitAudio(name, capability string) (*Model, error) {
	m, err := c.Find(name)
	if err != nil {
		return nil, err
	}

	if !m.Can(capability) {
		return nil, Invalidf("model", "the model `%s` does not support %s", m.ID, capability)
	}

	return m, nil
}
