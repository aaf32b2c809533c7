package minio

import (
	"context"
	"io"
	"time"
)

// download is the body of a Get. A Read fails when the server sends nothing for maxSilence.
type download struct {
	body io.ReadCloser
	// cancel ends the request to the store.
	cancel context.CancelCauseFunc
	// causeOf replaces an error by the cause of the request's context, if that has ended.
	causeOf func(error) error
	// silence cancels the request when a Read takes longer than maxSilence.
	silence    *time.Timer
	maxSilence time.Duration
}

// Read implements io.Reader.
func (d *download) Read(p []byte) (int, error) {
	d.silence.Reset(d.maxSilence)
	n, err := d.body.Read(p)
	d.silence.Stop()

	if err != nil && err != io.EOF {
		return n, d.causeOf(err)
	}

	return n, err
}

// Close implements io.Closer.
func (d *download) Close() error {
	d.silence.Stop()
	d.cancel(nil)

	return d.body.Close()
}
