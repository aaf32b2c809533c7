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

// Recording is a recording that the server was sent.
type Recording struct {
	// Path is where it was sent to.
	Path string
	// Fields are the form's, but for the file.
	Fields map[string][]string
	// Name and Data are the file's.
	Name string
	Data []byte
}

// Seconds is how long the recording is, if it is WAV; 0 for all else.
func (r Recording) Seconds() float64 {
	rate, data, ok := wav(r.Data)
	if !ok {
		return 0
	}

	return float64(len(data)) / float64(rate)
}

// wav finds bytes a second and samples of a WAV file in memory.
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

// WaitRecordings waits until n recordings were sent.
func (s *Server) WaitRecordings(ctx context.Context, n int) error {
	return s.wait(ctx, func() bool { return len(s.recordings) >= n })
}

// Recordings lists the recordings sent so far.
func (s *Server) Recordings() []Recording {
	s.mu.Lock()
	defer s.mu.Unlock()

	return append([]Recording(nil), s.recordings...)
}

// sounds are the models that hear, by name; what follows a colon is their argument.
var sounds = map[string]func(*hearing){
	// ears hears a word a second, "one two three …", counted from the start of what it was sent.
	"ears": func(h *hearing) { h.answer() },
	// ears-hang-at:3 waits, when it is sent recording number 3, counted from 0, until its
	// client goes.
	"ears-hang-at": func(h *hearing) {
		if n, _ := strconv.Atoi(h.argument); h.turn == n {
			h.hang()
			return
		}
		h.answer()
	},
	// ears-untimed refuses verbose_json, as vLLM does.
	"ears-untimed": func(h *hearing) {
		if h.field("response_format") == "verbose_json" {
			fail(h.w, http.StatusBadRequest, "Currently only support response_format `text` or `json`")
			return
		}
		h.answer()
	},
	// ears-whisper is whisper.cpp's form: words within segments, no seek and no
	// compression_ratio.
	"ears-whisper": func(h *hearing) { h.nested = true; h.answer() },
	// ears-fail-at:1 fails the first time it is sent recording number 1, counted from 0.
	"ears-fail-at": func(h *hearing) {
		if n, _ := strconv.Atoi(h.argument); h.turn == n {
			fail(h.w, http.StatusInternalServerError, "scripted failure")
			return
		}
		h.answer()
	},
	// ears-limited answers 429 once, and asks for a short rest.
	"ears-limited": func(h *hearing) {
		if h.turn == 1 {
			h.w.Header().Set("Retry-After-Ms", "50")
			fail(h.w, http.StatusTooManyRequests, "scripted limit")

			return
		}
		h.answer()
	},
	// ears-short:6 refuses recordings of more seconds.
	"ears-short": func(h *hearing) {
		if most, _ := strconv.ParseFloat(h.argument, 64); h.recording.Seconds() > most {
			fail(h.w, http.StatusRequestEntityTooLarge, "the recording is too long")
			return
		}
		h.answer()
	},
	// ears-hang waits until its client goes.
	"ears-hang": func(h *hearing) { h.hang() },
	// Responses that a reader must handle without a crash.
	"ears-broken": func(h *hearing) { h.json(`{"text":"one`) },
	"ears-silent": func(h *hearing) { h.json(`{"text":""}`) },
	"ears-odd": func(h *hearing) {
		h.json(
			`{"text":"one","duration":"1.5","language":null,"segments":[{"start":"0.5","end":1e300,"text":"one",` +
				`"tokens":null,"words":null}],"words":null,"error":null}`,
		)
	},
}

// hearing is one recording that a scenario answers.
type hearing struct {
	*call
	recording Recording
	nested    bool
}

func (h *hearing) field(name string) string {
	if v := h.recording.Fields[name]; len(v) > 0 {
		return v[0]
	}

	return ""
}

var numbers = strings.Fields("one two three four five six seven eight nine ten")

// answer hears a word in each second of sound, and nothing where there is silence.
func (h *hearing) answer() {
	type word struct {
		Word  string  `json:"word"`
		Start float64 `json:"start"`
		End   float64 `json:"end"`
	}
	var words []word
	var texts []string
	rate, samples, ok := wav(h.recording.Data)

	seconds := 2.0 // of what this server cannot read
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
	if h.field("response_format") != "verbose_json" {
		h.json(fmt.Sprintf(`{"text":%s}`, quote(text)))
		return
	}

	task, end := "transcribe", seconds
	if strings.HasSuffix(h.recording.Path, "translations") || h.field("translate") == "true" {
		task = "translate"
	}

	listed, _ := json.Marshal(words)
	if h.nested {
		h.json(
			fmt.Sprintf(
				`{"task":%q,"language":"english","duration":%g,"text":%s,"segments":[{"id":0,"text":%s,"start":0,`+
					`"end":%g,"tokens":[50364],"words":%s,"temperature":0,"avg_logprob":-0.2,"no_speech_prob":0.01}]}`,
				task,
				seconds,
				quote(" "+text+"\n"),
				quote(" "+text),
				end,
				listed,
			),
		)

		return
	}
	own := ""

	for _, granularity := range h.recording.Fields["timestamp_granularities[]"] {
		if granularity == "word" {
			own = fmt.Sprintf(`,"words":%s`, listed)
		}
	}
	h.json(
		fmt.Sprintf(
			`{"task":%q,"language":"english","duration":%g,"text":%s,"segments":[{"id":0,"seek":0,"start":0,`+
				`"end":%g,"text":%s,"tokens":[50364,1],"temperature":0,"avg_logprob":-0.28,`+
				`"compression_ratio":1.1,"no_speech_prob":0.009}]%s}`,
			task,
			seconds,
			quote(text),
			end,
			quote(" "+text),
			own,
		),
	)
}

// silent reports whether no sample of 16 bits is loud.
func silent(samples []byte) bool {
	for i := 1; i < len(samples); i += 2 {
		if v := int8(samples[i]); v > 2 || v < -3 {
			return false
		}
	}

	return true
}

// voices are the models that speak.
var voices = map[string]func(*call, string){
	// voice speaks each word of its input in a piece of its own, as MP3 that no one can play.
	"voice": func(c *call, input string) {
		c.w.Header().Set("Content-Type", "audio/mpeg")

		for _, w := range words(input) {
			c.raw(w)
		}
	},
	"voice-cut": func(c *call, input string) {
		c.w.Header().Set("Content-Type", "audio/mpeg")
		c.raw(input)
		panic(http.ErrAbortHandler)
	},
	"voice-hang": func(c *call, input string) {
		c.w.Header().Set("Content-Type", "audio/mpeg")
		c.raw(input)
		c.hang()
	},
	"voice-silent": func(c *call, _ string) { c.hang() },
	"voice-html": func(c *call, _ string) {
		c.w.Header().Set("Content-Type", "text/html")
		c.raw("<html></html>")
	},
	"voice-fail-once": func(c *call, input string) {
		if c.turn == 0 {
			fail(c.w, http.StatusInternalServerError, "scripted failure")
			return
		}
		c.w.Header().Set("Content-Type", "audio/mpeg")
		c.raw(input)
	},
	"voice-status": func(c *call, _ string) {
		status, _ := strconv.Atoi(c.argument)
		fail(c.w, status, "scripted failure")
	},
}

// hear answers a recording by the scenario of its model.
func (s *Server) hear(w http.ResponseWriter, r *http.Request) {
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
			s.change(func() { s.left++ })
			return
		}

		b, err := io.ReadAll(part)
		if err != nil {
			s.change(func() { s.left++ })
			return
		}

		if part.FormName() == "file" {
			rec.Name, rec.Data = part.FileName(), b
		} else {
			rec.Fields[part.FormName()] = append(rec.Fields[part.FormName()], string(b))
		}
	}
	h := &hearing{recording: rec}
	model := h.field("model")
	name, argument, _ := strings.Cut(path.Base(model), ":")

	scenario, known := sounds[name]
	if !known {
		fail(w, http.StatusNotFound, fmt.Sprintf("model %q not found", model))
		return
	}
	h.call = &call{w: w, r: r, body: Body{Model: model}, argument: argument}
	s.change(func() {
		s.recordings = append(s.recordings, rec)
		h.turn = s.seen[model]
		s.seen[model]++
	})
	scenario(h)

	if r.Context().Err() != nil {
		s.change(func() { s.left++ })
	}
}

// speak answers a request for speech by the scenario of its model.
func (s *Server) speak(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)

	var body struct{ Model, Input string }
	if err != nil || json.Unmarshal(raw, &body) != nil {
		fail(w, http.StatusBadRequest, "the body is not JSON")
		return
	}
	name, argument, _ := strings.Cut(path.Base(body.Model), ":")

	scenario, known := voices[name]
	if !known {
		fail(w, http.StatusNotFound, fmt.Sprintf("model %q not found", body.Model))
		return
	}
	c := &call{w: w, r: r, argument: argument}
	s.change(func() {
		s.requests = append(s.requests, Request{Header: r.Header.Clone(), Raw: raw})
		c.turn = s.seen[body.Model]
		s.seen[body.Model]++
	})
	scenario(c, body.Input)

	if r.Context().Err() != nil {
		s.change(func() { s.left++ })
	}
}
