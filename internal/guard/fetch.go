package guard

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"presswork/internal/fault"
	"presswork/internal/imagetype"
)

// FetchOptions are the limits of a Fetcher.
type FetchOptions struct {
	// MaxBytes is the largest image, in bytes. Default 10 MiB.
	MaxBytes int64
	// MaxPixels is the largest width times height. Default 50 million.
	MaxPixels int64
	// Timeout limits one image with its redirects. Default 10 s.
	Timeout time.Duration
	// UserAgent is sent with each request. Default "Presswork".
	UserAgent string
}

// Fetcher loads remote images for documents. It is safe for concurrent use.
type Fetcher struct {
	policy *Policy
	opts   FetchOptions
	client *http.Client
}

// NewFetcher returns a Fetcher that connects only where the policy allows.
func NewFetcher(p *Policy, o FetchOptions) *Fetcher {
	if o.MaxBytes <= 0 {
		o.MaxBytes = 10 << 20
	}

	if o.MaxPixels <= 0 {
		o.MaxPixels = imagetype.MaxPixels
	}

	if o.Timeout <= 0 {
		o.Timeout = 10 * time.Second
	}

	if o.UserAgent == "" {
		o.UserAgent = "Presswork"
	}

	return &Fetcher{policy: p, opts: o, client: p.Client(ClientOptions{Timeout: o.Timeout, MaxRedirects: 5})}
}

// Fetch loads one image. It derives the content type from the data, not from the server's headers: png, jpeg, gif,
// webp, avif or svg. Errors: InvalidURL, AddressNotAllowed, NotFound (no answer, or a status other than 200),
// ContentTooLarge (bytes or pixels), UnsupportedMediaType.
func (f *Fetcher) Fetch(ctx context.Context, rawURL string) (data []byte, contentType string, err error) {
	u, err := f.policy.CheckURL(rawURL)
	if err != nil {
		return nil, "", err
	}

	ctx, cancel := context.WithTimeoutCause(ctx, f.opts.Timeout,
		fault.Errorf(fault.NotFound, "%s did not send the image within %s", u.Host, f.opts.Timeout))
	defer cancel()

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, "", fault.Errorf(fault.InvalidURL, "%q is not a valid URL", clip(rawURL)).WithCause(err)
	}
	req.Header.Set("User-Agent", f.opts.UserAgent)
	req.Header.Set("Accept", "image/avif,image/webp,image/svg+xml,image/png,image/jpeg,image/gif")

	resp, err := f.client.Do(req)
	if err != nil {
		return nil, "", f.publicError(ctx, u.Host, err)
	}
	defer resp.Body.Close()

	if resp.StatusCode != http.StatusOK {
		return nil, "", fault.Errorf(fault.NotFound, "%s answered %d", u.Host, resp.StatusCode)
	}

	if data, err = f.read(ctx, u.Host, resp); err != nil {
		return nil, "", err
	}

	img, err := imagetype.Inspect(data)
	if err != nil {
		return nil, "", fault.Errorf(fault.UnsupportedMediaType, "the image from %s cannot be shown: %v", u.Host, err)
	}

	if img.Pixels() > uint64(f.opts.MaxPixels) {
		return nil, "", fault.Errorf(fault.ContentTooLarge,
			"the image has %d × %d pixels; the limit is %d in total", img.Width, img.Height, f.opts.MaxPixels)
	}

	return data, img.ContentType, nil
}

// read reads a body up to MaxBytes.
func (f *Fetcher) read(ctx context.Context, host string, resp *http.Response) ([]byte, error) {
	tooLarge := fault.Errorf(fault.ContentTooLarge, "the image is larger than %d bytes", f.opts.MaxBytes)
	if resp.ContentLength > f.opts.MaxBytes {
		return nil, tooLarge
	}

	data, err := io.ReadAll(io.LimitReader(resp.Body, f.opts.MaxBytes+1))
	if err != nil {
		return nil, f.publicError(ctx, host, err)
	}

	if int64(len(data)) > f.opts.MaxBytes {
		return nil, tooLarge
	}

	return data, nil
}

// publicError returns the public error in err, such as one from a redirect or a dial. For any other error it returns
// NotFound with a message that reveals no address.
func (f *Fetcher) publicError(ctx context.Context, host string, err error) error {
	if fault.CodeOf(err) != fault.Internal {
		return fault.AsError(err)
	}

	if ctx.Err() != nil && fault.CodeOf(context.Cause(ctx)) != fault.Internal {
		return fault.AsError(context.Cause(ctx)).WithCause(err)
	}

	return fault.Errorf(fault.NotFound, "%s does not answer", host).WithCause(fmt.Errorf("fetch: %w", err))
}
