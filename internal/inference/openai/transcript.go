package openai

import (
	"compress/zlib"
	"encoding/json"
	"strconv"

	"presswork/internal/inference"
)

const (
	// maxSegments and maxWords bound what an upstream may say about one recording.
	maxSegments = 20_000
	maxWords    = 200_000
	maxTokens   = 1000 // of a segment
)

// readTranscript reads the answer of an upstream, json or verbose_json. Engines
// leave fields out, write numbers as strings, and put the words into the
// segments; what is missing stays empty.
func readTranscript(b []byte, words bool) (*inference.Transcript, error) {
	if !json.Valid(b) || !isObject(b) {
		return nil, garbled("its transcript is not a JSON object")
	}
	t := &inference.Transcript{}
	spoke := false
	var nested []inference.Word
	var failed error
	fields(b, func(key, value []byte) {
		switch string(key) {
		case "text":
			t.Text, spoke = text(value), value[0] == '"'
		case "language":
			t.Language = bounded(text(value), 64)
		case "duration":
			t.Duration = moment(value)
		case "segments":
			items(value, func(item []byte) {
				if len(t.Segments) < maxSegments {
					s, inner := readSegment(item)
					s.ID = len(t.Segments)
					t.Segments = append(t.Segments, s)
					nested = appendWords(nested, inner)
				}
			})
		case "words":
			t.Words = readWords(value)
		case "error":
			if !null(value) {
				failed = failure(502, b)
			}
		}
	})
	if failed != nil {
		return nil, failed
	}
	if !spoke {
		return nil, garbled("its transcript has no text")
	}
	if len(t.Words) == 0 {
		t.Words = nested
	}
	if !words {
		t.Words = nil
	}
	return t, nil
}

func readSegment(item []byte) (s inference.Segment, words []inference.Word) {
	s.Tokens = []int{}
	compressed := false
	fields(item, func(key, value []byte) {
		switch string(key) {
		case "seek":
			s.Seek = count(value)
		case "start":
			s.Start = moment(value)
		case "end":
			s.End = moment(value)
		case "text":
			s.Text = text(value)
		case "tokens":
			items(value, func(item []byte) {
				if len(s.Tokens) < maxTokens {
					s.Tokens = append(s.Tokens, count(item))
				}
			})
		case "temperature":
			s.Temperature = finite(value)
		case "avg_logprob":
			s.AvgLogprob = finite(value)
		case "no_speech_prob":
			s.NoSpeechProb = finite(value)
		case "compression_ratio":
			s.CompressionRatio, compressed = finite(value), !null(value)
		case "words":
			words = readWords(value)
		}
	})
	s.End = max(s.End, s.Start)
	if !compressed {
		s.CompressionRatio = compressionRatio(s.Text)
	}
	return s, words
}

func readWords(list []byte) (words []inference.Word) {
	items(list, func(item []byte) {
		var w inference.Word
		fields(item, func(key, value []byte) {
			switch string(key) {
			case "word", "text":
				w.Word = text(value)
			case "start":
				w.Start = moment(value)
			case "end":
				w.End = moment(value)
			}
		})
		w.End = max(w.End, w.Start)
		words = appendWords(words, []inference.Word{w})
	})
	return words
}

func appendWords(words, more []inference.Word) []inference.Word {
	return append(words, more[:min(len(more), max(0, maxWords-len(words)))]...)
}

// moment decodes a time, a number or one in a string, of at most a day.
func moment(value []byte) float64 {
	if len(value) > 1 && value[0] == '"' {
		value = []byte(text(value))
	}
	return min(seconds(value), 24*3600)
}

// finite decodes a number whose sums stay finite.
func finite(value []byte) float64 { return min(max(number(value), -1<<40), 1<<40) }

// emptyBlock is what Go's compressor ends a stream with, in bytes, and zlib's
// does not.
const emptyBlock = 4

// compressionRatio is Whisper's: the length of the text over its length after
// zlib.
func compressionRatio(text string) float64 {
	if text == "" {
		return 0
	}
	var n counter
	z := zlib.NewWriter(&n)
	// Neither writer fails.
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
