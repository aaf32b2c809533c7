package openai_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/inference"
	"presswork/internal/inference/gateway"
	"presswork/internal/inference/inferencetest"
	"presswork/internal/inference/openai"
	"presswork/internal/test/wait"
)

// loudWAV returns a WAV file of that length, without silence, at a sample rate of 1 kHz.
func loudWAV(seconds int) []byte {
	n := uint32(seconds * 2000)
	b := binary.LittleEndian.AppendUint32([]byte("RIFF"), 36+n)
	b = append(b, "WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00"...)
	b = binary.LittleEndian.AppendUint32(b, 1000)
	b = binary.LittleEndian.AppendUint32(b, 2000)
	b = append(b, "\x02\x00\x10\x00data"...)
	b = binary.LittleEndian.AppendUint32(b, n)

	return append(b, bytes.Repeat([]byte{0, 0x40}, int(n/2))...)
}

// transcription returns a request to transcribe a recording.
func transcription(model string, b []byte) *inference.Transcription {
	return &inference.Transcription{
		Model: model,
		Task:  inference.Transcribe,
		Name:  "audio.wav",
		Size:  int64(len(b)),
		Open:  func() io.Reader { return bytes.NewReader(b) },
	}
}

// transcriber returns a model that transcribes, with an upstream of the kind at each base.
func transcriber(scenario, kind string, bases ...string) inference.Model {
	m := inference.Model{ID: scenario, Capabilities: []string{inference.CanTranscribe, inference.CanSpeak}}
	for n, base := range bases {
		m.Upstreams = append(
			m.Upstreams,
			inference.Upstream{Name: fmt.Sprint(n), Kind: kind, BaseURL: base, Priority: n},
		)
	}

	return m
}

func TestTranscriptsOfAllEnginesAreNormalised(t *testing.T) {
	t.Parallel()
	whole := inference.Transcript{
		Language: "english",
		Duration: 2,
		Text:     "one two",
		Segments: []inference.Segment{
			{
				End:              2,
				Text:             " one two",
				Tokens:           []int{50364, 1},
				AvgLogprob:       -.28,
				CompressionRatio: 1.1,
				NoSpeechProb:     .009,
			},
		},
		Words: []inference.Word{{Word: "one", End: 1}, {Word: "two", Start: 1, End: 2}},
	}
	whisper := whole
	whisper.Text = " one two\n"

	whisper.Segments = []inference.Segment{
		{End: 2, Text: " one two", Tokens: []int{50364}, AvgLogprob: -.2, CompressionRatio: .5, NoSpeechProb: .01},
	}
	for name, tc := range map[string]struct {
		model, kind string
		timed       bool
		want        inference.Transcript
	}{
		"json":           {"ears", inference.Plain, false, inference.Transcript{Text: "one two"}},
		"verbose_json":   {"ears", inference.Plain, true, whole},
		"whisper-server": {"ears-whisper", inference.WhisperServer, true, whisper},
		"without times":  {"ears-untimed", inference.VLLM, true, inference.Transcript{Text: "one two", Untimed: true}},
		"odd": {"ears-odd", inference.Plain, true, inference.Transcript{
			Text: "one", Duration: 1.5,
			Segments: []inference.Segment{{Start: .5, End: 86400, Text: "one", Tokens: []int{}, CompressionRatio: .2727}},
		}},
		"nothing said": {"ears-silent", inference.Plain, true, inference.Transcript{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			server, base := inferencetest.Start(t)
			if tc.kind == inference.WhisperServer {
				base = strings.TrimSuffix(base, "/v1")
			}
			r := transcription(tc.model, loudWAV(2))
			r.Timed, r.Words, r.Language, r.Prompt, r.Temperature = tc.timed, tc.timed, "de", "Ada", new(.5)
			g := newGateway(transcriber(tc.model, tc.kind, base))

			got, err := g.Transcribe(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, *got); diff != "" {
				t.Errorf("transcript (-want +got):\n%s", diff)
			}

			sent := server.Recordings()[len(server.Recordings())-1]
			if sent.Name != "audio.wav" || !bytes.Equal(sent.Data, loudWAV(2)) ||
				sent.Fields["language"][0] != "de" || sent.Fields["prompt"][0] != "Ada" ||
				sent.Fields["temperature"][0] != "0.5" {
				t.Errorf("the upstream got %s with the fields %v, want audio.wav unchanged and all fields",
					sent.Name, sent.Fields)
			}

			if tc.model == "ears-untimed" {
				// A field that the upstream has rejected is not sent again.
				if _, err := g.Transcribe(t.Context(), r); err != nil || len(server.Recordings()) != 3 {
					t.Errorf("got %v after %d recordings, want 3 recordings", err, len(server.Recordings()))
				}
			}
		})
	}
}

func TestWhisperServerHasItsOwnPathAndFields(t *testing.T) {
	t.Parallel()

	server, base := inferencetest.Start(t)
	for _, address := range []string{base, strings.TrimSuffix(base, "/v1")} {
		r := transcription("ears-whisper", loudWAV(1))

		r.Task = inference.Translate

		_, err := newGateway(transcriber("ears-whisper", inference.WhisperServer, address)).Transcribe(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
	}

	for n, path := range []string{"/v1/audio/transcriptions", "/inference"} {
		got := server.Recordings()[n]
		// Without a language it would assume English.
		if got.Path != path || got.Fields["language"][0] != "auto" || got.Fields["translate"][0] != "true" {
			t.Errorf("got path %s and fields %v; want %s, language auto and translate", got.Path, got.Fields, path)
		}
	}
	r := transcription("ears", loudWAV(1))

	r.Task = inference.Translate

	_, err := newGateway(transcriber("ears", inference.Plain, base)).Transcribe(t.Context(), r)
	if err != nil || server.Recordings()[2].Path != "/v1/audio/translations" {
		t.Errorf("a translation was sent to %s (%v), want /v1/audio/translations", server.Recordings()[2].Path, err)
	}
}

func TestRecordingsFailOver(t *testing.T) {
	t.Parallel()
	bad, first := inferencetest.Start(t)
	good, second := inferencetest.Start(t)
	m := transcriber("ears", inference.Plain, first, second)
	m.Upstreams[0].Model = "ears-fail-at:0"

	g := newGateway(m)
	for n := range 2 {
		got, err := g.Transcribe(t.Context(), transcription("ears", loudWAV(1)))
		if err != nil || got.Text != "one" {
			t.Fatalf("request %d: got %+v, %v; want the transcript of the second upstream", n, got, err)
		}
	}
	// The upstream that failed gets no further request during its cooldown.
	if a, b := len(bad.Recordings()), len(good.Recordings()); a != 1 || b != 2 {
		t.Errorf("the upstreams got %d and %d recordings, want 1 and 2", a, b)
	}

	for scenario, want := range map[string]int{"ears-broken": 502, "ears-short:1": 413, "nobody": 502} {
		t.Run(scenario, func(t *testing.T) {
			_, err := newGateway(
				transcriber(scenario, inference.Plain, first),
			).Transcribe(t.Context(), transcription(scenario, loudWAV(3)))
			if e := inference.AsError(err); e == nil || e.Status != want {
				t.Errorf("got %v, want status %d", err, want)
			}
		})
	}
	chatOnly := transcriber("chatOnly", inference.Plain, first)
	chatOnly.Capabilities = []string{inference.CanChat}

	_, err := newGateway(chatOnly).Transcribe(t.Context(), transcription("chatOnly", loudWAV(1)))
	if e := inference.AsError(err); e == nil || e.Status != 400 || e.Param != "model" {
		t.Errorf("a chat model: got %v, want status 400 for model", err)
	}
}

func TestDisconnectStopsTheTranscription(t *testing.T) {
	t.Parallel()
	server, base := inferencetest.Start(t)
	ctx, disconnect := context.WithCancel(t.Context())
	ended := make(chan error, 1)

	go func() {
		_, err := newGateway(
			transcriber("ears-hang", inference.Plain, base),
		).Transcribe(ctx, transcription("ears-hang", loudWAV(1)))
		ended <- err
	}()

	patient, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()

	if err := server.WaitRecordings(patient, 1); err != nil {
		t.Fatal(err)
	}
	disconnect()

	if e := inference.AsError(<-ended); e.Status != 499 {
		t.Errorf("got %v, want status 499", e)
	}

	if err := server.WaitDisconnected(patient, 1); err != nil {
		t.Errorf("the engine was not disconnected: %v", err)
	}
}

func TestSpeechIsStreamed(t *testing.T) {
	t.Parallel()
	_, base := inferencetest.Start(t)

	speak := func(scenario string, emitErr error) (contentType, data string, err error) {
		err = newGateway(
			transcriber(scenario, inference.Plain, base),
		).Speak(t.Context(), &inference.Speech{Model: scenario, Input: "one two three", Voice: "alloy"}, func(s *inference.Sound) error {
			contentType += s.ContentType

			data += string(s.Data)
			if data != "" {
				return emitErr
			}

			return nil
		})

		return contentType, data, err
	}
	for _, scenario := range []string{"voice", "voice-fail-once"} {
		contentType, data, err := speak(scenario, nil)
		if contentType != "audio/mpeg" || data != "one two three" || err != nil {
			t.Errorf("%s: got %q as %q, %v; want \"one two three\" as audio/mpeg", scenario, data, contentType, err)
		}
	}

	for scenario, status := range map[string]int{"voice-cut": 502, "voice-html": 502, "voice-status:400": 400, "voice-status:503": 503} {
		t.Run(scenario, func(t *testing.T) {
			_, _, err := speak(scenario, nil)
			if inference.AsError(err) == nil || inference.AsError(err).Status != status {
				t.Errorf("got %v, want status %d", err, status)
			}
		})
	}

	if _, _, err := speak("voice-hang", errors.New("gone")); err == nil {
		t.Error("the caller disconnects: got no error, want that of emit")
	}
}

func TestSilentAudioUpstreamsTimeOut(t *testing.T) {
	t.Parallel()
	_, base := inferencetest.Start(t)
	withTimeouts := func(scenario string, first, idle time.Duration) *gateway.Gateway {
		m := transcriber(scenario, inference.Plain, base)
		m.Routing = inference.Routing{FirstTokenTimeout: first, IdleTimeout: idle, Timeout: time.Hour, Retries: new(0)}

		return newGateway(m)
	}

	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()

	for name, call := range map[string]func() error{
		"a transcript that does not begin": func() error {
			r := transcription("ears-hang", loudWAV(1))
			r.Duration = time.Second
			_, err := withTimeouts("ears-hang", 100*time.Millisecond, time.Hour).Transcribe(ctx, r)

			return err
		},
		"speech that does not begin": func() error {
			return withTimeouts("voice-silent", 100*time.Millisecond, time.Hour).Speak(ctx, &inference.Speech{Model: "voice-silent", Input: "one", Voice: "alloy"},
				func(*inference.Sound) error { return nil })
		},
		"speech that stops": func() error {
			return withTimeouts("voice-hang", time.Hour, 100*time.Millisecond).Speak(ctx, &inference.Speech{Model: "voice-hang", Input: "one", Voice: "alloy"},
				func(*inference.Sound) error { return nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := inference.AsError(call())
			if e == nil || e.Code != inference.UpstreamTimeout ||
				e.Retryable != strings.HasPrefix(name, "a transcript") {
				t.Errorf("got %+v, want a time-out, retryable for transcripts only", e)
			}
		})
	}
}

func TestTimesAreRequestedAgainTenMinutesAfterARejection(t *testing.T) {
	t.Parallel()
	server, base := inferencetest.Start(t)

	engine, err := openai.New(inference.Upstream{Kind: inference.Plain, BaseURL: base, Model: "ears-untimed"})
	if err != nil {
		t.Fatal(err)
	}
	sent := 0

	// A request with times that is rejected is sent again without them.
	for _, step := range []struct {
		rejectedAgo time.Duration
		sends       int
	}{{time.Hour, 2}, {0, 1}, {9 * time.Minute, 1}, {10 * time.Minute, 2}} {
		t.Run(fmt.Sprintf("rejected %s ago", step.rejectedAgo), func(t *testing.T) {
			openai.SetTimesRejected(engine, step.rejectedAgo)
			r := transcription("ears-untimed", loudWAV(1))

			r.Timed = true

			got, err := engine.(inference.AudioEngine).Transcribe(t.Context(), r, func(bool) {})
			if err != nil || !got.Untimed {
				t.Fatalf("got %+v, %v; want a transcript without times", got, err)
			}

			if n := len(server.Recordings()) - sent; n != step.sends {
				t.Errorf("sent %d times, want %d", n, step.sends)
			}
			sent = len(server.Recordings())
		})
	}
}

// FuzzTranscript checks that any answer of an engine is an *inference.Error or a transcript with valid times.
func FuzzTranscript(f *testing.F) {
	f.Add([]byte(
		`{"text":"one","duration":"1.5","segments":[{"start":0,"end":2,"text":" one","tokens":[1],"words":[{"word":"one"}]}],"words":null}`,
	))
	f.Add([]byte(`{"text":" a","segments":[{"id":{}},[],null,{"tokens":[{}],"start":-1e999}],"words":[[]]}`))
	f.Add([]byte(`{"text":"a","segments":[{"start":"nan","end":"inf"}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(body) }))
		defer web.Close()

		engine, err := openai.New(inference.Upstream{Kind: inference.Plain, BaseURL: web.URL})
		if err != nil {
			t.Fatal(err)
		}
		r := transcription("m", loudWAV(1))
		r.Timed, r.Words = true, true

		got, err := engine.(inference.AudioEngine).Transcribe(t.Context(), r, func(bool) {})
		if err != nil {
			if _, ok := errors.AsType[*inference.Error](err); !ok {
				t.Fatalf("got %T: %v, want an *inference.Error", err, err)
			}

			return
		}

		for _, s := range got.Segments {
			if !(s.Start >= 0 && s.End >= s.Start && s.End <= 86400) {
				t.Errorf("segment %+v has invalid times", s)
			}
		}
	})
}
