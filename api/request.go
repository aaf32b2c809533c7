package api

import (
	"bytes"
	"mime"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"presswork/api/upload"
	"presswork/internal/fault"
	"presswork/internal/input"
)

const (
	// bytesPerEscape is how many bytes JSON needs, at most, for one byte of content (\u0000).
	bytesPerEscape = 6
	// jsonOverhead is how many bytes a JSON body may have in addition to the content.
	jsonOverhead = 1 << 20
	// maxKeyLength is the longest Idempotency-Key, in bytes.
	maxKeyLength = 255
)

// uploadLimits returns the limits of the server for the parts of a submission.
func (s *Server) uploadLimits() upload.Limits {
	return upload.Limits{Content: s.MaxContentBytes, Files: s.MaxUploadBytes}
}

// parseConversion reads a request to convert a document: JSON, a form, Markdown text, HTML, a notebook or a zip
// archive. The query may also have the parameters in other, which the caller reads. Without an error, the caller must
// pass the request to discard.
func (s *Server) parseConversion(c *fiber.Ctx, other ...string) (req upload.Conversion, err error) {
	media, params, err := mime.ParseMediaType(c.Get(fiber.HeaderContentType))
	if err != nil {
		media = ""
	}

	switch media {
	case fiber.MIMEApplicationJSON:
		if err = noQueryFields(c, "the JSON", other); err == nil {
			err = s.decodeJSON(c, s.MaxContentBytes*bytesPerEscape+jsonOverhead, "a JSON submission", &req)
		}
	case fiber.MIMEMultipartForm:
		if err = noQueryFields(c, "the form", other); err == nil {
			req, err = s.parseMultipart(c, params["boundary"])
		}
	case "text/markdown", "text/x-markdown", fiber.MIMETextPlain, fiber.MIMETextHTML:
		charset := params["charset"]
		if charset != "" && !strings.EqualFold(charset, "utf-8") && !strings.EqualFold(charset, "us-ascii") {
			return req, fault.Errorf(fault.UnsupportedMediaType, "the charset is %s; allowed: utf-8",
				input.Quote(charset))
		}

		if req, err = s.parseText(c, other); err == nil && media == fiber.MIMETextHTML {
			err = req.FromHTML()
		}
	case "application/x-ipynb+json":
		req, err = s.parseText(c, other)
		req.Path = upload.NotebookName
	case "application/zip", "application/x-zip-compressed":
		req, err = s.parseArchive(c, other)
	default:
		return req, fault.Errorf(
			fault.UnsupportedMediaType,
			"Content-Type is %s; allowed: application/json, multipart/form-data, application/zip, "+
				"application/x-ipynb+json, text/html, text/markdown (with curl: -H 'Content-Type: text/markdown')",
			input.Quote(c.Get(fiber.HeaderContentType)),
		)
	}
	req.Filename = upload.CleanFilename(req.Filename)

	return req, err
}

// discard deletes the files of a request and stops counting its body. The request must not be used after it.
func discard(c *fiber.Ctx, req *upload.Conversion) {
	req.Discard()
	metadataOf(c.Context()).held.Release()
}

// parseMultipart reads a conversion from a form.
func (s *Server) parseMultipart(c *fiber.Ctx, boundary string) (req upload.Conversion, err error) {
	if boundary == "" {
		return req, errNoBoundary
	}
	limits := s.uploadLimits()

	b, err := s.body(c, limits.Form(), "the form")
	if err != nil {
		return req, err
	}

	return upload.ReadForm(b, boundary, limits, &b.meta.held)
}

// errNoBoundary is returned for a form whose parts cannot be told apart.
var errNoBoundary = fault.Errorf(fault.InvalidRequest, "the Content-Type of a form needs a boundary")

// parseText reads a body of Markdown; the other fields are in the query.
func (s *Server) parseText(c *fiber.Ctx, other []string) (req upload.Conversion, err error) {
	if err := setFields(c, &req, other); err != nil {
		return req, err
	}

	b, err := s.body(c, s.MaxContentBytes, "content")
	if err != nil {
		return req, err
	}
	data, err := b.readAll()
	req.Content = string(data)

	return req, err
}

// parseArchive reads a body of a zip archive; the other fields are in the query.
func (s *Server) parseArchive(c *fiber.Ctx, other []string) (req upload.Conversion, err error) {
	if err := setFields(c, &req, other); err != nil {
		return req, err
	}

	b, err := s.body(c, s.MaxUploadBytes, "the archive")
	if err != nil {
		return req, err
	}

	return upload.ReadArchive(b, req, s.uploadLimits(), &b.meta.held)
}

// setFields sets the fields of a submission that are in the query, except the parameters in other.
func setFields(c *fiber.Ctx, req *upload.Conversion, other []string) error {
	return eachQuery(c, func(name string, value []byte) error {
		if slices.Contains(other, name) {
			return nil
		}

		return req.SetField(name, value)
	})
}

// noQueryFields rejects a query with parameters other than those in other, when the fields are in the body. body names
// the right place.
func noQueryFields(c *fiber.Ctx, body string, other []string) error {
	return eachQuery(c, func(name string, _ []byte) error {
		switch {
		case slices.Contains(other, name):
			return nil
		case slices.Contains(upload.TextFields(), name):
			return fault.Errorf(
				fault.InvalidRequest,
				"%s is in the query, which is allowed for text/markdown and application/zip only; put it into %s",
				name,
				body,
			).WithParam(name)
		}

		return input.UnknownField(name, other)
	})
}

// decodeJSON reads a JSON object of at most limit bytes into a struct. what names the body in the error
// ContentTooLarge.
func (s *Server) decodeJSON(c *fiber.Ctx, limit int64, what string, into any) error {
	data, err := s.textBody(c, limit, what)
	if err != nil {
		return err
	}

	return input.DecodeJSON(data, into, "")
}

// jsonBody reads a body of at most limit bytes whose Content-Type must be JSON. what names the body in the error
// ContentTooLarge.
func (s *Server) jsonBody(c *fiber.Ctx, limit int64, what string) ([]byte, error) {
	media, _, _ := strings.Cut(c.Get(fiber.HeaderContentType), ";")
	if !strings.EqualFold(strings.TrimSpace(media), fiber.MIMEApplicationJSON) {
		return nil, fault.Errorf(
			fault.UnsupportedMediaType,
			"Content-Type is %s; allowed: application/json",
			input.Quote(c.Get(fiber.HeaderContentType)),
		)
	}

	return s.textBody(c, limit, what)
}

// textBody reads a body of JSON of at most limit bytes. It drops a byte order mark, which Windows programs write
// (RFC 8259, 8.1). Errors: ContentTooLarge, ContentNotUTF8.
func (s *Server) textBody(c *fiber.Ctx, limit int64, what string) ([]byte, error) {
	b, err := s.body(c, limit, what)
	if err != nil {
		return nil, err
	}

	data, err := b.readAll()
	if err != nil {
		return nil, err
	}
	// encoding/json would replace invalid bytes with U+FFFD.
	if !utf8.Valid(data) {
		return nil, fault.Errorf(fault.ContentNotUTF8, "the body is not valid UTF-8")
	}

	return bytes.TrimPrefix(data, []byte("\ufeff")), nil
}

// eachQuery calls yield for every parameter of the query, in order, up to the first error. A repeated parameter is an
// error, because either value may be the intended one.
func eachQuery(c *fiber.Ctx, yield func(name string, value []byte) error) (err error) {
	seen := map[string]bool{}
	c.Context().QueryArgs().VisitAll(func(key, value []byte) {
		name := string(key)
		switch {
		case err != nil:
		case seen[name]:
			err = fault.Errorf(fault.InvalidType, "the query has %s twice", input.Quote(name)).
				WithParam(input.Clip(name))
		default:
			seen[name] = true
			err = yield(name, value)
		}
	})

	return err
}

// onlyQuery rejects parameters that are not in allowed. Ignoring a misspelt filter would return a list with too many
// entries.
func onlyQuery(c *fiber.Ctx, allowed ...string) error {
	return eachQuery(c, func(name string, _ []byte) error {
		if !slices.Contains(allowed, name) {
			return input.UnknownField(name, allowed)
		}

		return nil
	})
}

// queryBool returns a parameter that is true or false; false when it is missing or empty. Errors: InvalidOption.
func queryBool(c *fiber.Ctx, name string) (bool, error) {
	text := c.Query(name)
	if text == "" {
		return false, nil
	}

	value, err := strconv.ParseBool(text)
	if err != nil {
		return false, fault.Errorf(fault.InvalidOption, "%s is %s; allowed: true, false", name, input.Quote(text)).
			WithParam(name)
	}

	return value, nil
}

// oneOf returns a parameter that must be one of the allowed words. Errors: InvalidOption.
func oneOf[T ~string](param, text string, allowed []T) (T, error) {
	if slices.Contains(allowed, T(text)) {
		return T(text), nil
	}

	words := make([]string, len(allowed))
	for i, a := range allowed {
		words[i] = string(a)
	}

	return "", fault.Errorf(fault.InvalidOption, "%s is %s%s; allowed: %s",
		param, input.Quote(text), input.DidYouMean(text, words), strings.Join(words, ", ")).WithParam(param)
}

// idempotencyKey returns the Idempotency-Key header, "" for none. Errors: InvalidOption.
func idempotencyKey(c *fiber.Ctx) (string, error) {
	key := c.Get("Idempotency-Key")

	bad := strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' })
	if len(key) > maxKeyLength || bad {
		return "", fault.Errorf(
			fault.InvalidOption,
			"Idempotency-Key must be 1 to %d printable ASCII characters",
			maxKeyLength,
		).WithParam("Idempotency-Key")
	}

	return key, nil
}
