package api_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"presswork"
	"presswork/api"
	"presswork/internal/guard"
	"presswork/internal/inference/catalogue"
	"presswork/internal/inference/meter"
	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
	"presswork/storage"
	"presswork/tasks"
	"presswork/tasks/redisdial"
)

// transcribing configures a server with the model "ears", which transcribes, and "m", which does not. Recordings may have
// 100 KB.
func transcribing(t *testing.T) func(*api.Options) {
	t.Helper()

	models := filepath.Join(t.TempDir(), "models.yaml")

	err := os.WriteFile(
		models,
		[]byte(
			"models: [{id: m, upstreams: [{base_url: 'http://127.0.0.1:1/v1'}]}, {id: ears, capabilities: [transcription], upstreams: [{base_url: 'http://127.0.0.1:1/v1'}]}]",
		),
		0o600,
	)
	if err != nil {
		t.Fatal(err)
	}

	source, err := catalogue.NewSource(t.Context(), catalogue.SourceOptions{Path: models})
	if err != nil {
		t.Fatal(err)
	}

	policy, err := guard.New(guard.Options{})
	if err != nil {
		t.Fatal(err)
	}

	rdb, err := redisdial.Dial(redistest.Start(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rdb.Close() })

	return func(o *api.Options) {
		o.Inference = &api.Inference{Models: source.Current, Vendor: "presswork"}
		o.Meter = meter.New(rdb, slog.New(slog.DiscardHandler))
		o.Recordings, o.MaxAudioBytes = policy, 100_000
	}
}

// sound returns size bytes that begin like a WAV file. The API does not read further.
func sound(size int) string {
	head := "RIFF\x00\x00\x00\x00WAVEfmt "
	return head + strings.Repeat("s", size-len(head))
}

// recorded returns a form with these parts.
func recorded(parts ...part) (contentType string, body []byte) {
	var b bytes.Buffer
	for _, p := range parts {
		fmt.Fprintf(&b, "--x\r\nContent-Disposition: %s\r\n\r\n%s\r\n", p.disposition, p.data)
	}
	b.WriteString("--x--\r\n")

	return "multipart/form-data; boundary=x", b.Bytes()
}

func (h *harness) transcribe(path string, parts []part, headers ...string) reply {
	h.t.Helper()
	contentType, body := recorded(parts...)

	return h.do("POST", path, bytes.NewReader(body), append([]string{"Content-Type: " + contentType}, headers...)...)
}

func TestTheFormOfARecordingBecomesAJob(t *testing.T) {
	t.Parallel()
	h := serve(t, transcribing(t))

	half := .5
	for name, tc := range map[string]struct {
		path   string
		fields []part
		want   tasks.Transcription
		named  string
	}{
		"nothing but the model": {"transcriptions", nil, tasks.Transcription{Task: "transcribe", Format: "json"}, "Talk.json"},
		"all of it": {"transcriptions", []part{
			field("response_format", "verbose_json"), field("language", "pt-BR"), field("prompt", "Ada."), field("temperature", "0.5"),
			field("timestamp_granularities[]", "word"), field("timestamp_granularities[]", "segment"), field("user", "x"),
		}, tasks.Transcription{Task: "transcribe", Format: "verbose_json", Language: "pt", Prompt: "Ada.", Temperature: &half, Segments: true, Words: true}, "Talk.json"},
		"lists of newer SDKs": {"transcriptions", []part{
			field("include[]", "logprobs"), field("include[]", "x"), field("languages[]", "de"), field("languages[]", "en"), field("include", "a"), field("include", "b"),
			field("known_speaker_references[]", "data:audio/wav;base64,"+strings.Repeat("A", 80_000)), field("chunking_strategy", "auto"),
		}, tasks.Transcription{Task: "transcribe", Format: "json"}, "Talk.json"},
		"words alone":             {"transcriptions", []part{field("response_format", "verbose_json"), field("timestamp_granularities", "word")}, tasks.Transcription{Task: "transcribe", Format: "verbose_json", Words: true}, "Talk.json"},
		"verbose is of segments":  {"transcriptions", []part{field("response_format", "verbose_json")}, tasks.Transcription{Task: "transcribe", Format: "verbose_json", Segments: true}, "Talk.json"},
		"a translation is to one": {"translations", []part{field("language", "de"), field("response_format", "srt")}, tasks.Transcription{Task: "translate", Format: "srt"}, "Talk.srt"},
	} {
		t.Run(name, func(t *testing.T) {
			// The order of the fields does not matter.
			for n, parts := range [][]part{
				append([]part{field("model", "ears")}, append(slices.Clone(tc.fields), file("file", "dir/Talk.mp3", sound(50_000)))...),
				append([]part{file("file", "Talk.wav", sound(50_000)), field("model", "ears")}, tc.fields...),
			} {
				headers := []string{"Prefer: respond-async"}
				if n == 1 {
					headers = append(headers, "Idempotency-Key: "+name)
				}
				res := h.transcribe("/v1/audio/"+tc.path, parts, headers...)
				res.want(t, http.StatusAccepted, "")
				sub := h.queue.last()

				var got tasks.Transcription
				if err := json.Unmarshal(sub.Task.Payload, &got); err != nil {
					t.Fatal(err)
				}

				stored := h.stored(got.Key)
				if string(stored) != sound(50_000) || !strings.HasPrefix(got.Key, storage.Sources+sub.ID) {
					t.Errorf("%s: %d bytes under %s", name, len(stored), got.Key)
				}

				tc.want.Key, tc.want.Model, tc.want.Vendor = got.Key, "ears", "presswork"

				diff := cmp.Diff(tc.want, got)
				if diff != "" || sub.Filename != tc.named || sub.Kind != presswork.KindTranscription {
					t.Errorf("%s: %s %s (-want +got) %s", name, sub.Kind, sub.Filename, diff)
				}
			}
		})
	}
	// The worker fetches an http address; the API decodes a data: URI.
	h.transcribe("/v1/audio/transcriptions", []part{field("model", "ears"), field("url", "https://Example.com/a.wav")}, "Prefer: respond-async").
		want(t, http.StatusAccepted, "")

	p := string(h.queue.last().Task.Payload)
	if !strings.Contains(p, `"url":"https://example.com/a.wav"`) || strings.Contains(p, `"key"`) {
		t.Errorf("%s", p)
	}
	data := "data:audio/wav;base64," + base64.StdEncoding.EncodeToString([]byte(sound(60_000)))
	h.transcribe("/v1/audio/transcriptions", []part{field("url", data), field("model", "ears")}, "Prefer: respond-async").
		want(t, http.StatusAccepted, "")

	var got tasks.Transcription

	err := json.Unmarshal(h.queue.last().Task.Payload, &got)
	if err != nil || string(h.stored(got.Key)) != sound(60_000) {
		t.Errorf("%v %+v", err, got)
	}
}

func TestPreferSetsTheWaitForATranscript(t *testing.T) {
	t.Parallel()
	h := serve(t, transcribing(t))

	parts := []part{field("model", "ears"), file("file", "a.wav", sound(50_000))}
	for _, prefer := range []string{"wait=0", "wait=1"} {
		res := h.transcribe("/v1/audio/transcriptions", parts, "Prefer: "+prefer)

		var payload tasks.Transcription

		err := json.Unmarshal(h.queue.last().Task.Payload, &payload)
		if err != nil || payload.Keep != 0 || strings.HasPrefix(payload.Key, storage.Passing) {
			t.Errorf("%s: %v %+v", prefer, err, payload)
		}

		if res.StatusCode != http.StatusAccepted || res.Header.Get("Location") != "/api/conversion/"+h.queue.last().ID {
			t.Errorf("%s: %d %v %s", prefer, res.StatusCode, res.Header, res.body)
		}
	}
	h.finishNext("text/plain", []byte("one two\n"))

	res := h.transcribe("/v1/audio/transcriptions", parts, "Prefer: respond-async, wait=60")
	if res.StatusCode != http.StatusOK || string(res.body) != "one two\n" || res.Header.Get("Content-Location") == "" ||
		res.Header.Get("x-job-id") != h.queue.last().ID {
		t.Errorf("%d %v %s", res.StatusCode, res.Header, res.body)
	}
}

func TestADisconnectCancelsATranscription(t *testing.T) {
	t.Parallel()
	h := serve(t, transcribing(t))
	contentType, body := recorded(field("model", "ears"), file("file", "a.wav", sound(50_000)))
	ask := func(headers ...string) net.Conn {
		t.Helper()

		conn, err := net.Dial("tcp", strings.TrimPrefix(h.url(""), "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		fmt.Fprintf(
			conn,
			"POST /v1/audio/transcriptions HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\nContent-Type: %s\r\n%sContent-Length: %d\r\n\r\n%s",
			testKey,
			contentType,
			strings.Join(headers, ""),
			len(body),
			body,
		)

		return conn
	}
	conn := ask()
	wait.Until(t, "the job exists and is watched",
		func() bool { return h.queue.count() == 1 && h.queue.watching() == 1 })
	left := h.queue.last()

	var payload tasks.Transcription

	err := json.Unmarshal(left.Task.Payload, &payload)
	if err != nil || !strings.HasPrefix(payload.Key, storage.Passing+left.ID) || payload.Keep != 600 {
		t.Errorf("%v %+v", err, payload)
	}
	conn.Close()
	wait.Until(t, "the job is cancelled and its watch is closed", func() bool {
		rec, err := h.queue.Job(t.Context(), left.ID)
		return err == nil && rec.Status == presswork.Cancelled && h.queue.watching() == 0
	})
	// With an idempotency key, the job goes on and its result can be fetched.
	conn = ask("Idempotency-Key: k\r\n")
	wait.Until(t, "the second job exists and is watched",
		func() bool { return h.queue.count() == 2 && h.queue.watching() == 1 })

	kept := h.queue.last()

	err = json.Unmarshal(kept.Task.Payload, &payload)
	if err != nil || strings.HasPrefix(payload.Key, storage.Passing) {
		t.Errorf("%v %+v", err, payload)
	}
	conn.Close()
	wait.Until(t, "every watch is closed", func() bool { return h.queue.watching() == 0 })

	if rec, err := h.queue.Job(t.Context(), kept.ID); err != nil || rec.Status != presswork.Queued {
		t.Errorf("%s %v", rec.Status, err)
	}
	text := []byte("one two\n")

	key := storage.ArtifactKeyOf(kept.ID, "text/plain")

	_, err = h.store.Put(t.Context(), key, bytes.NewReader(text), int64(len(text)),
		storage.Attrs{ContentType: "text/plain"})
	if err != nil {
		t.Fatal(err)
	}
	h.queue.complete(
		kept.ID,
		presswork.Artifact{
			ContentType: "text/plain",
			Size:        int64(len(text)),
			Filename:    "a.txt",
			ExpiresAt:   time.Now().Add(time.Hour),
		},
	)

	res := h.do("POST", "/v1/audio/transcriptions", bytes.NewReader(body), "Content-Type: "+contentType,
		"Idempotency-Key: k")
	if res.StatusCode != http.StatusOK || string(res.body) != string(text) ||
		res.Header.Get("Idempotent-Replayed") != "true" || res.Header.Get("x-job-id") != kept.ID {
		t.Errorf("%d %v %s", res.StatusCode, res.Header, res.body)
	}
}
