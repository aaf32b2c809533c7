package api_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/test/wait"
	"presswork/tasks"
)

// TestRejectedRecordingsLeaveNothing sends the recording before the model. The server stores the recording before it can
// reject the request.
func TestRejectedRecordingsLeaveNothing(t *testing.T) {
	t.Parallel()
	a := serveWithQueue(t, tasks.Options{}, withTranscription(t))
	wav, model := file("file", "a.wav", wavOf(50_000)), field("model", "ears")

	many := []part{wav}
	for n := range 100 {
		many = append(many, field(fmt.Sprint("f", n), ""))
	}

	for name, tc := range map[string]struct {
		parts  []part
		status int
		code   string
		param  string
	}{
		"no model":              {[]part{wav}, 400, "invalid_option", "model"},
		"an unknown model":      {[]part{wav, field("model", "nobody")}, 404, "model_not_found", "model"},
		"a chat model":          {[]part{wav, field("model", "m")}, 400, "invalid_option", "model"},
		"no recording":          {[]part{model}, 400, "invalid_option", "file"},
		"two recordings":        {[]part{wav, wav, model}, 400, "invalid_type", "file"},
		"a file and an address": {[]part{wav, field("url", "https://example.com/a"), model}, 400, "invalid_option", "url"},
		"a field twice":         {[]part{wav, model, model}, 400, "invalid_type", "model"},
		"not UTF-8":             {[]part{wav, model, field("prompt", "\xff")}, 400, "content_not_utf8", "prompt"},
		"too many fields":       {many, 400, "invalid_request", ""},
		"a long field":          {[]part{wav, model, field("language", strings.Repeat("x", 65<<10))}, 413, "content_too_large", "language"},
		"a long prompt":         {[]part{wav, model, field("prompt", strings.Repeat("x", 9<<10))}, 400, "invalid_option", "prompt"},
		"empty":                 {[]part{file("file", "a.wav", ""), model}, 400, "content_empty", "file"},
		"no audio":              {[]part{file("file", "a.wav", "#EXTM3U\nfile:///etc/passwd\n"), model}, 400, "invalid_option", "file"},
		"too large":             {[]part{file("file", "a.wav", wavOf(100_001)), model}, 413, "content_too_large", "file"},
		"the format":            {[]part{wav, model, field("response_format", "vtt2")}, 400, "invalid_option", "response_format"},
		"no such granularity":   {[]part{wav, model, field("response_format", "verbose_json"), field("timestamp_granularities[]", "letter")}, 400, "invalid_option", "timestamp_granularities"},
		"times without verbose": {[]part{wav, model, field("timestamp_granularities[]", "word")}, 400, "invalid_option", "timestamp_granularities"},
		"temperature":           {[]part{wav, model, field("temperature", "1.1")}, 400, "invalid_option", "temperature"},
		"no temperature":        {[]part{wav, model, field("temperature", "NaN")}, 400, "invalid_option", "temperature"},
		"language":              {[]part{wav, model, field("language", "English!")}, 400, "invalid_option", "language"},
		"a stream":              {[]part{wav, model, field("stream", "true")}, 400, "invalid_option", "stream"},
		"a stream in Python":    {[]part{wav, model, field("stream", "True")}, 400, "invalid_option", "stream"},
		"a file's address":      {[]part{model, field("url", "file:///etc/passwd")}, 400, "invalid_url", "url"},
		"ffmpeg's protocols":    {[]part{model, field("url", "concat:/etc/passwd|/etc/shadow")}, 400, "invalid_url", "url"},
		"the metadata":          {[]part{model, field("url", "http://169.254.169.254/latest")}, 403, "address_not_allowed", "url"},
		"plain data":            {[]part{model, field("url", "data:audio/wav,abc")}, 400, "invalid_url", "url"},
		"broken data":           {[]part{model, field("url", "data:audio/wav;base64,"+base64.StdEncoding.EncodeToString([]byte(wavOf(30_000)))+"$$$")}, 400, "invalid_url", "url"},
	} {
		t.Run(name, func(t *testing.T) {
			res := a.transcribe("/v1/audio/transcriptions", tc.parts)

			var e struct {
				Error struct{ Message, Code, Param string }
			}

			err := json.Unmarshal(res.body, &e)
			if err != nil || res.StatusCode != tc.status || e.Error.Code != tc.code ||
				e.Error.Param != tc.param || e.Error.Message == "" {
				t.Errorf("got %d %s, want %d %s of %s", res.StatusCode, res.body, tc.status, tc.code, tc.param)
			}
		})
	}

	for name, headers := range map[string][]string{
		"JSON": {"Content-Type: application/json"}, "no boundary": {"Content-Type: multipart/form-data"}, "packed": {"Content-Type: multipart/form-data; boundary=x", "Content-Encoding: gzip"},
	} {
		t.Run(name, func(t *testing.T) {
			res := a.do("POST", "/v1/audio/transcriptions", strings.NewReader("--x"), headers...)
			if res.StatusCode != 400 && res.StatusCode != 415 {
				t.Errorf("got %d %s, want 400 or 415", res.StatusCode, res.body)
			}
		})
	}
	// The form ends within the recording.
	_, body := encodeForm(model, wav)
	res := a.do("POST", "/v1/audio/transcriptions", bytes.NewReader(body[:30_000]),
		"Content-Type: multipart/form-data; boundary=x")
	res.want(t, http.StatusBadRequest, fault.InvalidRequest)
	// The client disconnects within the recording.
	conn, err := net.Dial("tcp", strings.TrimPrefix(a.url(""), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(
		conn,
		"POST /v1/audio/transcriptions HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: %d\r\n\r\n%s",
		testKey,
		len(body),
		body[:40_000],
	)
	a.awaitCounted(t, 1)
	conn.Close()
	a.awaitCounted(t, 0)

	if keys := a.storedKeys(); len(keys) != 0 {
		t.Errorf("the store has %q, want nothing", keys)
	}
	// A second recording with the same idempotency key is a conflict. One job and one recording stay.
	send := func(size int) reply {
		return a.transcribe("/v1/audio/transcriptions", []part{model, file("file", "a.wav", wavOf(size))},
			"Prefer: respond-async", "Idempotency-Key: k")
	}
	send(20_000).want(t, http.StatusAccepted, "")
	send(20_000).want(t, http.StatusAccepted, "")
	send(20_001).want(t, http.StatusConflict, fault.IdempotencyConflict)
	// A different Prefer header does not make it another request.
	a.transcribe("/v1/audio/transcriptions", []part{model, file("file", "a.wav", wavOf(20_000))}, "Prefer: wait=0", "Idempotency-Key: k").
		want(t, http.StatusAccepted, "")
	a.transcribe("/v1/audio/transcriptions", []part{model, file("file", "a.wav", wavOf(20_000))}, "X-Stainless-Timeout: 0.5", "Idempotency-Key: k").
		want(t, http.StatusGatewayTimeout, inference.UpstreamTimeout)

	if keys := a.storedKeys(); len(keys) != 1 {
		t.Errorf("the store has %q, want one recording", keys)
	}

	if total, err := a.rdb.Get(t.Context(), "pw:{keep}:total").Int(); err != nil || total != 20_000 {
		t.Errorf("%d bytes are counted, %v; want the size of the recording", total, err)
	}
}

// awaitCounted waits until the keeper counts n objects.
func (a *queuedServer) awaitCounted(t *testing.T, n int64) {
	t.Helper()
	wait.Until(t, fmt.Sprint(n, " objects are counted"),
		func() bool { return a.rdb.HLen(t.Context(), "pw:{keep}:size").Val() == n })
}

func TestStoredRecordingIsCountedWithItsSize(t *testing.T) {
	t.Parallel()
	a := serveWithQueue(t, tasks.Options{}, withTranscription(t))
	parts := []part{field("model", "ears"), file("file", "a.wav", wavOf(90_000))}
	a.transcribe("/v1/audio/transcriptions", parts, "Prefer: respond-async").want(t, http.StatusAccepted, "")

	if total, err := a.rdb.Get(t.Context(), "pw:{keep}:total").Int(); err != nil || total != 90_000 {
		t.Errorf("%d bytes are counted, %v; want the size of the recording", total, err)
	}
}
