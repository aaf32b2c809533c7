package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"presswork"
	"presswork/internal/test/openapitest"
)

// Client calls the public API. Its methods fail the test if a request fails.
type Client struct {
	t    testing.TB
	Base string
	Key  string
	HTTP *http.Client
}

// NewClient returns a client of the API at address, with a key or "".
func NewClient(t testing.TB, address, key string) *Client {
	return &Client{t: t, Base: "http://" + address, Key: key, HTTP: &http.Client{
		Timeout:   3 * time.Minute,
		Transport: &http.Transport{MaxIdleConnsPerHost: 64},
	}}
}

// For returns a client of the same server that fails t, such as a subtest.
func (c *Client) For(t testing.TB) *Client {
	return &Client{t: t, Base: c.Base, Key: c.Key, HTTP: c.HTTP}
}

// Do sends a request and returns the status, headers and body of the response. headers are pairs of a name and a value.
// In tests the response must match the OpenAPI description.
func (c *Client) Do(method, path, contentType string, body []byte, headers ...string) (int, http.Header, []byte) {
	c.t.Helper()

	status, header, got, err := c.Try(method, path, contentType, body, headers...)
	if err != nil {
		c.t.Fatal(err)
	}

	return status, header, got
}

// Try is Do for a connection that may fail. It returns the error instead of failing the test.
func (c *Client) Try(
	method, path, contentType string,
	body []byte,
	headers ...string,
) (int, http.Header, []byte, error) {
	res, err := c.send(context.Background(), method, path, contentType, body, headers)
	if err != nil {
		return 0, nil, nil, err
	}
	defer res.Body.Close()

	got, err := io.ReadAll(res.Body)
	if err != nil {
		return res.StatusCode, res.Header, got, err
	}
	// Benchmarks skip the check, which they would measure.
	if _, measured := c.t.(*testing.B); measured {
		return res.StatusCode, res.Header, got, nil
	}

	if err := described().Check(method, path, res, got); err != nil {
		c.t.Error(err)
	}

	return res.StatusCode, res.Header, got, nil
}

// PostJSON sends a request that ends with ctx. The caller reads and closes the body of the response.
func (c *Client) PostJSON(ctx context.Context, path string, body []byte, headers ...string) (*http.Response, error) {
	return c.send(ctx, http.MethodPost, path, "application/json", body, headers)
}

func (c *Client) send(
	ctx context.Context,
	method, path, contentType string,
	body []byte,
	headers []string,
) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.Base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}

	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}

	if c.Key != "" {
		req.Header.Set("X-API-Key", c.Key)
	}

	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}

	return c.HTTP.Do(req)
}

// described returns the OpenAPI description that responses must match.
var described = sync.OnceValue(func() *openapitest.Description {
	d, err := openapitest.Open("../../../api/openapi.yaml")
	if err != nil {
		panic(err)
	}

	return d
})

// Submission is the body of POST /api/conversion.
type Submission struct {
	Content    string            `json:"content"`
	Theme      string            `json:"theme,omitempty"`
	Options    presswork.Options `json:"options,omitzero"`
	WebhookURL string            `json:"webhook_url,omitempty"`
	Filename   string            `json:"filename,omitempty"`
	Priority   string            `json:"priority,omitempty"`
}

// Submit submits a document, which the server must accept, and returns the response.
func (c *Client) Submit(s Submission, headers ...string) Accepted {
	c.t.Helper()

	body, err := json.Marshal(s)
	if err != nil {
		c.t.Fatal(err)
	}

	return c.Accept(c.Do("POST", "/api/conversion", "application/json", body, headers...))
}

// Accept returns the body of a response, which must have the status 202.
func (c *Client) Accept(status int, _ http.Header, body []byte) Accepted {
	c.t.Helper()

	if status != http.StatusAccepted {
		c.t.Fatalf("submission: status %d, %s; want 202", status, clip(body))
	}

	return decode[Accepted](c.t, body)
}

// Accepted is the body of a response that accepts a job.
type Accepted struct {
	JobID     string           `json:"job_id"`
	Status    presswork.Status `json:"status"`
	StatusURL string           `json:"status_url"`
	WSURL     string           `json:"ws_url"`
	EventsURL string           `json:"events_url"`
}

// Job returns the current state of the job.
func (c *Client) Job(id string) presswork.Job {
	c.t.Helper()

	status, _, got := c.Do("GET", "/api/conversion/"+id, "", nil)
	if status != http.StatusOK {
		c.t.Fatalf("state of job %s: status %d, %s; want 200", id, status, clip(got))
	}

	return decode[presswork.Job](c.t, got)
}

// longest is how long a job may take on a busy machine. It is longer than the program's own limit.
const longest = 5 * time.Minute

// Wait long-polls until the job is completed, failed or cancelled, and returns it.
func (c *Client) Wait(id string) presswork.Job {
	c.t.Helper()

	etag := ""
	for deadline := time.Now().Add(longest); time.Now().Before(deadline); {
		status, header, got := c.Do("GET", "/api/conversion/"+id+"?wait=10s", "", nil, "If-None-Match", etag)
		if status == http.StatusNotModified {
			continue
		}

		if status != http.StatusOK {
			c.t.Fatalf("state of job %s: status %d, %s; want 200 or 304", id, status, clip(got))
		}
		etag = header.Get("ETag")

		if job := decode[presswork.Job](c.t, got); job.Status.Terminal() {
			return job
		}
	}
	c.t.Fatalf("job %s is not completed, failed or cancelled after %s: %+v", id, longest, c.Job(id))

	return presswork.Job{}
}

// Completed waits for the job, which must complete, and returns it.
func (c *Client) Completed(id string) presswork.Job {
	c.t.Helper()

	job := c.Wait(id)
	if job.Status != presswork.Completed {
		c.t.Fatalf("job %s ended %s (%+v), want completed", id, job.Status, job.Error)
	}

	return job
}

// Download returns the artifact of a completed job. It uses the signed URL of the artifact.
func (c *Client) Download(job presswork.Job) []byte {
	c.t.Helper()

	status, _, got := c.Do("GET", job.Artifact.URL, "", nil)
	if status != http.StatusOK {
		c.t.Fatalf("download: status %d, %s; want 200", status, clip(got))
	}

	return got
}

// Metric returns the sum of the samples of a metric on /metrics. name may have labels: `jobs{kind="pdf"}`.
func (c *Client) Metric(name string) float64 {
	c.t.Helper()
	_, _, got := c.Do("GET", "/metrics", "", nil)
	var sum float64

	for line := range strings.Lines(string(got)) {
		var value float64
		if rest, ok := strings.CutPrefix(line, name); ok && (rest[0] == ' ' || rest[0] == '{') {
			fmt.Sscan(line[strings.LastIndexByte(line, ' ')+1:], &value)
			sum += value
		}
	}

	return sum
}

// decode decodes JSON and fails the test if it is invalid.
func decode[T any](t testing.TB, b []byte) T {
	t.Helper()

	var v T
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%v in %s", err, clip(b))
	}

	return v
}

// clip returns the beginning of a body, for messages.
func clip(b []byte) string { return string(b[:min(len(b), 2000)]) }
