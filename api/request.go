package api

import (
	"mime"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"presswork/api/exchange"
	"presswork/api/upload"
	"presswork/internal/fault"
	"presswork/internal/input"
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
			err = s.bodies.Decode(c, exchange.JSONLimit(s.MaxContentBytes), "a JSON submission", &req)
		}
	case fiber.MIMEMultipartForm:
		if err = noQueryFields(c, "the form", other); err == nil {
			req, err = s.parseForm(c)
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
		return req, fault.Errorf(fault.UnsupportedMediaType,
			"Content-Type is %s; allowed: application/json, multipart/form-data, application/zip, "+
				"application/x-ipynb+json, text/html, text/markdown (with curl: -H 'Content-Type: text/markdown')",
			input.Quote(c.Get(fiber.HeaderContentType)))
	}
	req.Filename = upload.CleanFilename(req.Filename)

	return req, err
}

// discard deletes the files of a request and stops counting its body. The request must not be used after it.
func discard(c *fiber.Ctx, req *upload.Conversion) {
	req.Discard()
	exchange.Of(c.Context()).Held.Release()
}

// parseForm reads a conversion from a form.
func (s *Server) parseForm(c *fiber.Ctx) (req upload.Conversion, err error) {
	limits := s.uploadLimits()

	b, boundary, err := s.openForm(c, limits.Form(), "the form")
	if err != nil {
		return req, err
	}

	return upload.ReadForm(b, boundary, limits, b.Held())
}

// openForm opens a body that must be a form, for up to limit bytes. what names the body in the error ContentTooLarge.
// The boundary separates the parts of the form. Other errors: UnsupportedMediaType, InvalidRequest without a boundary.
func (s *Server) openForm(c *fiber.Ctx, limit int64, what string) (b *exchange.Body, boundary string, err error) {
	media, params, err := mime.ParseMediaType(c.Get(fiber.HeaderContentType))
	if err != nil || media != fiber.MIMEMultipartForm {
		return nil, "", fault.Errorf(fault.UnsupportedMediaType, "Content-Type is %s; allowed: multipart/form-data",
			input.Quote(c.Get(fiber.HeaderContentType)))
	}

	if boundary = params["boundary"]; boundary == "" {
		return nil, "", fault.Errorf(fault.InvalidRequest, "the Content-Type of a form needs a boundary")
	}
	b, err = s.bodies.Open(c, limit, what)

	return b, boundary, err
}

// parseText reads a body of Markdown; the other fields are in the query.
func (s *Server) parseText(c *fiber.Ctx, other []string) (req upload.Conversion, err error) {
	if err := setFields(c, &req, other); err != nil {
		return req, err
	}

	b, err := s.bodies.Open(c, s.MaxContentBytes, "content")
	if err != nil {
		return req, err
	}
	data, err := b.ReadAll()
	req.Content = string(data)

	return req, err
}

// parseArchive reads a body of a zip archive; the other fields are in the query.
func (s *Server) parseArchive(c *fiber.Ctx, other []string) (req upload.Conversion, err error) {
	if err := setFields(c, &req, other); err != nil {
		return req, err
	}

	b, err := s.bodies.Open(c, s.MaxUploadBytes, "the archive")
	if err != nil {
		return req, err
	}

	return upload.ReadArchive(b, req, s.uploadLimits(), b.Held())
}

// setFields sets the fields of a submission that are in the query, except the parameters in other.
func setFields(c *fiber.Ctx, req *upload.Conversion, other []string) error {
	return exchange.EachQuery(c, func(name string, value []byte) error {
		if slices.Contains(other, name) {
			return nil
		}

		return req.SetField(name, value)
	})
}

// noQueryFields rejects a query with parameters other than those in other, when the fields are in the body. body names
// the right place.
func noQueryFields(c *fiber.Ctx, body string, other []string) error {
	return exchange.EachQuery(c, func(name string, _ []byte) error {
		switch {
		case slices.Contains(other, name):
			return nil
		case slices.Contains(upload.TextFields(), name):
			return fault.Errorf(fault.InvalidRequest,
				"%s is in the query, which is allowed for text/markdown and application/zip only; put it into %s",
				name, body).WithParam(name)
		}

		return input.UnknownField(name, other)
	})
}
