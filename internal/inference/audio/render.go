package audio

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"presswork/internal/inference"
)

// The formats of a transcript.
const (
	JSON        = "json"
	Text        = "text"
	VerboseJSON = "verbose_json"
	SRT         = "srt"
	VTT         = "vtt"
)

// ResponseFormats lists the formats of a transcript.
func ResponseFormats() []string { return []string{JSON, Text, VerboseJSON, SRT, VTT} }

// Timed reports whether a format has times.
func Timed(format string) bool { return format == VerboseJSON || format == SRT || format == VTT }

// ContentType returns the media type of a format.
func ContentType(format string) string {
	switch format {
	case Text:
		return "text/plain; charset=utf-8"
	case SRT:
		return "application/x-subrip; charset=utf-8"
	case VTT:
		return "text/vtt; charset=utf-8"
	}

	return "application/json"
}

// Form is the requested form of a transcript.
type Form struct {
	// Format is one of ResponseFormats.
	Format string
	// Task is inference.Transcribe or Translate.
	Task string
	// Segments and Words select the content of verbose_json.
	Segments, Words bool
	// Vendor names the field x_<vendor>, which carries RequestID.
	Vendor, RequestID string
}

// usage is the field of a response with the length of the recording, rounded up to a second.
type usage struct {
	Type    string `json:"type"`
	Seconds int64  `json:"seconds"`
}

// Render writes a transcript in the wire format of the inference API (OpenAI: audio/transcriptions; Groq: x_groq).
// The JSON formats fail only for a number that is not finite.
func Render(t inference.Transcript, f Form) ([]byte, error) {
	text := strings.TrimSpace(t.Text)
	switch f.Format {
	case Text:
		return []byte(text + "\n"), nil
	case SRT:
		return subtitles(t, ",", func(n int) string { return fmt.Sprintf("%d\n", n) }, ""), nil
	case VTT:
		return subtitles(t, ".", func(int) string { return "" }, "WEBVTT\n\n"), nil
	}
	// A struct cannot have the vendor's name in a key.
	vendor, err := json.Marshal(map[string]string{"id": f.RequestID})
	if err != nil {
		return nil, err
	}
	body := []any{}

	add := func(key string, value any) { body = append(body, key, value) }
	if f.Format == VerboseJSON {
		add("task", f.Task)
		add("language", t.Language)
		add("duration", t.Duration)
	}
	add("text", text)

	// Clients loop over these lists, so an empty one is [] and not null.
	if f.Format == VerboseJSON && f.Words {
		add("words", append([]inference.Word{}, t.Words...))
	}

	if f.Format == VerboseJSON && f.Segments {
		add("segments", append([]inference.Segment{}, t.Segments...))
	}

	if t.Duration > 0 {
		add("usage", usage{"duration", int64(math.Ceil(t.Duration))})
	}
	add("x_"+f.Vendor, json.RawMessage(vendor))

	return object(body)
}

// object returns a JSON object. pairs alternates names and values, whose order it keeps.
func object(pairs []any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	out.WriteByte('{')

	for i, p := range pairs {
		if i > 0 {
			out.WriteByte(",:"[i%2])
		}

		if err := e.Encode(p); err != nil {
			return nil, err
		}
		out.Truncate(out.Len() - 1) // Encode ends with a line feed
	}
	out.WriteByte('}')

	return out.Bytes(), nil
}

// subtitles returns the segments as cues. A cue ends at the first empty line, and an arrow in its text would be read
// as a time. number returns the line above a cue; head, for WebVTT, is the first line of the file.
func subtitles(t inference.Transcript, decimalMark string, number func(n int) string, head string) []byte {
	out := []byte(head)
	n := 0

	for _, s := range t.Segments {
		text := strings.ReplaceAll(strings.Join(strings.Fields(s.Text), " "), "-->", "→")
		if text == "" {
			continue
		}
		n++

		// Only WebVTT has markup in the text of a cue.
		if head != "" {
			text = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
		}
		out = fmt.Appendf(
			out,
			"%s%s --> %s\n%s\n\n",
			number(n),
			timestamp(s.Start, decimalMark),
			timestamp(s.End, decimalMark),
			text,
		)
	}

	return out
}

// timestamp formats a time as hours, minutes, seconds and milliseconds.
func timestamp(seconds float64, decimalMark string) string {
	d := time.Duration(math.Round(seconds*1000)) * time.Millisecond

	return fmt.Sprintf(
		"%02d:%02d:%02d%s%03d",
		int(d.Hours()),
		int(d.Minutes())%60,
		int(d.Seconds())%60,
		decimalMark,
		d.Milliseconds()%1000,
	)
}
