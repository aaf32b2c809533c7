package api

import (
	"bytes"
	"mime"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/input"
)

const (
	// escaped is by how much JSON can inflate a byte (\u0000).
	escaped = 6
	// jsonOverhead is what a JSON body may hold beside the content.
	jsonOverhead = 1 << 20
	// maxFilename is the longest file name of a result, in bytes.
	maxFilename = 200
)

// parseConversion reads a submission in any of its four forms.
func (s *Server) parseConversion(c *fiber.Ctx) (req conversion, err error) {
	media, params, err := mime.ParseMediaType(c.Get(fiber.HeaderContentType))
	if err != nil {
		media = ""
	}

	switch media {
	case fiber.MIMEApplicationJSON:
		if err = noFields(c, "the JSON"); err == nil {
			err = s.parseJSON(c, &req)
		}
	case fiber.MIMEMultipartForm:
		if err = noFields(c, "the form"); err == nil {
			req, err = s.parseMultipart(c, params["boundary"])
		}
	case "text/markdown", "text/x-markdown", fiber.MIMETextPlain:
		if charset := params["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") &&
			!strings.EqualFold(charset, "us-ascii") {
			return req, fault.Errorf(
				fault.UnsupportedMediaType,
				"the charset is %s; allowed: utf-8",
				input.Quote(charset),
			)
		}
		err = s.parseText(c, &req)
	case "application/zip", "application/x-zip-compressed":
		req, err = s.parseArchive(c)
	default:
		return req, fault.Errorf(
			fault.UnsupportedMediaType,
			"Content-Type is %s; allowed: application/json, multipart/form-data, application/zip, text/markdown "+
				"(with curl: -H 'Content-Type: text/markdown')",
			input.Quote(c.Get(fiber.HeaderContentType)),
		)
	}
	req.Filename, req.held = cleanFilename(req.Filename), &metadataOf(c.Context()).held

	return req, err
}

func (s *Server) parseJSON(c *fiber.Ctx, req *conversion) error {
	return s.decodeJSON(c, s.MaxContentBytes*escaped+jsonOverhead, "a JSON submission", req)
}

// decodeJSON reads a body of at most limit bytes; what names it when it is larger.
func (s *Server) decodeJSON(c *fiber.Ctx, limit int64, what string, into any) error {
	data, err := s.textBody(c, limit, what)
	if err != nil {
		return err
	}

	return input.DecodeJSON(data, into, "")
}

// textBody reads a body of JSON of at most limit bytes. A byte order mark before it, as Windows writes one, may
// be ignored (RFC 8259, 8.1).
func (s *Server) textBody(c *fiber.Ctx, limit int64, what string) ([]byte, error) {
	b, err := s.body(c, limit, what)
	if err != nil {
		return nil, err
	}

	data, err := b.all()
	if err != nil {
		return nil, err
	}
	// The decoder would put U+FFFD in the place of what is not UTF-8.
	if !utf8.Valid(data) {
		return nil, fault.Errorf(fault.ContentNotUTF8, "the body is not valid UTF-8")
	}

	return bytes.TrimPrefix(data, []byte("\ufeff")), nil
}

func (s *Server) parseText(c *fiber.Ctx, req *conversion) error {
	if err := req.setQuery(c); err != nil {
		return err
	}

	b, err := s.body(c, s.MaxContentBytes, "content")
	if err != nil {
		return err
	}
	data, err := b.all()
	req.Content = string(data)

	return err
}

func (r *conversion) setQuery(c *fiber.Ctx) error { return eachQuery(c, r.setText) }

// textFields are the fields a query or a form may have beside the content.
var textFields = []string{"theme", "output", "options", "webhook_url", "filename", "priority"}

// noFields refuses fields in the query of a request whose body has them.
func noFields(c *fiber.Ctx, body string) error {
	for _, name := range textFields {
		if c.Context().QueryArgs().Has(name) {
			return fault.Errorf(
				fault.InvalidRequest,
				"%s is in the query, where it goes with a body of text/markdown or application/zip; put it into %s",
				name,
				body,
			).
				WithParam(name)
		}
	}

	return nil
}

// setText sets a field that came as text: all are strings but the options,
// which are JSON.
func (r *conversion) setText(name string, value []byte) error {
	if !utf8.Valid(value) {
		return fault.Errorf(fault.InvalidType, "%s is not valid UTF-8", input.Quote(name)).WithParam(name)
	}

	switch name {
	case "theme":
		r.Theme = string(value)
	case "output":
		r.Output = presswork.Output(value)
	case "webhook_url":
		r.WebhookURL = string(value)
	case "filename":
		r.Filename = string(value)
	case "priority":
		r.Priority = string(value)
	case "options":
		return input.DecodeJSON(value, &r.Options, "options.")
	default:
		return input.UnknownField(name, textFields)
	}

	return nil
}

// cleanFilename makes a safe file name that ends in .pdf; "" stays "", and the
// worker then names the file by its title.
func cleanFilename(name string) string {
	if name = path.Base(strings.ReplaceAll(name, `\`, "/")); name == "." || name == "/" {
		return ""
	}
	name = strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError,
			unicode.IsControl(r),
			!unicode.IsPrint(r) && r != ' ',
			strings.ContainsRune(`/\:*?"<>|`, r):
			return '_'
		}

		return r
	}, name)

	name = strings.Trim(name, " .")
	for _, suffix := range []string{".pdf", ".html", ".epub", ".zip", ".md", ".markdown"} {
		if cut := len(name) - len(suffix); cut > 0 && strings.EqualFold(name[cut:], suffix) {
			name = name[:cut]
			break
		}
	}

	if len(name) > maxFilename {
		name = strings.ToValidUTF8(name[:maxFilename], "")
	}

	if name = strings.TrimRight(name, " ."); name == "" {
		return ""
	}

	return name + ".pdf"
}
