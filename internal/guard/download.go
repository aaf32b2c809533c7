package guard

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"presswork/internal/fault"
)

// DownloadOptions are the limits of a Downloader.
type DownloadOptions struct {
	// MaxBytes is the largest file, in bytes. Mandatory.
	MaxBytes int64
	// Timeout limits one download with its redirects. Default 2 min.
	Timeout time.Duration
	// UserAgent is sent with each request. Default "Presswork".
	UserAgent string
}

// Downloader loads files of any kind. It is safe for concurrent use.
type Downloader struct{ fetcher *Fetcher }

// NewDownloader returns a Downloader that connects only where the policy allows.
func NewDownloader(p *Policy, o DownloadOptions) *Downloader {
	if o.Timeout <= 0 {
		o.Timeout = 2 * time.Minute
	}

	return &Downloader{NewFetcher(p, FetchOptions{MaxBytes: o.MaxBytes, Timeout: o.Timeout, UserAgent: o.UserAgent})}
}

// Download writes the file at rawURL to w. After an error w may have a part of it. Errors: InvalidURL,
// AddressNotAllowed, NotFound (no answer, or a status other than 200), ContentTooLarge, those of w.
func (d *Downloader) Download(ctx context.Context, rawURL string, w io.Writer) error {
	f := d.fetcher

	u, err := f.policy.CheckURL(rawURL)
	if err != nil {
		return err
	}

	ctx, cancel := context.WithTimeoutCause(ctx, f.opts.Timeout,
		fault.Errorf(fault.NotFound, "%s did not send the file within %s", u.Host, f.opts.Timeout))
	defer cancel()

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return fault.Errorf(fault.InvalidURL, "%q is not a valid URL", clip(rawURL)).WithCause(err)
	}
	req.Header.Set("User-Agent", f.opts.UserAgent)

	resp, err := f.client.Do(req)
	if err != nil {
		return f.publicError(ctx, u.Host, err)
	}
	defer resp.Body.Close()

	if resp.StatusCode != http.StatusOK {
		return fault.Errorf(fault.NotFound, "%s answered %d", u.Host, resp.StatusCode)
	}
	// One byte more than allowed shows that the file is too large. source tells errors of the server from those of w.
	from := &source{r: io.LimitReader(resp.Body, f.opts.MaxBytes+1)}

	n, err := io.Copy(w, from)
	switch {
	case n > f.opts.MaxBytes || resp.ContentLength > f.opts.MaxBytes:
		return fault.Errorf(fault.ContentTooLarge, "the file is larger than %d bytes", f.opts.MaxBytes)
	case from.err != nil:
		return f.publicError(ctx, u.Host, from.err)
	case err != nil:
		return fmt.Errorf("download: %w", err)
	}

	return nil
}

// source keeps its read error. io.Copy returns one error for reading and writing, and only the source's is NotFound.
type source struct {
	r   io.Reader
	err error
}

// Read implements io.Reader.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}

	return n, err
}
