package inferencetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// Recording is a recording that the server received.
type Recording struct {
	// Path is the path of the request.
	Path string
	// Fields holds the fields of the form without the file.
	Fields map[string][]string
	// Name and Data are the name and the content of the file.
	Name string
	Data []byte
}

// Seconds returns the length of a WAV recording in seconds, and 0 for other formats.
func (r Recording) Seconds() float64 {
	rate, data, ok := wav(r.Data)
	if !ok {
		return 0
	}

	return float64(len(data)) / float64(rate)
}

// wav returns the bytes per second and the samples of a WAV file.
func wav(b []byte) (rate int, samples []byte, ok bool) {
	if len(b) < 12 || string(b[:4]) != "RIFF" || string(b[8:12]) != "WAVE" {
		return 0, nil, false
	}

	for at := 12; at+8 <= len(b); {
		size := int(uint32(b[at+4]) | uint32(b[at+5])<<8 | uint32(b[at+6])<<16 | uint32(b[at+7])<<24)

		body := b[at+8:]
		switch string(b[at : at+4]) {
		case "fmt ":
			if len(body) >= 12 {
				rate = int(uint32(body[8]) | uint32(body[9])<<8 | uint32(body[10])<<16 | uint32(body[11])<<24)
			}
		case "data":
			return rate, body[:min(size, len(body))], rate > 0
		}
		at += 8 + size + size%2
	}

	return 0, nil, false
}

// WaitRecordings waits until the server has received n recordings. The error is the cause of ctx.
func (s *Server) WaitRecordings(ctx context.Context, n int) error {
	return s.waitUntil(ctx, func() bool { return len(s.recordings) >= n })
}

// Recordings returns the recordings that the server has received.
func (s *Server) Recordings() []Recording {
	s.mu.Lock()
	defer s.mu.Unlock()

	return append([]Recording(nil), s.recordings...)
}

// transcribers are the models that transcribe, by name. The text after a colon is their argument.
var transcribers = map[string]func(*transcription){
	// ears transcribes one word for each second, "one two three …", from the start of each recording.
	"ears": func(t *transcription) { t.answer() },
	// ears-hang-at:3 sends no answer to recording 3, counted from 0, until its client disconnects.
	"ears-hang-at": func(t *transcription) {
		if n, _ := strconv.Atoi(t.argument); t.index == n {
			t.hang()
			return
		}
		t.answer()
	},
	// ears-untimed rejects verbose_json, as vLLM does.
	"ears-untimed": func(t *transcription) {
		if t.field("response_format") == "verbose_json" {
			fail(t.w, http.StatusBadRequest, "Currently only support response_format `text` or `json`")
			return
		}
		t.answer()
	},
	// ears-whisper answers like whisper.cpp: words in segments, without seek and compression_ratio.
	"ears-whisper": func(t *transcription) { t.nested = true; t.answer() },
	// ears-fail-at:1 fails for recording 1, counted from 0.
	"ears-fail-at": func(t *transcription) {
		if n, _ := strconv.Atoi(t.argument); t.index == n {
			fail(t.w, http.StatusInternalServerError, "scripted failure")
			return
		}
		t.answer()
	},
	// ears-limited answers recording 1 with a 429 that asks for a pause of 50 ms.
	"ears-limited": func(t *transcription) {
		if t.index == 1 {
			t.w.Header().Set("Retry-After-Ms", "50")
			fail(t.w, http.StatusTooManyRequests, "scripted limit")

			return
		}
		t.answer()
	},
	// ears-short:6 rejects recordings longer than 6 s.
	"ears-short": func(t *transcription) {
		if most, _ := strconv.ParseFloat(t.argument, 64); t.recording.Seconds() > most {
			fail(t.w, http.StatusRequestEntityTooLarge, "the recording is too long")
			return
		}
		t.answer()
	},
	// ears-hang sends nothing until its client disconnects.
	"ears-hang": func(t *transcription) { t.hang() },
	// Responses that a reader must handle without a crash.
	"ears-broken": func(t *transcription) { t.sendJSON(`{"text":"one`) },
	"ears-silent": func(t *transcription) { t.sendJSON(`{"text":""}`) },
	"ears-odd": func(t *transcription) {
		t.sendJSON(
			`{"text":"one","duration":"1.5","language":null,"segments":[{"start":"0.5","end":1e300,"text":"one",` +
				`"tokens":null,"words":null}],"words":null,"error":null}`,
		)
	},
}

// transcription is one recording that a scenario answers.
type transcription struct {
	*call
	recording Recording
	nested    bool // the words are in the segments, as whisper.cpp sends them
}

// field returns the first value of a form field, or "".
func (t *transcription) field(name string) string {
	if v := t.recording.Fields[name]; len(v) > 0 {
		return v[0]
	}

	return ""
}

// numbers are the words of a transcript, one for each second with sound.
var numbers = strings.Fields("one two three four five six seven eight nine ten")

// answer transcribes one word for each second of sound, and none for a second of silence.
func (t *transcription) answer() {
	type word struct {
		Word  string  `json:"word"`
		Start float64 `json:"start"`
		End   float64 `json:"end"`
	}
	var words []word
	var texts []string
	rate, samples, ok := wav(t.recording.Data)

	seconds := 2.0 // the assumed length of other formats
	if ok {
		seconds = float64(len(samples)) / float64(rate)
	}

	for n := range int(math.Ceil(seconds)) {
		if ok && silent(samples[min(n*rate, len(samples)):min((n+1)*rate, len(samples))]) {
			continue
		}
		w := numbers[len(words)%len(numbers)]
		words = append(words, word{w, float64(n), min(float64(n+1), seconds)})
		texts = append(texts, w)
	}

	text := strings.Join(texts, " ")
	if t.field("response_format") != "verbose_json" {
		t.sendJSON(fmt.Sprintf(`{"text":%s}`, quote(text)))
		return
	}

	task, end := "transcribe", seconds
	if strings.HasSuffix(t.recording.Path, "translations") || t.field("translate") == "true" {
		task = "translate"
	}

	listed, _ := json.Marshal(words)
	if t.nested {
		t.sendJSON(fmt.Sprintf(
			`{"task":%q,"language":"english","duration":%g,"text":%s,"segments":[{"id":0,"text":%s,"start":0,`+
				`"end":%g,"tokens":[50364],"words":%s,"temperature":0,"avg_logprob":-0.2,"no_speech_prob":0.01}]}`,
			task,
			seconds,
			quote(" "+text+"\n"),
			quote(" "+text),
			end,
			listed,
		))

		return
	}
	wordList := ""

	for _, granularity := range t.recording.Fields["timestamp_granularities[]"] {
		if granularity == "word" {
			wordList = fmt.Sprintf(`,"words":%s`, listed)
		}
	}
	t.sendJSON(fmt.Sprintf(
		`{"task":%q,"language":"english","duration":%g,"text":%s,"segments":[{"id":0,"seek":0,"start":0,`+
			`"end":%g,"text":%s,"tokens":[50364,1],"temperature":0,"avg_logprob":-0.28,`+
			`"compression_ratio":1.1,"no_speech_prob":0.009}]%s}`,
		task,
		seconds,
		quote(text),
		end,
		quote(" "+text),
		wordList,
	))
}

// silent reports whether all 16-bit samples are quiet. It reads only the high byte of each sample.
func silent(samples []byte) bool {
	for i := 1; i < len(samples); i += 2 {
		if v := int8(samples[i]); v > 2 || v < -3 {
			return false
		}
	}

	return true
}

// speakers are the models that speak, by name.
var speakers = map[string]func(*call, string){
	// voice sends each word of its input as a separate piece. The type is MP3, but the bytes are text.
	"voice": func(c *call, input string) {
		c.w.Header().Set("Content-Type", "audio/mpeg")

		for _, w := range words(input) {
			c.sendRaw(w)
		}
	},
	"voice-cut": func(c *call, input string) {
		c.w.Header().Set("Content-Type", "audio/mpeg")
		c.sendRaw(input)
		panic(http.ErrAbortHandler)
	},
	"voice-hang": func(c *call, input string) {
		c.w.Header().Set("Content-Type", "audio/mpeg")
		c.sendRaw(input)
		c.hang()
	},
	"voice-silent": func(c *call, _ string) { c.hang() },
	"voice-html": func(c *call, _ string) {
		c.w.Header().Set("Content-Type", "text/html")
		c.sendRaw("<html></html>")
	},
	"voice-fail-once": func(c *call, input string) {
		if c.index == 0 {
			fail(c.w, http.StatusInternalServerError, "scripted failure")
			return
		}
		c.w.Header().Set("Content-Type", "audio/mpeg")
		c.sendRaw(input)
	},
	"voice-status": func(c *call, _ string) {
		status, _ := strconv.Atoi(c.argument)
		fail(c.w, status, "scripted failure")
	},
}

// transcribe answers a recording with the scenario of its model.
func (s *Server) transcribe(w http.ResponseWriter, r *http.Request) {
	parts, err := r.MultipartReader()
	if err != nil {
		fail(w, http.StatusBadRequest, "the body is not a form")
		return
	}
	rec := Recording{Path: r.URL.Path, Fields: map[string][]string{}}

	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}

		if err != nil {
			s.change(func() { s.disconnected++ })
			return
		}

		b, err := io.ReadAll(part)
		if err != nil {
			s.change(func() { s.disconnected++ })
			return
		}

		if part.FormName() == "file" {
			rec.Name, rec.Data = part.FileName(), b
		} else {
			rec.Fields[part.FormName()] = append(rec.Fields[part.FormName()], string(b))
		}
	}
	t := &transcription{recording: rec}
	model := t.field("model")
	name, argument, _ := strings.Cut(path.Base(model), ":")

	scenario, known := transcribers[name]
	if !known {
		fail(w, http.StatusNotFound, fmt.Sprintf("model %q not found", model))
		return
	}
	t.call = &call{w: w, r: r, body: Body{Model: model}, argument: argument}
	s.change(func() {
		s.recordings = append(s.recordings, rec)
		t.index = s.seen[model]
		s.seen[model]++
	})
	scenario(t)

	if r.Context().Err() != nil {
		s.change(func() { s.disconnected++ })
	}
}

// speak answers a request for speech with the scenario of its model.
func (s *Server) speak(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)

	var body struct{ Model, Input string }
	if err != nil || json.Unmarshal(raw, &body) != nil {
		fail(w, http.StatusBadRequest, "the body is not JSON")
		return
	}
	name, argument, _ := strings.Cut(path.Base(body.Model), ":")

	scenario, known := speakers[name]
	if !known {
		fail(w, http.StatusNotFound, fmt.Sprintf("model %q not found", body.Model))
		return
	}
	c := &call{w: w, r: r, argument: argument}
	s.change(func() {
		s.requests = append(s.requests, Request{Header: r.Header.Clone(), Raw: raw})
		c.index = s.seen[body.Model]
		s.seen[body.Model]++
	})
	scenario(c, body.Input)

	if r.Context().Err() != nil {
		s.change(func() { s.disconnected++ })
	}
}
