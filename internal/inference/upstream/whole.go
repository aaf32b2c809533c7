package upstream

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
)

// ReadWhole reads a body of at most limit bytes. Errors are *inference.Error or the cause of ctx.
func ReadWhole(ctx context.Context, r io.Reader, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, ReadError(ctx, err)
	}

	if int64(len(b)) > limit {
		return nil, Unreadable("it sent more than " + strconv.FormatInt(limit>>20, 10) + " MB at once")
	}

	return b, nil
}

// ReadError returns the error for a body or an event that could not be read to its end: an *inference.Error, or the
// cause of ctx.
func ReadError(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, errEventTooLarge):
		return Unreadable("it sent too much at once").WithCause(err)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}

	return CutOff().WithCause(err)
}

// ErrWebPage returns the error for an answer in HTML, which the page of a proxy or a wrong address gives.
func ErrWebPage() error {
	return Unreadable("it answered with a web page").WithCause(errors.New("text/html"))
}

// Models returns the ids in the list at a path, which OpenAI and Anthropic write alike. Errors are *inference.Error or
// the cause of ctx.
func (c *Conn) Models(ctx context.Context, path string) ([]string, error) {
	resp, err := c.Do(ctx, http.MethodGet, path, nil, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()

	if resp.StatusCode != http.StatusOK {
		return nil, ResponseError(resp)
	}
	b, err := ReadWhole(ctx, resp.Body, MaxWhole)

	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err == nil {
		err = DecodeLenient(b, &list)
	}

	if err != nil {
		return nil, Unreadable("its list of models is not valid JSON").WithCause(err)
	}

	ids := make([]string, len(list.Data))
	for i, m := range list.Data {
		ids[i] = m.ID
	}

	return ids, nil
}
