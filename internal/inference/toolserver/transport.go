package toolserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"presswork/internal/fault"
)

// closeTimeout bounds the request that ends a session, because the server may be gone.
const closeTimeout = time.Second

// transport adds the headers of a server to requests for it, and bounds its answers.
type transport struct {
	next    http.RoundTripper
	origin  *url.URL          // only its scheme and host get the headers
	headers map[string]string // may hold credentials

	mu sync.Mutex
	// limit is the largest answer, in bytes.
	limit int64
	// failure is why the last request failed; nil if it succeeded. The SDK passes on only some of these errors.
	failure error
}

// RoundTrip sends a request. The headers are secrets, so no other host gets them, even after a redirect.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	cancel := func() {}

	if r.Method == http.MethodDelete {
		var ctx context.Context
		ctx, cancel = context.WithTimeout(r.Context(), closeTimeout)
		r = r.WithContext(ctx)
	}
	r = r.Clone(r.Context())

	if r.URL.Scheme == t.origin.Scheme && r.URL.Host == t.origin.Host {
		for name, value := range t.headers {
			r.Header.Set(name, value)
		}
	}

	resp, err := t.next.RoundTrip(r)
	if err != nil {
		cancel()
		t.record(err)

		return nil, err
	}

	var failure error
	if resp.StatusCode >= http.StatusBadRequest {
		failure = statusError(resp.StatusCode)
	}
	t.record(failure)
	t.mu.Lock()
	defer t.mu.Unlock()
	resp.Body = &body{ReadCloser: resp.Body, t: t, left: t.limit, limit: t.limit, cancel: cancel}

	return resp, nil
}

// statusError is the HTTP status of an answer that failed.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("it answered with status %d", int(e)) }

// record keeps the failure of a request.
func (t *transport) record(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failure = err
}

// checkRedirect adds the failure of a redirect to what record keeps.
func (t *transport) checkRedirect(check func(*http.Request, []*http.Request) error,
) func(*http.Request, []*http.Request) error {
	return func(next *http.Request, via []*http.Request) error {
		err := check(next, via)
		if err != nil && !errors.Is(err, http.ErrUseLastResponse) {
			t.record(err)
		}

		return err
	}
}

// setLimit sets the largest answer.
func (t *transport) setLimit(n int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.limit = n
}

// lastFailure returns why the last request failed.
func (t *transport) lastFailure() error {
	t.mu.Lock()
	defer t.mu.Unlock()

	return t.failure
}

// body is an answer with a limit.
type body struct {
	io.ReadCloser
	t           *transport
	left, limit int64 // in bytes
	cancel      func()
}

// Read returns an error after the limit.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		err := fault.Errorf(fault.ContentTooLarge, "it answered with more than %d bytes", b.limit)
		b.t.record(err)

		return 0, err
	}

	return n, err
}

// Close ends the answer.
func (b *body) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
