package minio

import (
	"context"
	"io"
	"time"
)

// download is the body of a Get. A Read fails when the server sends nothing for patience.
type download struct {
	body   io.ReadCloser
	cancel context.CancelCauseFunc
	// ended replaces an error by the cause of the cancelled context.
	ended func(error) error
	// late cancels the request when a Read takes longer than patience.
	late     *time.Timer
	patience time.Duration
}

// Read implements io.Reader.
func (d *download) Read(p []byte) (int, error) {
	d.late.Reset(d.patience)
	n, err := d.body.Read(p)
	d.late.Stop()

	if err != nil && err != io.EOF {
		return n, d.ended(err)
	}

	return n, err
}

// Close implements io.Closer.
func (d *download) Close() error {
	d.late.Stop()
	d.cancel(nil)

	return d.body.Close()
}
