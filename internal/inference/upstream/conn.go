package upstream

import (
	"bytes"
	"context"
	"maps"
	"net"
	"net/http"
	"time"

	"presswork/internal/inference"
)

// MaxWhole is the largest answer of an upstream that does not stream, in bytes.
const MaxWhole = 32 << 20

// Conn sends requests to one upstream. It is safe for concurrent use.
type Conn struct {
	base   string
	header http.Header
	http   *http.Client
}

// NewConn returns a connection to u. Every request has the header fields and those of u. It connects on the first
// request, and follows no redirects: a key must not be sent to other servers. It has no time-out for an answer, because
// answers stream for minutes; the caller's context ends them.
func NewConn(u inference.Upstream, header http.Header) *Conn {
	c := &Conn{base: u.BaseURL, header: header.Clone(), http: &http.Client{
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
			TLSHandshakeTimeout:    10 * time.Second,
			ForceAttemptHTTP2:      true,
			DisableCompression:     true, // a compressed stream arrives in large blocks
			MaxIdleConns:           128,
			MaxIdleConnsPerHost:    128,
			IdleConnTimeout:        60 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	c.header.Set("User-Agent", "Presswork")

	for name, value := range u.Headers {
		c.header.Set(name, value)
	}

	return c
}

// Do sends a request with a JSON body, or without a body, and with more header fields than all requests have. The
// caller closes the body of the response. Errors are as in Send.
func (c *Conn) Do(
	ctx context.Context,
	method, path string,
	payload []byte,
	header http.Header,
) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(payload))
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, header)
	req.Header.Set("Accept", "text/event-stream, application/json")

	if payload != nil {
		req.Header.Set("Content-Type", "application/json")
	}

	return c.Send(req)
}

// Send sends a request with the headers that all requests have. The caller closes the body of the response. Errors are
// *inference.Error or the cause of the context.
func (c *Conn) Send(req *http.Request) (*http.Response, error) {
	maps.Copy(req.Header, c.header)

	resp, err := c.http.Do(req)
	if err != nil {
		return nil, unreachable(req.Context(), err)
	}

	return resp, nil
}
