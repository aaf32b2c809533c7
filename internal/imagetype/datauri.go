package imagetype

import (
	"encoding/base64"
	"errors"
	"net/url"
	"strings"
)

// ReadDataURI decodes a data URI (RFC 2397) as browsers do. uri must begin with "data:". The errors are public.
func ReadDataURI(uri string) ([]byte, error) {
	meta, data, ok := strings.Cut(uri[len("data:"):], ",")
	if !ok {
		return nil, errors.New("the data URI has no data")
	}

	text, err := url.PathUnescape(data)
	if err != nil {
		return nil, errors.New("the data URI is not properly escaped")
	}

	if !strings.HasSuffix(strings.ToLower(strings.TrimSpace(meta)), "base64") {
		return []byte(text), nil
	}
	text = strings.Map(func(r rune) rune {
		if r == ' ' || r == '\n' || r == '\t' {
			return -1
		}

		return r
	}, strings.TrimRight(text, "="))

	b, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return nil, errors.New("the data URI is not valid base64")
	}

	return b, nil
}
