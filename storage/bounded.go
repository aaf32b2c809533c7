package storage

import (
	"context"
	"io"
)

// Bounded returns the reader that an implementation of Store uses for Put. Its Read
// fails with the cause of ctx when ctx ends. It yields at most size+1 bytes of r, so that the
// caller notices when r is too long. A negative size means no limit.
func Bounded(ctx context.Context, r io.Reader, size int64) io.Reader {
	r = contextReader{ctx, r}
	if size < 0 {
		return r
	}

	return io.LimitReader(r, size+1)
}

// contextReader is a reader that fails when ctx ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader. It fails when the context has ended.
func (r contextReader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}

	return r.r.Read(p)
}
