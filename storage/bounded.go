package storage

import (
	"context"
	"io"
)

// Bounded is what a store reads of r for Put: it ends with an error when ctx
// ends, and after one byte more than size, enough to see that there is more; -1
// is no size. It is for implementations of Store.
func Bounded(ctx context.Context, r io.Reader, size int64) io.Reader {
	r = contextReader{ctx, r}
	if size < 0 {
		return r
	}

	return io.LimitReader(r, size+1)
}

type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}

	return r.r.Read(p)
}
