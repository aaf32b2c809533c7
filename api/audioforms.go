package api

import (
	"bufio"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"presswork/api/upload"
	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/inference/audio"
	"presswork/internal/input"
)

const (
	// maxAudioField is the longest text field of a request with a recording.
	maxAudioField = 64 << 10
	// maxAudioFields is how many parts such a form may have.
	maxAudioFields = 100
	// maxPrompt is the longest prompt: Whisper reads 224 tokens.
	maxPrompt = 8 << 10
)

// audioForm is a request for a transcript, as it was sent.
type audioForm struct {
	recording *recording
	// filename is what the caller calls the recording.
	filename string
	url      string
	fields   map[string]string
	// granularities are those of timestamp_granularities.
	granularities []string
}

// parseAudio reads a form with a recording, which r receives.
func (s *Server) parseAudio(c *fiber.Ctx, r *recording) (f *audioForm, err error) {
	media, params, err := mime.ParseMediaType(c.Get(fiber.HeaderContentType))
	if err != nil || media != fiber.MIMEMultipartForm {
		return nil, fault.Errorf(
			fault.UnsupportedMediaType,
			"Content-Type is %s; allowed: multipart/form-data",
			input.Quote(c.Get(fiber.HeaderContentType)),
		)
	}

	if params["boundary"] == "" {
		return nil, errNoBoundary
	}
	// A recording in a data: URI is a third longer.
	b, err := s.body(c, s.MaxAudioBytes/3*4+upload.FormOverhead, "a form with a recording")
	if err != nil {
		return nil, err
	}
	f = &audioForm{recording: r, fields: map[string]string{}}

	return f, f.read(multipart.NewReader(bufio.NewReaderSize(b, upload.Buffer), params["boundary"]))
}

func (f *audioForm) read(parts *multipart.Reader) error {
	for range maxAudioFields {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}

		if err != nil {
			return upload.Broken(err)
		}

		if err := f.take(part); err != nil {
			return err
		}
	}

	return fault.Errorf(fault.InvalidRequest, "the form has more than %d fields", maxAudioFields)
}

func (f *audioForm) take(part *multipart.Part) error {
	name := part.FormName()
	switch name {
	case "file":
		f.filename = part.FileName()
		return f.recording.receive(name, part)
	case "url":
		return f.takeURL(part)
	case "model", "prompt", "language", "response_format", "temperature", "stream",
		"timestamp_granularities[]", "timestamp_granularities":
	default:
		// SDKs send more fields, and lists such as include[], than models here take.
		return nil
	}

	data, err := upload.ReadPart(f.recording.held.InMemory(part), maxAudioField, input.Clip(name))
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

// takeURL reads an address; one that holds the recording itself is decoded as it
// comes.
func (f *audioForm) takeURL(part io.Reader) error {
	r := bufio.NewReader(part)
	if head, _ := r.Peek(5); !strings.EqualFold(string(head), "data:") {
		data, err := upload.ReadPart(f.recording.held.InMemory(r), maxAudioField, "url")
		f.url = strings.TrimSpace(string(data))

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

	err := f.recording.receive("url", base64.NewDecoder(base64.RawStdEncoding, plainBase64{r}))
	if _, wrong := errors.AsType[base64.CorruptInputError](err); wrong {
		return fault.Errorf(fault.InvalidURL, "the data: URI is not valid base64").WithParam("url").WithCause(err)
	}

	return err
}

// plainBase64 reads any form of base64, that of URLs and with padding, as the plain
// one.
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

// language is an ISO 639 code, with a region or script that no engine needs.
var language = regexp.MustCompile(`^([A-Za-z]{2,3})(?:[-_][A-Za-z0-9]+)*$`)

// request checks the fields. Fields nobody knows are ignored, as in all of the
// inference API.
func (f *audioForm) request(task string, lax bool) (r transcriptionRequest, err error) {
	if f.fields["model"] == "" {
		return r, inference.Invalidf("model", "'model' : property 'model' is missing")
	}

	if f.url != "" && f.recording.arrived && !lax {
		return r, inference.Invalidf("url", "give the recording as 'file' or as 'url', not both")
	}

	if f.url == "" && !f.recording.arrived {
		return r, inference.Invalidf("file", "the recording is missing: give it as 'file' or as 'url'")
	}

	if text := f.fields["stream"]; text != "" {
		if stream, err := strconv.ParseBool(text); err != nil || stream {
			return r, inference.Invalidf(
				"stream",
				"'stream' is %s; transcripts are not streamed: leave it out",
				input.Quote(text),
			)
		}
	}

	r.payload.Model, r.payload.Task = f.fields["model"], task
	if r.payload.Prompt = f.fields["prompt"]; len(r.payload.Prompt) > maxPrompt {
		return r, inference.Invalidf(
			"prompt",
			"'prompt' has %d bytes; allowed: up to %d, of which models read the last 224 tokens",
			len(r.payload.Prompt),
			maxPrompt,
		)
	}

	if spoken := f.fields["language"]; spoken != "" && task == inference.Transcribe {
		m := language.FindStringSubmatch(spoken)
		if m == nil && !lax {
			return r, inference.Invalidf(
				"language",
				"'language' is %s; allowed: a code of ISO 639-1, such as en",
				input.Quote(spoken),
			)
		}

		if m != nil {
			r.payload.Language = strings.ToLower(m[1])
		}
	}

	if text := f.fields["temperature"]; text != "" {
		t, err := strconv.ParseFloat(text, 64)
		if err != nil || !(t >= 0 && t <= 1) {
			return r, inference.Invalidf(
				"temperature",
				"'temperature' is %s; allowed: a number from 0 to 1",
				input.Quote(text),
			)
		}
		r.payload.Temperature = &t
	}

	return r, f.format(&r, lax)
}

// format checks in which form the transcript is wanted.
func (f *audioForm) format(r *transcriptionRequest, lax bool) error {
	p := &r.payload

	p.Format = f.fields["response_format"]
	if p.Format == "" {
		p.Format = audio.JSON
	}

	if allowed := audio.ResponseFormats(); !slices.Contains(allowed, p.Format) {
		return inference.Invalidf(
			"response_format",
			"'response_format' is %s%s; allowed: %s",
			input.Quote(p.Format),
			input.DidYouMean(p.Format, allowed),
			strings.Join(allowed, ", "),
		)
	}

	for _, g := range f.granularities {
		switch g {
		case "segment":
			p.Segments = true
		case "word":
			p.Words = true
		default:
			return inference.Invalidf(
				"timestamp_granularities",
				"'timestamp_granularities' has %s%s; allowed: word, segment",
				input.Quote(g),
				input.DidYouMean(g, []string{"word", "segment"}),
			)
		}
	}

	if p.Format == audio.VerboseJSON {
		p.Segments = p.Segments || !p.Words
		return nil
	}

	if len(f.granularities) > 0 && !lax {
		return inference.Invalidf(
			"timestamp_granularities",
			"'timestamp_granularities' needs 'response_format' verbose_json, and it is %s",
			p.Format,
		)
	}
	p.Segments, p.Words = false, false

	return nil
}
