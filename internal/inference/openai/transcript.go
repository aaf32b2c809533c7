package openai

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"encoding/json"
	"net/http"
	"strconv"

	"presswork/internal/inference"
	"presswork/internal/inference/jsonbody"
	"presswork/internal/inference/upstream"
)

const (
	// maxSegments and maxWords bound the transcript of one recording.
	maxSegments = 20_000
	maxWords    = 200_000
	maxTokens   = 1000 // tokens of a segment
)

// transcript is the json or verbose_json of an upstream (OpenAI: audio/transcriptions).
type transcript struct {
	Text     json.RawMessage `json:"text"`
	Language string          `json:"language"`
	Duration moment          `json:"duration"`
	Segments json.RawMessage `json:"segments"`
	Words    json.RawMessage `json:"words"`
	Error    json.RawMessage `json:"error"`
}

// segment is a part of a transcript as an engine returns it.
type segment struct {
	Seek             float64         `json:"seek"`
	Start            moment          `json:"start"`
	End              moment          `json:"end"`
	Text             string          `json:"text"`
	Tokens           json.RawMessage `json:"tokens"`
	Temperature      float64         `json:"temperature"`
	AvgLogprob       float64         `json:"avg_logprob"`
	NoSpeechProb     float64         `json:"no_speech_prob"`
	CompressionRatio *float64        `json:"compression_ratio"`
	Words            json.RawMessage `json:"words"`
}

// word is a word of a transcript as an engine returns it.
type word struct {
	Word  string `json:"word"`
	Text  string `json:"text"` // the name of the field in some engines
	Start moment `json:"start"`
	End   moment `json:"end"`
}

// moment is a time in seconds, at most a day. It is a JSON number, or a string with one.
type moment float64

// UnmarshalJSON reads a time in seconds, as a number or as a string. An invalid or negative time becomes 0.
func (m *moment) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		b = []byte(jsonbody.Text(b))
	}

	if n, _ := strconv.ParseFloat(string(b), 64); n > 0 { // false for NaN
		*m = moment(min(n, 24*3600))
	}

	return nil
}

// readTranscript reads the answer of an upstream in json or verbose_json. Engines omit fields, write numbers as
// strings, and put words into segments. Missing values stay empty.
func readTranscript(b []byte, words bool) (*inference.Transcript, error) {
	var in transcript
	if err := upstream.DecodeLenient(b, &in); err != nil || bytes.TrimLeft(b, " \t\r\n")[0] != '{' {
		return nil, unreadableFinal("its transcript is not a JSON object")
	}

	if upstream.IsSet(in.Error) {
		return nil, upstream.ErrorOf(http.StatusBadGateway, b)
	}

	if len(in.Text) == 0 || in.Text[0] != '"' {
		return nil, unreadableFinal("its transcript has no text")
	}
	t := &inference.Transcript{
		Text:     jsonbody.Text(in.Text),
		Language: jsonbody.Bounded(in.Language, 64),
		Duration: float64(in.Duration),
	}
	var nested []inference.Word // words inside segments

	for _, s := range firstItems[segment](in.Segments, maxSegments) {
		t.Segments = append(t.Segments, s.toSegment(len(t.Segments)))
		if words {
			nested = append(nested, readWords(s.Words, maxWords-len(nested))...)
		}
	}

	if words {
		if t.Words = readWords(in.Words, maxWords); len(t.Words) == 0 {
			t.Words = nested
		}
	}

	return t, nil
}

// unreadableFinal is unreadable without a retry, for an answer that the engine would repeat.
func unreadableFinal(reason string) error {
	e := upstream.Unreadable(reason)
	e.Retryable = false

	return e
}

// toSegment returns the segment with the given id. Values that are missing or not finite get a default.
func (s segment) toSegment(id int) inference.Segment {
	out := inference.Segment{
		ID:           id,
		Seek:         upstream.Count(s.Seek),
		Start:        float64(s.Start),
		End:          float64(max(s.End, s.Start)),
		Text:         s.Text,
		Tokens:       []int{},
		Temperature:  finite(s.Temperature),
		AvgLogprob:   finite(s.AvgLogprob),
		NoSpeechProb: finite(s.NoSpeechProb),
	}
	for _, n := range firstItems[float64](s.Tokens, maxTokens) {
		out.Tokens = append(out.Tokens, upstream.Count(n))
	}

	if s.CompressionRatio != nil {
		out.CompressionRatio = finite(*s.CompressionRatio)
	} else {
		out.CompressionRatio = compressionRatio(s.Text)
	}

	return out
}

// readWords reads up to limit words with their times.
func readWords(list json.RawMessage, limit int) (words []inference.Word) {
	for _, w := range firstItems[word](list, limit) {
		words = append(
			words,
			inference.Word{Word: cmp.Or(w.Word, w.Text), Start: float64(w.Start), End: float64(max(w.End, w.Start))},
		)
	}

	return words
}

// firstItems decodes the first n items of a list. The rest is not decoded, so that many small items take no memory.
// Any other value has no items.
func firstItems[T any](list json.RawMessage, n int) (items []T) {
	if len(list) == 0 || list[0] != '[' {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(list))

	_, _ = d.Token() // the bracket
	for len(items) < n && d.More() {
		var item T
		_ = d.Decode(&item) // valid JSON; an item of another type stays empty
		items = append(items, item)
	}

	return items
}

// finite bounds a number so that sums stay finite.
func finite(n float64) float64 { return min(max(n, -1<<40), 1<<40) }

// emptyBlock is the size of the empty block that Go's compressor writes at the end of a stream, in bytes. zlib writes
// none, and Whisper uses zlib.
const emptyBlock = 4

// compressionRatio returns the ratio that Whisper reports: the length of the text divided by its length after zlib.
func compressionRatio(text string) float64 {
	if text == "" {
		return 0
	}
	var n counter
	z := zlib.NewWriter(&n)
	// Neither writer can fail.
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	r, _ := strconv.ParseFloat(strconv.FormatFloat(float64(len(text))/float64(n-emptyBlock), 'f', 4, 64), 64)

	return r
}

// counter counts the bytes that are written to it.
type counter int

// Write implements io.Writer.
func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}
