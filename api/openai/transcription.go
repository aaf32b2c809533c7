package openai

import (
	"bufio"
	"encoding/base64"
	"errors"
	"io"
	"mime/multipart"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"presswork/api/access"
	"presswork/api/upload"
	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/inference/audio"
	"presswork/internal/input"
	"presswork/internal/lazyregexp"
	"presswork/tasks"
)

const (
	// maxAudioField is the longest text field of a request with a recording, in bytes.
	maxAudioField = 64 << 10
	// maxAudioFields is how many parts a request with a recording may have.
	maxAudioFields = 100
	// maxPrompt is the longest prompt, in bytes: Whisper reads 224 tokens.
	maxPrompt = 8 << 10
)

// Recorder receives the recording of a request for a transcript.
type Recorder interface {
	// Receive reads the recording, which came in the named field. A second call is an error.
	Receive(field string, from io.Reader) error
	// Arrived reports whether Receive was called.
	Arrived() bool
}

// TranscriptionForm is a request for a transcript as it was sent.
type TranscriptionForm struct {
	// Filename is the client's name of the recording.
	Filename string
	// URL is the address of the recording; "" when the form holds the recording.
	URL string

	recorder Recorder
	hold     *upload.Hold
	fields   map[string]string
	// granularities are the values of timestamp_granularities.
	granularities []string
}

// ReadTranscription reads a form whose recording r receives. hold counts the bytes of the other fields. Errors: those
// of upload.Broken, of hold and of r; InvalidRequest, InvalidType, InvalidURL, ContentTooLarge, ContentNotUTF8.
func ReadTranscription(body io.Reader, boundary string, hold *upload.Hold, r Recorder) (*TranscriptionForm, error) {
	f := &TranscriptionForm{recorder: r, hold: hold, fields: map[string]string{}}

	return f, f.read(multipart.NewReader(bufio.NewReaderSize(body, upload.Buffer), boundary))
}

// read reads all parts of the form.
func (f *TranscriptionForm) read(parts *multipart.Reader) error {
	for range maxAudioFields {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}

		if err != nil {
			return upload.Broken(err)
		}

		if err := f.readPart(part); err != nil {
			return err
		}
	}

	return fault.Errorf(fault.InvalidRequest, "the form has more than %d fields", maxAudioFields)
}

// readPart reads a part of the form.
func (f *TranscriptionForm) readPart(part *multipart.Part) error {
	name := part.FormName()
	switch name {
	case "file":
		f.Filename = part.FileName()
		return f.recorder.Receive(name, part)
	case "url":
		return f.readURL(part)
	case "model", "prompt", "language", "response_format", "temperature", "stream",
		"timestamp_granularities[]", "timestamp_granularities":
	default:
		// SDKs send fields and lists, such as include[], that no model here uses.
		return nil
	}

	data, err := upload.ReadPart(f.hold.InMemory(part), maxAudioField, input.Clip(name))
	if err != nil {
		return err
	}

	if !utf8.Valid(data) {
		return fault.Errorf(fault.ContentNotUTF8, "%s is not valid UTF-8", input.Quote(name)).
			WithParam(input.Clip(name))
	}

	text := string(data)
	if name == "timestamp_granularities[]" || name == "timestamp_granularities" {
		f.granularities = append(f.granularities, text)
		return nil
	}

	if _, twice := f.fields[name]; twice {
		return fault.Errorf(fault.InvalidType, "the form has the field %s twice", input.Quote(name)).
			WithParam(input.Clip(name))
	}
	f.fields[name] = text

	return nil
}

// readURL reads the field url. A data: URI holds the recording itself; readURL decodes it as it arrives.
func (f *TranscriptionForm) readURL(part io.Reader) error {
	r := bufio.NewReader(part)
	if head, _ := r.Peek(5); !strings.EqualFold(string(head), "data:") {
		data, err := upload.ReadPart(f.hold.InMemory(r), maxAudioField, "url")
		f.URL = strings.TrimSpace(string(data))

		return err
	}

	var head []byte
	for len(head) < 256 {
		c, err := r.ReadByte()
		if err != nil || c == ',' {
			break
		}
		head = append(head, c)
	}

	if !strings.HasSuffix(strings.ToLower(string(head)), ";base64") {
		return fault.Errorf(fault.InvalidURL, "a data: URI must be in base64: data:audio/wav;base64,…").WithParam("url")
	}

	err := f.recorder.Receive("url", base64.NewDecoder(base64.RawStdEncoding, plainBase64{r}))
	if _, wrong := errors.AsType[base64.CorruptInputError](err); wrong {
		return fault.Errorf(fault.InvalidURL, "the data: URI is not valid base64").WithParam("url").WithCause(err)
	}

	return err
}

// plainBase64 converts base64 from the URL alphabet to the standard one and drops padding and line breaks.
type plainBase64 struct{ r io.Reader }

// Read implements io.Reader.
func (p plainBase64) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	kept := 0

	for _, c := range b[:n] {
		switch c {
		case '-':
			c = '+'
		case '_':
			c = '/'
		case '=', '\r', '\n':
			continue
		}
		b[kept] = c
		kept++
	}

	return kept, err
}

// languageCode matches an ISO 639 code. It allows a region or script after it, which engines do not need.
var languageCode = lazyregexp.New(`^([A-Za-z]{2,3})(?:[-_][A-Za-z0-9]+)*$`)

// Transcription checks the form and returns the task for a worker, without the storage key of the recording. task is
// inference.Transcribe or inference.Translate. Unknown fields are ignored. Errors are *inference.Error.
func (s *Service) Transcription(f *TranscriptionForm, caller access.Caller, task string) (tasks.Transcription, error) {
	p, err := f.checkFields(task, s.o.Lax)
	if err != nil {
		return p, err
	}

	m, err := s.Model(caller, p.Model)
	if err != nil {
		return p, err
	}

	if _, err := s.o.Models().Require(m.ID, inference.CanTranscribe); err != nil {
		return p, err
	}
	p.Model, p.Vendor = m.ID, s.o.Vendor

	return p, nil
}

// checkFields validates all fields and returns the task that they describe. It does not look up the model. With lax
// it accepts fields that cannot be combined. Errors are *inference.Error with the name of the field.
func (f *TranscriptionForm) checkFields(task string, lax bool) (p tasks.Transcription, err error) {
	if f.fields["model"] == "" {
		return p, inference.Invalidf("model", "'model' : property 'model' is missing")
	}

	if f.URL != "" && f.recorder.Arrived() && !lax {
		return p, inference.Invalidf("url", "give the recording as 'file' or as 'url', not both")
	}

	if f.URL == "" && !f.recorder.Arrived() {
		return p, inference.Invalidf("file", "the recording is missing: give it as 'file' or as 'url'")
	}

	if text := f.fields["stream"]; text != "" {
		if stream, err := strconv.ParseBool(text); err != nil || stream {
			return p, inference.Invalidf("stream", "'stream' is %s; transcripts cannot be streamed; leave it out",
				input.Quote(text))
		}
	}

	p.Model, p.Task = f.fields["model"], task
	if p.Prompt = f.fields["prompt"]; len(p.Prompt) > maxPrompt {
		return p, inference.Invalidf("prompt",
			"'prompt' has %d bytes; allowed: up to %d, of which models read the last 224 tokens",
			len(p.Prompt), maxPrompt)
	}

	if spoken := f.fields["language"]; spoken != "" && task == inference.Transcribe {
		m := languageCode().FindStringSubmatch(spoken)
		if m == nil && !lax {
			return p, inference.Invalidf("language", "'language' is %s; allowed: a code of ISO 639-1, such as en",
				input.Quote(spoken))
		}

		if m != nil {
			p.Language = strings.ToLower(m[1])
		}
	}

	if text := f.fields["temperature"]; text != "" {
		t, err := strconv.ParseFloat(text, 64)
		if err != nil || !(t >= 0 && t <= 1) {
			return p, inference.Invalidf("temperature", "'temperature' is %s; allowed: a number from 0 to 1",
				input.Quote(text))
		}
		p.Temperature = &t
	}

	return p, f.checkFormat(&p, lax)
}

// checkFormat sets the format of the transcript and the timestamps in it.
func (f *TranscriptionForm) checkFormat(p *tasks.Transcription, lax bool) error {
	p.Format = f.fields["response_format"]
	if p.Format == "" {
		p.Format = audio.JSON
	}

	if allowed := audio.ResponseFormats(); !slices.Contains(allowed, p.Format) {
		return inference.Invalidf("response_format", "'response_format' is %s%s; allowed: %s",
			input.Quote(p.Format), input.DidYouMean(p.Format, allowed), strings.Join(allowed, ", "))
	}

	for _, g := range f.granularities {
		switch g {
		case "segment":
			p.Segments = true
		case "word":
			p.Words = true
		default:
			return inference.Invalidf("timestamp_granularities",
				"'timestamp_granularities' has %s%s; allowed: word, segment",
				input.Quote(g), input.DidYouMean(g, []string{"word", "segment"}))
		}
	}

	if p.Format == audio.VerboseJSON {
		p.Segments = p.Segments || !p.Words
		return nil
	}

	if len(f.granularities) > 0 && !lax {
		return inference.Invalidf("timestamp_granularities",
			"'timestamp_granularities' needs 'response_format' verbose_json; it is %s", p.Format)
	}
	p.Segments, p.Words = false, false

	return nil
}
