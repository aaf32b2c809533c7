package jsonbody

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/inference/schema"
)

const (
	// MaxTools bounds the tools of a request.
	MaxTools = 128
	// MaxImages bounds the images of a request by default.
	MaxImages = 5
	// maxImageBytes bounds the decoded bytes of an image by default.
	maxImageBytes = 20 << 20
	// maxSchemas bounds the schemas of a request together, in bytes: each is compiled before the request is
	// accepted.
	maxSchemas = 512 << 10
)

// Limits checks the large parts of one request. The zero value has the default limits.
type Limits struct {
	// MaxImageBytes bounds the image of a data URI, decoded. Default 20 MB.
	MaxImageBytes int

	schemas int // bytes of the schemas read so far
}

// Schema reads a JSON Schema.
func (l *Limits) Schema(o Object, field string) json.RawMessage {
	v := o.Raw(field)
	if v == nil || o.Failed() {
		return nil
	}

	if l.schemas += len(v); l.schemas > maxSchemas {
		o.Failf(field, "the schemas of a request may have at most %d bytes together", maxSchemas)
		return nil
	}

	if err := schema.Check(v); err != nil {
		o.Failf(field, "%s", err)
	}

	return v
}

// ImageURL checks the address of an image, which field of o has. It returns the address. That of a data URI has the
// scheme and the type in lower case, because engines compare them exactly.
func (l *Limits) ImageURL(o Object, field, address string) string {
	scheme, rest, _ := strings.Cut(address, ":")
	switch strings.ToLower(scheme) {
	case "data":
		return l.dataURI(o, field, rest)
	case "http", "https":
		u, err := url.Parse(address)
		if err != nil || u.Host == "" || len(address) > 4096 {
			o.Failf(field, "it is not a valid address")
		}
	default:
		o.Failf(field, "must be an http or https address or a data URI of an image")
	}

	return address
}

// dataURI checks an image in a data: URI and returns the URI with its real media type. rest is the part after
// "data:".
func (l *Limits) dataURI(o Object, field, rest string) string {
	limit := l.MaxImageBytes
	if limit <= 0 {
		limit = maxImageBytes
	}
	meta, encoded, ok := strings.Cut(rest, ",")

	meta = strings.ToLower(meta)
	if !ok || !strings.HasSuffix(meta, ";base64") || !strings.HasPrefix(meta, "image/") {
		o.Failf(field, "a data URI must have the form data:image/png;base64,…")
		return ""
	}

	// DecodedLen counts the padding, of at most 2 bytes. Check it before the text is decoded into memory.
	if base64.StdEncoding.DecodedLen(len(encoded)) > limit+2 {
		o.Fail(inference.Errorf(http.StatusRequestEntityTooLarge, fault.ContentTooLarge,
			"'%s' : the image is larger than %d bytes", o.Path+field, limit).WithParam(o.Path + field))

		return ""
	}

	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil { // some clients omit the padding
		if data, err = base64.RawStdEncoding.DecodeString(encoded); err != nil {
			o.Failf(field, "the base64 of the data URI is damaged")
			return ""
		}
	}

	if err := inference.CheckImage(data); err != nil {
		o.Failf(field, "%s", err.Message)
	}

	return "data:" + meta + "," + encoded
}
