package minio

import (
	"context"
	"io"
	"time"
)

// download is the body of a Get: it ends when the server sends nothing for too long.
type download struct {
	body   io.ReadCloser
	cancel context.CancelCauseFunc
	// ended gives an error its reason.
	ended func(error) error
	// late cancels, patience after the beginning of a read.
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
