// Package client is the client of a running Presswork that the commands use.
//
// [Server.Chat] holds a conversation in one of three wire formats. [Server.Transcribe] submits a recording and waits
// for the transcript. [Server.Fleet] returns the state of the queues and workers, and [Ready] checks readiness. Errors
// name the server, without a password in its address, and say how to set a missing key.
package client

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Server is a running Presswork. It is safe for concurrent use.
type Server struct {
	base   string // precedes the paths of the API
	shown  string // the address without a password, for errors
	key    string
	client *http.Client
}

// UsageError is the error for an invalid argument of the user.
type UsageError struct{ error }

// Unwrap returns the error that is marked.
func (e UsageError) Unwrap() error { return e.error }

// New returns the server at an address, which may end in /v1. key is the API key; it may be empty. New sends nothing.
// Errors: those of ParseAddress.
func New(address, key string) (*Server, error) {
	u, err := ParseAddress(address)
	if err != nil {
		return nil, err
	}
	base := strings.TrimSuffix(strings.TrimRight(address, "/"), "/v1")

	return &Server{base: base, shown: u.Redacted(), key: key, client: &http.Client{}}, nil
}

// ParseAddress reads the http or https address of a server. The error quotes at most 80 characters of an invalid text.
func ParseAddress(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%.80q is not an address; write http://HOST:PORT or https://…", text)
	}

	return u, nil
}

// request returns a request with the API key.
func (s *Server) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, body)
	if err == nil && s.key != "" {
		req.Header.Set("X-API-Key", s.key)
	}

	return req, err
}

// get decodes the answer to a GET request into the value that into points to.
func (s *Server) get(ctx context.Context, path string, into any) error {
	return s.send(ctx, http.MethodGet, path, "", nil, into)
}

// send sends a request and decodes the response into the value that into points to, unless into is nil.
func (s *Server) send(ctx context.Context, method, path, contentType string, body io.Reader, into any) error {
	req, err := s.request(ctx, method, path, body)
	if err != nil {
		return err
	}

	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
		req.Header.Set("Prefer", "respond-async")
	}

	res, err := s.do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()

	return s.read(res, into)
}

// do sends a request. Errors: the cause of its context, else one that names the server.
func (s *Server) do(req *http.Request) (*http.Response, error) {
	res, err := s.client.Do(req)

	switch ctx := req.Context(); {
	case err == nil:
		return res, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}

	return nil, s.unreachable(err)
}

// maxAnswer is the largest answer other than a transcript, in bytes.
const maxAnswer = 16 << 20

// read decodes an answer, or returns its error.
func (s *Server) read(res *http.Response, into any) error {
	if res.StatusCode >= http.StatusBadRequest {
		return s.answerError(res)
	}

	if into == nil {
		return nil
	}

	if err := json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(into); err != nil {
		return fmt.Errorf("%s is not a Presswork server: its answer cannot be read", s.shown)
	}

	return nil
}

// answerError returns the message of an error body as an error.
func (s *Server) answerError(res *http.Response) error {
	b, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))

	var body struct {
		Error struct{ Message string }
	}
	if err != nil || json.Unmarshal(b, &body) != nil || body.Error.Message == "" {
		return fmt.Errorf("%s answered %d", s.shown, res.StatusCode)
	}

	if res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden {
		return s.keyError(body.Error.Message)
	}

	return fmt.Errorf("%s: %s", s.shown, body.Error.Message)
}

// keyError returns the error for a server that refused the key, or the lack of one. message is the server's.
func (s *Server) keyError(message string) error {
	if s.key == "" {
		return fmt.Errorf("%s: %s (no key is set: use --key or PRESSWORK_API_KEY)", s.shown, message)
	}

	return fmt.Errorf("%s: %s (set the key with --key or PRESSWORK_API_KEY)", s.shown, message)
}

// unreachable returns the error for a server that did not answer.
func (s *Server) unreachable(err error) error {
	return fmt.Errorf("%s does not answer: %w (`presswork serve` starts one on this machine)", s.shown, withoutURL(err))
}

// withoutURL drops the address from an error of a request, because it may hold a password.
func withoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}

	return err
}

const (
	// readyTimeout bounds the wait for the answer of a readiness check.
	readyTimeout = 5 * time.Second
	// maxReady is how many bytes of that answer are read.
	maxReady = 64 << 10
)

// Ready writes the answer of a readiness check to out. It returns an error unless the answer is 200, and a UsageError
// for an address that cannot be used.
func Ready(ctx context.Context, address string, out io.Writer) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyTimeout,
		fmt.Errorf("%s did not answer within %s", address, readyTimeout))
	defer cancel()

	u, err := ParseAddress(address)
	if err != nil {
		return UsageError{fmt.Errorf("--url: %w", err)}
	}

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return UsageError{fmt.Errorf("--url: %w", err)}
	}
	// The certificate names the public host, but this request usually goes to the same machine. It carries no secret.
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}

	res, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("%s does not answer: %w", u.Redacted(), withoutURL(err))
	}
	defer res.Body.Close()

	if _, err := io.Copy(out, io.LimitReader(res.Body, maxReady)); err != nil {
		return err
	}
	fmt.Fprintln(out)

	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("not ready: %s answered %s", u.Redacted(), res.Status)
	}

	return nil
}
