package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/api"
	"presswork/internal/fault"
	"presswork/internal/guard"
	"presswork/internal/test/openapitest"
	"presswork/internal/test/wait"
	"presswork/storage"
	"presswork/tasks"
	"presswork/themes"
)

const (
	testKey    = "s3cret-key"
	testSecret = "0123456789abcdef"
)

// harness is a running server with its queue, its store and a client.
type harness struct {
	t      testing.TB
	redis  *redis.Client // set by serveChat only
	queue  *fakeQueue
	store  *storage.Disk
	server *api.Server
	client *http.Client
	// key is sent as X-API-Key, unless the test sets that header or empties key.
	key string
}

// builtins returns the built-in themes, which all tests share.
var builtins = sync.OnceValue(func() *themes.Catalogue { return themes.Open(themes.Options{}) })

// serve starts a server with a fake queue and a temporary store. change may edit its options.
func serve(t testing.TB, change ...func(*api.Options)) *harness {
	t.Helper()
	h := &harness{t: t, queue: newFakeQueue(), key: testKey}

	var err error
	if h.store, err = storage.OpenDisk(storage.DiskOptions{Dir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	catalogue := builtins()

	policy, err := guard.New(guard.Options{})
	if err != nil {
		t.Fatal(err)
	}

	o := api.Options{
		Addr: "127.0.0.1:0", Queue: h.queue, Store: h.store, Themes: catalogue, Webhooks: policy, Exports: policy,
		TokenSecret: []byte(testSecret), Keys: []string{testKey},
		PingInterval: time.Hour, // streams send no pings that a test does not expect
	}
	for _, f := range change {
		f(&o)
	}

	if h.server, err = api.New(o); err != nil {
		t.Fatal(err)
	}

	if err := h.server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()

		ctx, cancel := context.WithTimeout(context.Background(), wait.Patience)
		defer cancel()

		if err := h.server.Stop(ctx); err != nil {
			t.Error(err)
		}
		h.queue.background.Wait() // the background tasks use the store
	})
	h.client = &http.Client{
		Transport: transport, Timeout: wait.Patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}

	return h
}

// withoutKeys configures a server without API keys.
func withoutKeys(o *api.Options) { o.Keys = nil }

func (h *harness) url(path string) string { return "http://" + h.server.Address() + path }

// reply is a response with its whole body.
type reply struct {
	*http.Response
	body []byte
}

// connect opens a connection for requests that http.Client cannot send.
func (h *harness) connect() net.Conn {
	h.t.Helper()

	conn, err := net.Dial("tcp", h.server.Address())
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { conn.Close() })

	if err := conn.SetDeadline(time.Now().Add(wait.Patience)); err != nil {
		h.t.Fatal(err)
	}

	return conn
}

// do sends a request and checks the answer against openapi.yaml. Headers are "Name: value"; "-Name" removes one of
// the client's own.
func (h *harness) do(method, path string, body io.Reader, headers ...string) reply {
	h.t.Helper()

	req, err := http.NewRequestWithContext(h.t.Context(), method, h.url(path), body)
	if err != nil {
		h.t.Fatal(err)
	}

	if h.key != "" {
		req.Header.Set("X-API-Key", h.key)
	}
	sent := map[string]bool{} // headers of this request; a repeated one is added

	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		switch {
		case sent[name]:
			req.Header.Add(name, value)
		case strings.HasPrefix(name, "-"):
			req.Header.Del(name[1:])
		case name == "Host":
			req.Host = value
		default:
			req.Header.Set(name, value)
		}
		sent[name] = true
	}

	res, err := h.client.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer res.Body.Close()

	b, err := io.ReadAll(res.Body)
	if err != nil {
		h.t.Fatal(err)
	}

	if err := described().Check(method, path, res, b); err != nil {
		h.t.Error(err)
	}

	return reply{res, b}
}

// described returns the OpenAPI description that answers are checked against.
var described = sync.OnceValue(func() *openapitest.Description {
	d, err := openapitest.Open("openapi.yaml")
	if err != nil {
		panic(err)
	}

	return d
})

func (h *harness) get(path string, headers ...string) reply {
	h.t.Helper()
	return h.do(http.MethodGet, path, nil, headers...)
}

// post submits a conversion with a JSON body.
func (h *harness) post(body string, headers ...string) reply {
	h.t.Helper()

	return h.do(
		http.MethodPost,
		"/api/conversion",
		strings.NewReader(body),
		append([]string{"Content-Type: application/json"}, headers...)...)
}

// submit creates a job and returns the answer.
func (h *harness) submit() (a struct {
	JobID     string `json:"job_id"`
	Status    string `json:"status"`
	StatusURL string `json:"status_url"`
	WSURL     string `json:"ws_url"`
	EventsURL string `json:"events_url"`
},
) {
	h.t.Helper()
	res := h.post(`{"content":"# Hi"}`)
	res.want(h.t, http.StatusAccepted, "")
	res.decode(h.t, &a)

	return a
}

// finish completes a job with a PDF.
func (h *harness) finish(id string, pdf []byte) presswork.Artifact {
	return h.finishAs(id, "application/pdf", pdf)
}

// finishAs stores data and completes a job with it.
func (h *harness) finishAs(id, contentType string, data []byte) presswork.Artifact {
	info, err := h.store.Put(h.t.Context(), storage.ArtifactKeyOf(id, contentType), bytes.NewReader(data),
		int64(len(data)), storage.Attrs{ContentType: contentType})
	if err != nil {
		h.t.Error(err)
	}
	a := presswork.Artifact{
		ID: id, Size: info.Size, Pages: 1, SHA256: info.SHA256, ContentType: contentType,
		Filename: "report.pdf", ExpiresAt: nowMillis().Add(time.Hour),
	}
	h.queue.complete(id, a)

	return a
}

// decode parses the JSON body.
func (r reply) decode(t testing.TB, v any) {
	t.Helper()

	if err := json.Unmarshal(r.body, v); err != nil {
		t.Fatalf("parsing the body %s: %v", r.body, err)
	}
}

// want fails the test unless the answer has this status, and this error code unless it is "". It checks the form
// of errors and returns the error's fields.
func (r reply) want(t testing.TB, status int, code fault.Code) map[string]string {
	t.Helper()

	if r.StatusCode != status {
		t.Fatalf("%s %s: status %d, want %d; body %s", r.Request.Method, r.Request.URL.Path, r.StatusCode,
			status, r.body)
	}

	if r.Header.Get("X-Request-Id") == "" {
		t.Error("the response has no X-Request-Id")
	}

	if code == "" {
		return nil
	}
	var e struct {
		Error map[string]string `json:"error"`
	}
	r.decode(t, &e)

	if got := fault.Code(e.Error["code"]); got != code || e.Error["message"] == "" || e.Error["type"] == "" {
		t.Fatalf("%s %s: error %v, want code %s", r.Request.Method, r.Request.URL.Path, e.Error, code)
	}

	for name := range maps.Keys(e.Error) {
		switch name {
		case "message", "type", "code", "param", "doc_url":
		default:
			t.Errorf("the error has the unknown field %q", name)
		}
	}

	return e.Error
}

// payload returns the payload of a conversion that the worker would get.
func payload(t *testing.T, s tasks.Submission) (p tasks.Convert) {
	t.Helper()

	if err := json.Unmarshal(s.Task.Payload, &p); err != nil {
		t.Fatal(err)
	}

	return p
}
