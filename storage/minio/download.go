package minio

import (
	"context"
	"encoding/hex"
	"hash"
	"io"
	"time"
)

// download is the body of a Get: it ends when the server sends nothing for too long,
// and withholds the last bytes of a whole object that is not what was put.
type download struct {
	body   io.ReadCloser
	cancel context.CancelCauseFunc
	// ended gives an error its reason, and damaged is the error of a wrong digest.
	ended   func(error) error
	damaged func() error
	// late cancels, patience after the beginning of a read.
	late     *time.Timer
	patience time.Duration
	left     int64
	hash     hash.Hash // nil for a part, and where the digest is not known
	digest   string
}

// Read implements io.Reader.
func (d *download) Read(p []byte) (int, error) {
	d.late.Reset(d.patience)
	n, err := d.body.Read(p)
	d.late.Stop()
	if err != nil && err != io.EOF {
		return n, d.ended(err)
	}
	d.left -= int64(n)
	if d.hash != nil {
		d.hash.Write(p[:n])
		// Readers who know the size do not come for the end.
		if d.left <= 0 && hex.EncodeToString(d.hash.Sum(nil)) != d.digest {
			return 0, d.damaged()
		}
	}
	return n, err
}

// Close implements io.Closer.
func (d *download) Close() error {
	d.late.Stop()
	d.cancel(nil)
	return d.body.Close()
}
