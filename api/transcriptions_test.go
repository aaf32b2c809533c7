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

// withTranscription configures a server with the models "ears", which transcribes, and "m", which does not. Recordings may
// have 100 KB.
func withTranscription(t *testing.T) func(*api.Options) {
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

// wavOf returns size bytes that begin like a WAV file. The API does not read further.
func wavOf(size int) string {
	head := "RIFF\x00\x00\x00\x00WAVEfmt "
	return head + strings.Repeat("s", size-len(head))
}

// encodeForm returns the content type and the body of a form with these parts, in their order.
func encodeForm(parts ...part) (contentType string, body []byte) {
	var b bytes.Buffer
	for _, p := range parts {
		fmt.Fprintf(&b, "--x\r\nContent-Disposition: %s\r\n\r\n%s\r\n", p.disposition, p.data)
	}
	b.WriteString("--x--\r\n")

	return "multipart/form-data; boundary=x", b.Bytes()
}

// transcribe sends a form with a recording.
func (h *harness) transcribe(path string, parts []part, headers ...string) reply {
	h.t.Helper()
	contentType, body := encodeForm(parts...)

	return h.do("POST", path, bytes.NewReader(body), append([]string{"Content-Type: " + contentType}, headers...)...)
}

func TestTranscriptionFormBecomesAJob(t *testing.T) {
	t.Parallel()
	h := serve(t, withTranscription(t))

	half := .5
	for name, tc := range map[string]struct {
		path   string
		fields []part
		want   tasks.Transcription
		file   string // the name of the result
	}{
		"only the model": {"transcriptions", nil, tasks.Transcription{Task: "transcribe", Format: "json"}, "Talk.json"},
		"all fields": {"transcriptions", []part{
			field("response_format", "verbose_json"), field("language", "pt-BR"), field("prompt", "Ada."), field("temperature", "0.5"),
			field("timestamp_granularities[]", "word"), field("timestamp_granularities[]", "segment"), field("user", "x"),
		}, tasks.Transcription{Task: "transcribe", Format: "verbose_json", Language: "pt", Prompt: "Ada.", Temperature: &half, Segments: true, Words: true}, "Talk.json"},
		"lists of newer SDKs": {"transcriptions", []part{
			field("include[]", "logprobs"), field("include[]", "x"), field("languages[]", "de"), field("languages[]", "en"), field("include", "a"), field("include", "b"),
			field("known_speaker_references[]", "data:audio/wav;base64,"+strings.Repeat("A", 80_000)), field("chunking_strategy", "auto"),
		}, tasks.Transcription{Task: "transcribe", Format: "json"}, "Talk.json"},
		"words alone":          {"transcriptions", []part{field("response_format", "verbose_json"), field("timestamp_granularities", "word")}, tasks.Transcription{Task: "transcribe", Format: "verbose_json", Words: true}, "Talk.json"},
		"verbose has segments": {"transcriptions", []part{field("response_format", "verbose_json")}, tasks.Transcription{Task: "transcribe", Format: "verbose_json", Segments: true}, "Talk.json"},
		"a translation":        {"translations", []part{field("language", "de"), field("response_format", "srt")}, tasks.Transcription{Task: "translate", Format: "srt"}, "Talk.srt"},
	} {
		t.Run(name, func(t *testing.T) {
			// The recording may come before or after the fields.
			for n, parts := range [][]part{
				append([]part{field("model", "ears")}, append(slices.Clone(tc.fields), file("file", "dir/Talk.mp3", wavOf(50_000)))...),
				append([]part{file("file", "Talk.wav", wavOf(50_000)), field("model", "ears")}, tc.fields...),
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
				if string(stored) != wavOf(50_000) || !strings.HasPrefix(got.Key, storage.Sources+sub.ID) {
					t.Errorf("%d bytes are stored under %s, want the recording as a source of the job",
						len(stored), got.Key)
				}

				tc.want.Key, tc.want.Model, tc.want.Vendor = got.Key, "ears", "presswork"

				diff := cmp.Diff(tc.want, got)
				if diff != "" || sub.Filename != tc.file || sub.Kind != presswork.KindTranscription {
					t.Errorf("got the kind %s and the file %s, want %s; task (-want +got):\n%s", sub.Kind,
						sub.Filename, tc.file, diff)
				}
			}
		})
	}
	// The worker fetches an http address; the API decodes a data: URI.
	h.transcribe("/v1/audio/transcriptions", []part{field("model", "ears"), field("url", "https://Example.com/a.wav")}, "Prefer: respond-async").
		want(t, http.StatusAccepted, "")

	p := string(h.queue.last().Task.Payload)
	if !strings.Contains(p, `"url":"https://example.com/a.wav"`) || strings.Contains(p, `"key"`) {
		t.Errorf("the task is %s, want the address and no recording", p)
	}
	data := "data:audio/wav;base64," + base64.StdEncoding.EncodeToString([]byte(wavOf(60_000)))
	h.transcribe("/v1/audio/transcriptions", []part{field("url", data), field("model", "ears")}, "Prefer: respond-async").
		want(t, http.StatusAccepted, "")

	var got tasks.Transcription

	err := json.Unmarshal(h.queue.last().Task.Payload, &got)
	if err != nil || string(h.stored(got.Key)) != wavOf(60_000) {
		t.Errorf("got %+v, %v; want the decoded recording in the store", got, err)
	}
}

func TestPreferSetsTheWaitForATranscript(t *testing.T) {
	t.Parallel()
	h := serve(t, withTranscription(t))

	parts := []part{field("model", "ears"), file("file", "a.wav", wavOf(50_000))}
	for _, prefer := range []string{"wait=0", "wait=1"} {
		res := h.transcribe("/v1/audio/transcriptions", parts, "Prefer: "+prefer)

		var payload tasks.Transcription

		err := json.Unmarshal(h.queue.last().Task.Payload, &payload)
		if err != nil || payload.Keep != 0 || strings.HasPrefix(payload.Key, storage.Passing) {
			t.Errorf("%s: got the task %+v, %v; want the recording and the result kept", prefer, payload, err)
		}

		if res.StatusCode != http.StatusAccepted || res.Header.Get("Location") != "/api/conversion/"+h.queue.last().ID {
			t.Errorf("%s: got %d %v %s; want 202 and the job", prefer, res.StatusCode, res.Header, res.body)
		}
	}
	h.finishNext("text/plain", []byte("one two\n"))

	res := h.transcribe("/v1/audio/transcriptions", parts, "Prefer: respond-async, wait=60")
	if res.StatusCode != http.StatusOK || string(res.body) != "one two\n" || res.Header.Get("Content-Location") == "" ||
		res.Header.Get("x-job-id") != h.queue.last().ID {
		t.Errorf("got %d %v %s; want the transcript", res.StatusCode, res.Header, res.body)
	}
}

func TestDisconnectCancelsATranscription(t *testing.T) {
	t.Parallel()
	h := serve(t, withTranscription(t))
	contentType, body := encodeForm(field("model", "ears"), file("file", "a.wav", wavOf(50_000)))
	// send sends the request on a connection that the test can close.
	send := func(headers ...string) net.Conn {
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
	conn := send()
	wait.Until(t, "the job exists and is watched",
		func() bool { return h.queue.count() == 1 && h.queue.openWatches() == 1 })
	abandoned := h.queue.last()

	var payload tasks.Transcription

	err := json.Unmarshal(abandoned.Task.Payload, &payload)
	if err != nil || !strings.HasPrefix(payload.Key, storage.Passing+abandoned.ID) || payload.Keep != 600 {
		t.Errorf("got the task %+v, %v; want a passing recording, and 600 s for the result", payload, err)
	}
	conn.Close()
	wait.Until(t, "the job is cancelled and its watch is closed", func() bool {
		rec, err := h.queue.Job(t.Context(), abandoned.ID)
		return err == nil && rec.Status == presswork.Cancelled && h.queue.openWatches() == 0
	})
	// With an idempotency key, the job goes on and its result can be fetched.
	conn = send("Idempotency-Key: k\r\n")
	wait.Until(t, "the second job exists and is watched",
		func() bool { return h.queue.count() == 2 && h.queue.openWatches() == 1 })

	kept := h.queue.last()

	err = json.Unmarshal(kept.Task.Payload, &payload)
	if err != nil || strings.HasPrefix(payload.Key, storage.Passing) {
		t.Errorf("got the task %+v, %v; want the recording kept", payload, err)
	}
	conn.Close()
	wait.Until(t, "every watch is closed", func() bool { return h.queue.openWatches() == 0 })

	if rec, err := h.queue.Job(t.Context(), kept.ID); err != nil || rec.Status != presswork.Queued {
		t.Errorf("the job is %s, %v; want queued", rec.Status, err)
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
		t.Errorf("got %d %v %s; want the transcript of job %s, replayed", res.StatusCode, res.Header, res.body, kept.ID)
	}
}
