package anthropic

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"strings"

	"presswork/internal/inference"
	"presswork/internal/inference/upstream"
)

// version is the header anthropic-version of all requests.
const version = "2023-06-01"

// Client is an inference.Engine on one upstream. It is safe for concurrent use.
type Client struct {
	upstream inference.Upstream
	conn     *upstream.Conn
}

// New returns a client for an upstream of the kind inference.Anthropic. It connects on the first request.
// The error is about another kind.
func New(u inference.Upstream) (inference.Engine, error) {
	if u.Kind != inference.Anthropic {
		return nil, errors.New("the kind of upstream is " + u.Kind + "; allowed: " + inference.Anthropic)
	}

	header := http.Header{}
	header.Set("Anthropic-Version", version)

	if u.APIKey != "" {
		header.Set("X-Api-Key", u.APIKey)
	}

	return &Client{upstream: u, conn: upstream.NewConn(u, header)}, nil
}

// Traits implements inference.Engine.
func (*Client) Traits() inference.Traits { return inference.Traits{FetchesImages: true} }

// Complete sends a request and emits the deltas of its answer. Errors are *inference.Error, the cause of ctx or the
// error of emit.
func (c *Client) Complete(
	ctx context.Context,
	r *inference.Request,
	m *inference.Model,
	emit func(*inference.Delta) error,
) error {
	payload, err := encode(c.upstream, m, r)
	if err != nil {
		return err
	}

	resp, err := c.post(ctx, "/messages", payload, r.Betas)
	if err != nil {
		return err
	}
	defer resp.Body.Close()

	mediaType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch mediaType {
	case "application/json":
		return readWhole(ctx, resp.Body, emit)
	case "text/html":
		return upstream.ErrWebPage()
	}

	return readStream(ctx, resp.Body, emit)
}

// CountTokens implements inference.TokenCounter with POST /messages/count_tokens. Errors are *inference.Error or the
// cause of ctx.
func (c *Client) CountTokens(ctx context.Context, r *inference.Request, m *inference.Model) (int, error) {
	payload, err := encodeCount(c.upstream, m, r)
	if err != nil {
		return 0, err
	}

	resp, err := c.post(ctx, "/messages/count_tokens", payload, r.Betas)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()

	var answer struct {
		Tokens *float64 `json:"input_tokens"`
	}

	b, err := upstream.ReadWhole(ctx, resp.Body, upstream.MaxWhole)
	if err == nil {
		err = upstream.DecodeLenient(b, &answer)
	}

	if err != nil || answer.Tokens == nil {
		return 0, upstream.Unreadable("it sent no number of tokens").WithCause(err)
	}

	return upstream.Count(*answer.Tokens), nil
}

// post sends a request. The status of the response is 200; any other status is returned as an error. The caller
// closes the body.
func (c *Client) post(ctx context.Context, path string, payload []byte, betas []string) (*http.Response, error) {
	var header http.Header
	if len(betas) > 0 {
		header = http.Header{"Anthropic-Beta": {strings.Join(betas, ",")}}
	}

	resp, err := c.conn.Do(ctx, http.MethodPost, path, payload, header)
	if err != nil {
		return nil, err
	}

	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, upstream.ResponseError(resp)
	}

	return resp, nil
}

// Models returns the ids that the upstream serves. It reads one page of at most 1000 ids. Errors are *inference.Error
// or the cause of ctx.
func (c *Client) Models(ctx context.Context) ([]string, error) {
	return c.conn.Models(ctx, "/models?limit=1000")
}
