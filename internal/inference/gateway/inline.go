package gateway

import (
	"context"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/input"
)

// inlineImages returns the request with every address of an image replaced by the image. The gateway fetches images
// itself, so an engine without FetchesImages never loads an address that a caller chose. Each address is fetched once
// per completion, also if further upstreams or rounds need it. The caller's request stays unchanged.
func (c *completion) inlineImages(ctx context.Context, r *inference.Request) (*inference.Request, error) {
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
				if uri, err = c.fetchImage(ctx, p.Image.URL); err != nil {
					return nil, err
				}
				c.images[p.Image.URL] = uri
			}
			out.Messages[i].Parts[j].Image = &inference.Image{URL: uri, Detail: p.Image.Detail}
		}
	}

	return &out, nil
}

// fetchImage downloads one image and returns it as a data URI. Errors are about the request: status 413 for an image
// that is too large, else 400.
func (c *completion) fetchImage(ctx context.Context, url string) (string, error) {
	if c.g.opts.FetchImage == nil {
		return "", inference.Invalidf("messages", "images must be data URIs here")
	}

	data, contentType, err := c.g.opts.FetchImage(ctx, url)
	if err != nil {
		e := fault.AsError(err)
		// Errors of the network may name internal addresses, so the caller reads only that the fetch failed.
		if e.Code == fault.Internal {
			e = fault.Errorf(fault.NotFound, "it could not be fetched").WithCause(err)
		}

		status := http.StatusBadRequest
		if e.Code == fault.ContentTooLarge {
			status = http.StatusRequestEntityTooLarge
		}

		return "", inference.Errorf(status, e.Code,
			"the image %s: %s", input.Cut(url, 120), e.Message).WithParam("messages").WithCause(err)
	}

	if err := inference.CheckImage(data); err != nil {
		return "", err.WithParam("messages")
	}

	return "data:" + contentType + ";base64," + base64.StdEncoding.EncodeToString(data), nil
}
