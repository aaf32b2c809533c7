package openai

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"

	"presswork/internal/fault"
	"presswork/internal/inference"
)

// readImage reads an image_url part: an object, or just the address as some clients
// write it.
func (p *parser) readImage(o object) *inference.Image {
	img := &inference.Image{}
	path := "image_url"

	if v := o.raw("image_url"); v != nil && v[0] == '"' {
		img.URL = o.str("image_url")
	} else {
		in := o.object("image_url")
		img.URL = in.str("url")
		img.Detail = in.enum("detail", "auto", "low", "high")
		path = "image_url.url"
	}

	scheme, rest, _ := strings.Cut(img.URL, ":")
	switch strings.ToLower(scheme) {
	case "data":
		img.URL = p.dataURI(o, path, rest)
	case "http", "https":
		u, err := url.Parse(img.URL)
		if err != nil || u.Host == "" || len(img.URL) > 4096 {
			o.failf(path, "it is not a valid address")
		}
	default:
		o.failf(path, "must be an http or https address or a data URI of an image")
	}

	return img
}

// dataURI checks the image of a data URI and returns the URI with the type of its bytes. Engines compare scheme
// and type exactly.
func (p *parser) dataURI(o object, path, rest string) string {
	meta, encoded, ok := strings.Cut(rest, ",")

	meta = strings.ToLower(meta)
	if !ok || !strings.HasSuffix(meta, ";base64") || !strings.HasPrefix(meta, "image/") {
		o.failf(path, "a data URI must have the form data:image/png;base64,…")
		return ""
	}

	if base64.StdEncoding.DecodedLen(len(encoded)) > p.maxImageBytes+2 {
		o.fail(
			inference.Errorf(
				http.StatusRequestEntityTooLarge,
				fault.ContentTooLarge,
				"'%s' : the image is larger than %d bytes",
				o.path+path,
				p.maxImageBytes,
			).
				WithParam(o.path + path),
		)

		return ""
	}

	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		if data, err = base64.RawStdEncoding.DecodeString(encoded); err != nil {
			o.failf(path, "the base64 of the data URI is damaged")
			return ""
		}
	}

	if err := inference.CheckImage(data); err != nil {
		o.failf(path, "%s", err.Message)
	}

	return "data:" + meta + "," + encoded
}
