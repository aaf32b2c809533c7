package inference

import (
	"context"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"presswork/internal/fault"
	"presswork/internal/imagetype"
)

// ImageTypes are the images that models take.
func ImageTypes() []string { return []string{"image/png", "image/jpeg", "image/gif", "image/webp"} }

// MaxImagePixels is the largest width times height of an image.
const MaxImagePixels = 33_177_600

// inline returns the request with every image address replaced by the image.
func (c *completion) inline(ctx context.Context, r *Request) (*Request, error) {
	out := *r

	out.Messages = slices.Clone(r.Messages)
	for i, m := range out.Messages {
		out.Messages[i].Parts = slices.Clone(m.Parts)
		for j, p := range m.Parts {
			if p.Image == nil || strings.HasPrefix(p.Image.URL, "data:") {
				continue
			}

			uri, fetched := c.images[p.Image.URL]
			if !fetched {
				var err error
				if uri, err = c.fetch(ctx, p.Image.URL); err != nil {
					return nil, err
				}
				c.images[p.Image.URL] = uri
			}
			out.Messages[i].Parts[j].Image = &Image{URL: uri, Detail: p.Image.Detail}
		}
	}

	return &out, nil
}

// fetch gets one image as a data URI. Its errors are the caller's: 400, and 413
// for one that is too large.
func (c *completion) fetch(ctx context.Context, url string) (string, error) {
	if c.g.opts.FetchImage == nil {
		return "", Invalidf("messages", "images must be data URIs here")
	}

	data, contentType, err := c.g.opts.FetchImage(ctx, url)
	if err != nil {
		e := fault.AsError(err)
		if e.Code == fault.Internal {
			e = fault.Errorf(fault.NotFound, "it could not be fetched").WithCause(err)
		}

		status := http.StatusBadRequest
		if e.Code == fault.ContentTooLarge {
			status = http.StatusRequestEntityTooLarge
		}

		return "", Errorf(
			status,
			e.Code,
			"the image %s: %s",
			clip(url, 120),
			e.Message,
		).WithParam("messages").
			WithCause(err)
	}

	if err := CheckImage(data); err != nil {
		return "", err.WithParam("messages")
	}

	return "data:" + contentType + ";base64," + base64.StdEncoding.EncodeToString(data), nil
}

// CheckImage reports why data is not an image a model takes: by its bytes, of a
// type in ImageTypes and of at most MaxImagePixels.
func CheckImage(data []byte) *Error {
	info, err := imagetype.Inspect(data)
	switch {
	case err != nil:
		return Invalidf("", "the image cannot be read: %v", err)
	case !slices.Contains(ImageTypes(), info.ContentType):
		return Invalidf("", "the image is %s; allowed: %s", info.ContentType, strings.Join(ImageTypes(), ", "))
	case info.Pixels() > MaxImagePixels:
		return Invalidf(
			"",
			"the image is %d × %d pixels; at most %d in all are allowed",
			info.Width,
			info.Height,
			MaxImagePixels,
		)
	}

	return nil
}
