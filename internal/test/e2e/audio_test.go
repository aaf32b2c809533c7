package e2e_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"presswork"
	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/e2e"
	"presswork/internal/test/wait"
)

// sampleWAV returns a WAV file of 16 000 samples of two bytes a second. 1.5 seconds of a tone and half a second of silence
// alternate.
func sampleWAV(seconds int) []byte {
	const rate = 16000
	size := uint32(seconds * rate * 2)
	b := binary.LittleEndian.AppendUint32([]byte("RIFF"), 36+size)
	// The format: PCM, one channel, the rate, bytes a second, bytes and bits of a sample.
	b = append(b, "WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x80\x3e\x00\x00\x00\x7d\x00\x00\x02\x00\x10\x00data"...)
	b = binary.LittleEndian.AppendUint32(b, size)

	for n := range seconds * rate {
		at := float64(n) / rate

		v := int16(12000 * math.Sin(2*math.Pi*440*at))
		if math.Mod(at, 2) > 1.5 {
			v = 0
		}
		b = binary.LittleEndian.AppendUint16(b, uint16(v))
	}

	return b
}

// audioForm returns a form with a file, unless data is nil, and with fields as name=value.
func audioForm(t testing.TB, name string, data []byte, fields ...string) (contentType string, body []byte) {
	t.Helper()
	var out bytes.Buffer

	w := multipart.NewWriter(&out)
	if data != nil {
		part, err := w.CreateFormFile("file", name)
		if err == nil {
			_, err = part.Write(data)
		}

		if err != nil {
			t.Fatal(err)
		}
	}

	for _, f := range fields {
		name, value, _ := strings.Cut(f, "=")
		if err := w.WriteField(name, value); err != nil {
			t.Fatal(err)
		}
	}

	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	return w.FormDataContentType(), out.Bytes()
}

// audioModels writes a models.yaml for transcription and speech, with recordings cut after 6 seconds. Each name is a
// scenario of the scripted server.
func audioModels(t testing.TB, base string, names ...string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("models:\n")

	for _, name := range names {
		fmt.Fprintf(&b,
			"  - {id: %q, capabilities: [transcription, speech], audio: {part: 6s}, upstreams: [{base_url: %q}]}\n",
			name, base)
	}
	fmt.Fprintf(&b, "  - {id: chat, upstreams: [{base_url: %q, model: hello}]}\n", base)

	return writeFile(t, "models.yaml", b.String())
}

// verboseTranscript is the answer in the format verbose_json.
type verboseTranscript struct {
	Task     string
	Language string
	Duration float64
	Text     string
	Segments []struct {
		ID         int
		Start, End float64
		Text       string
	}
	Words []struct {
		Word       string
		Start, End float64
	}
	Presswork struct{ ID string } `json:"x_presswork"`
}

// transcribe posts data as meeting.wav, unless it is nil, with form fields.
func transcribe(t *testing.T, c *e2e.Client, data []byte, fields ...string) (int, http.Header, []byte) {
	t.Helper()
	contentType, body := audioForm(t, "meeting.wav", data, fields...)

	return c.Do("POST", "/v1/audio/transcriptions", contentType, body)
}

func TestRecordingsAreTranscribed(t *testing.T) {
	t.Parallel()
	server, base := inferencetest.Start(t)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(sampleWAV(2)) }))
	t.Cleanup(web.Close)
	_, c := e2e.Serve(t, map[string]string{
		"INFERENCE_CONFIG": audioModels(t, base, "ears", "ears-untimed", "ears-fail-at:1", "ears-limited",
			"ears-broken"),
		"WORKER_QUEUES":          "audio,infer",
		"OUTBOUND_ALLOW_PRIVATE": strings.TrimPrefix(web.URL, "http://"),
		"MAX_AUDIO_DURATION":     "1m",
		"MAX_AUDIO_BYTES":        "3000000",
	})
	// A recording of 2 s is sent in one part.
	for format, want := range map[string]string{
		"json": `{"text":"one two","usage":{"type":"duration","seconds":2},"x_presswork":{"id":"req_`,
		"text": "one two\n",
		"srt":  "1\n00:00:00,000 --> 00:00:02,000\none two\n\n",
		"vtt":  "WEBVTT\n\n00:00:00.000 --> 00:00:02.000\none two\n\n",
		"verbose_json": `{"task":"transcribe","language":"english","duration":2,"text":"one two",` +
			`"segments":[{"id":0,"seek":0,"start":0,"end":2,"text":" one two",`,
	} {
		t.Run(format, func(t *testing.T) {
			status, header, body := transcribe(t, c, sampleWAV(2), "model=ears", "response_format="+format)
			if status != 200 || !strings.HasPrefix(string(body), want) || header.Get("x-job-id") == "" {
				t.Errorf("status %d, headers %v, body %s; want 200 and %s", status, header, body, want)
			}
		})
	}
	t.Run("a long recording", func(t *testing.T) { checkLongTranscription(t, server, c) })

	for name, url := range map[string]string{
		"URL":                   web.URL + "/a.wav",
		"data URI":              "data:audio/wav;base64," + base64.StdEncoding.EncodeToString(sampleWAV(2)),
		"data URI in base64url": "data:audio/wav;base64," + base64.RawURLEncoding.EncodeToString(sampleWAV(2)),
	} {
		t.Run(name, func(t *testing.T) {
			status, _, body := transcribe(t, c, nil, "model=ears", "response_format=text", "url="+url)
			if status != 200 || string(body) != "one two\n" {
				t.Errorf("%.40s: status %d, %s; want 200 and one two", url, status, body)
			}
		})
	}
	// The engine returns no times, so the subtitles have the times of the parts.
	status, header, body := transcribe(t, c, sampleWAV(9), "model=ears-untimed", "response_format=srt")
	if status != 200 || header.Get("x-presswork-warning") != "times_missing" ||
		!strings.HasPrefix(string(body), "1\n00:00:00,000 --> ") ||
		!strings.Contains(string(body), "2\n00:00:0") {
		t.Errorf("status %d, headers %v, %s; want 200, the warning times_missing and two subtitles", status,
			header, body)
	}
	// One of three parts fails. Only that part is sent again.
	for _, model := range []string{"ears-fail-at:1", "ears-limited"} {
		t.Run(model, func(t *testing.T) {
			before := len(server.Recordings())
			status, _, body := transcribe(t, c, sampleWAV(12), "model="+model, "response_format=text")

			sent := len(server.Recordings()) - before
			if status != 200 || strings.Count(string(body), "one") != 3 || sent != 4 {
				t.Errorf("status %d, %s after %d requests; want 200 with 3 parts after 4", status, body, sent)
			}
		})
	}
	contentType, request := audioForm(t, "a.bin", sampleWAV(1), "model=ears")

	status, _, body = c.Do("POST", "/openai/v1/audio/translations", contentType, request)
	if last := server.Recordings()[len(server.Recordings())-1]; status != 200 || last.Path != "/v1/audio/translations" {
		t.Errorf("status %d, %s, sent to %s; want 200 and /v1/audio/translations", status, body, last.Path)
	}

	// The model ears got five formats of 2 s, 17 s, three addresses of 2 s, and 1 s of the translation.
	status, _, body = c.Do("GET", "/v1/usage?group_by=model", "", nil)
	if !strings.Contains(string(body), `"audio_seconds":34`) {
		t.Errorf("usage: status %d, %s; want 34 audio seconds", status, body)
	}
	checkInvalidTranscriptions(t, c)
}

// checkLongTranscription transcribes a recording of 17 s, which the server cuts at its pauses.
func checkLongTranscription(t *testing.T, server *inferencetest.Server, c *e2e.Client) {
	status, _, body := transcribe(t, c, sampleWAV(17), "model=ears", "response_format=verbose_json",
		"timestamp_granularities[]=word", "timestamp_granularities[]=segment", "prompt=Ada.")

	var got verboseTranscript
	if err := json.Unmarshal(body, &got); err != nil || status != 200 {
		t.Fatalf("status %d, %s; want 200 and a verbose transcript", status, body)
	}

	if got.Duration != 17 || len(got.Segments) < 3 || len(got.Words) < 15 ||
		!strings.HasPrefix(got.Presswork.ID, "req_") {
		t.Errorf("got %s, want 17 s, 3 segments, 15 words and a request id", body)
	}

	at := 0.0
	for n, s := range got.Segments {
		if s.ID != n || s.Start != at || n < len(got.Segments)-1 && math.Mod(s.End, 2) < 1.5 {
			t.Errorf("segment %d is %+v, want it to start at %g and to end at a pause", n, s, at)
		}
		at = s.End
	}

	parts := server.Recordings()[len(server.Recordings())-len(got.Segments):]
	if p := parts[1].Fields["prompt"]; len(p) == 0 || !strings.HasPrefix(p[0], "Ada. one two") {
		t.Errorf("prompt of the second part: %q, want the text of the first part in it", p)
	}
}

// checkInvalidTranscriptions sends requests with one mistake each.
func checkInvalidTranscriptions(t *testing.T, c *e2e.Client) {
	t.Helper()

	wav := sampleWAV(1)
	for name, tc := range map[string]struct {
		data   []byte
		fields string
		status int
		code   string
		param  string
	}{
		"no model":         {wav, "", 400, "invalid_option", "model"},
		"unknown model":    {wav, "model=x", 404, "model_not_found", "model"},
		"chat model":       {wav, "model=chat", 400, "invalid_option", "model"},
		"no recording":     {nil, "model=ears", 400, "invalid_option", "file"},
		"file and URL":     {wav, "model=ears&url=https://example.com/a.wav", 400, "invalid_option", "url"},
		"empty recording":  {[]byte{}, "model=ears", 400, "content_empty", "file"},
		"playlist":         {[]byte("#EXTM3U\nfile:///etc/passwd\n"), "model=ears", 400, "invalid_option", "file"},
		"cut FLAC":         {[]byte("fLaC\x00\x00\x00\x22"), "model=ears", 400, "invalid_option", "file"},
		"too large":        {sampleWAV(94), "model=ears", 413, "content_too_large", "file"},
		"too long":         {sampleWAV(61), "model=ears", 413, "content_too_large", "file"},
		"format":           {wav, "model=ears&response_format=xml", 400, "invalid_option", "response_format"},
		"words in JSON":    {wav, "model=ears&timestamp_granularities[]=word", 400, "invalid_option", "timestamp_granularities"},
		"granularity":      {wav, "model=ears&response_format=verbose_json&timestamp_granularities=letter", 400, "invalid_option", "timestamp_granularities"},
		"temperature":      {wav, "model=ears&temperature=warm", 400, "invalid_option", "temperature"},
		"language":         {wav, "model=ears&language=English!", 400, "invalid_option", "language"},
		"stream":           {wav, "model=ears&stream=true", 400, "invalid_option", "stream"},
		"file URL":         {nil, "model=ears&url=file:///etc/passwd", 400, "invalid_url", "url"},
		"concat protocol":  {nil, "model=ears&url=concat:/etc/passwd|/etc/shadow", 400, "invalid_url", "url"},
		"subfile protocol": {nil, "model=ears&url=subfile,,start,0,end,0,,:/etc/passwd", 400, "invalid_url", "url"},
		"metadata service": {nil, "model=ears&url=http://169.254.169.254/latest", 403, "address_not_allowed", "url"},
		"private address":  {nil, "model=ears&url=http://127.0.0.1:1/a.wav", 403, "address_not_allowed", "url"},
		"not base64":       {nil, "model=ears&url=data:audio/wav;base64,$$$$", 400, "invalid_url", "url"},
		"data as text":     {nil, "model=ears&url=data:audio/wav,abc", 400, "invalid_url", "url"},
		"broken engine":    {wav, "model=ears-broken", 502, "upstream_error", ""},
	} {
		t.Run(name, func(t *testing.T) {
			fields := strings.Split(tc.fields, "&")
			if tc.fields == "" {
				fields = nil
			}
			status, header, body := transcribe(t, c, tc.data, fields...)

			var e struct {
				Error struct{ Message, Type, Code, Param string }
			}

			err := json.Unmarshal(body, &e)
			if err != nil || e.Error.Message == "" || e.Error.Type == "" || header.Get("x-should-retry") == "" {
				t.Fatalf("status %d, %s; want an error with a message, a type and x-should-retry", status, body)
			}

			if status != tc.status || e.Error.Code != tc.code || e.Error.Param != tc.param {
				t.Errorf("status %d, %s; want %d %s of %q", status, body, tc.status, tc.code, tc.param)
			}
		})
	}

	status, _, body := c.Do("POST", "/v1/audio/transcriptions", "application/json", []byte(`{"model":"ears"}`))
	if status != 415 {
		t.Errorf("JSON body: status %d, %s; want 415", status, body)
	}
}

func TestTranscriptionSurvivesAKilledWorker(t *testing.T) {
	t.Parallel()
	server, base := inferencetest.Start(t)
	f := newFleet(t)
	// The engine does not answer the recording 3, counted from 0.
	env := map[string]string{"INFERENCE_CONFIG": audioModels(t, base, "ears-hang-at:3"), "WORKER_QUEUES": "audio"}
	_, c := f.API(env)
	first := f.Worker(env)
	contentType, body := audioForm(t, "Meeting: one.wav", sampleWAV(24), "model=ears-hang-at:3", "response_format=srt")

	status, header, answer := c.Do("POST", "/v1/audio/transcriptions", contentType, body, "Prefer",
		"respond-async", "Idempotency-Key", "a")
	if header.Get("Preference-Applied") != "respond-async" {
		t.Fatalf("status %d, headers %v, %s; want Preference-Applied: respond-async", status, header, answer)
	}
	accepted := c.Accept(status, header, answer)
	wait.Until(t, "the fourth part is sent", func() bool { return len(server.Recordings()) == 4 })
	wait.Until(t, "the job reports its parts", func() bool {
		job := c.Job(accepted.JobID)
		return job.Kind == presswork.KindTranscription && job.Stage == presswork.StageTranscribing && job.Progress > 10
	})
	first.Signal(syscall.SIGKILL)
	<-first.Ended()
	f.Worker(env)

	job := c.Wait(accepted.JobID)
	if job.Status != presswork.Completed || job.Artifact == nil || job.Artifact.Filename != "Meeting_ one.srt" ||
		!strings.HasPrefix(job.Artifact.ContentType, "application/x-subrip") {
		t.Fatalf("job %+v, artifact %+v; want Meeting_ one.srt of application/x-subrip", job, job.Artifact)
	}
	text := string(c.Download(job))

	parts := strings.Count(text, " --> ") // each part has one segment
	if parts < 4 {
		t.Errorf("%d subtitles, want 4 or more:\n%s", parts, text)
	}
	// Only the unfinished part is sent again.
	if n := len(server.Recordings()); n != parts+1 {
		t.Errorf("the engine got %d requests for %d parts, want one more than parts", n, parts)
	}

	status, header, again := c.Do("POST", "/v1/audio/transcriptions", contentType, body, "Prefer",
		"respond-async", "Idempotency-Key", "a")
	if status != 202 || header.Get("Idempotent-Replayed") != "true" ||
		!strings.Contains(string(again), accepted.JobID) {
		t.Errorf("the same Idempotency-Key again: status %d, %s; want 202 and the same job", status, again)
	}

	status, _, list := c.Do("GET", "/api/conversion?kind=transcription", "", nil)
	if status != 200 || strings.Count(string(list), `"job_id"`) != 1 {
		t.Errorf("list of transcriptions: status %d, %s; want one job", status, list)
	}
}
