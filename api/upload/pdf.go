package upload

import (
	"bufio"
	"cmp"
	"io"
	"mime/multipart"

	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/pdfops"
)

// PDF is a request for an operation on PDF files.
type PDF struct {
	// Files are the PDF files in their order. Mark is the picture or the PDF to draw on their pages; nil for none.
	Files []*Asset
	Mark  *Asset
	// Options are those of the field options.
	Options    pdfops.Options
	WebhookURL string
	// Filename is the name of the result. Default: made from the first file's name.
	Filename string
}

// Discard deletes the files.
func (p *PDF) Discard() {
	for _, a := range p.Files {
		a.Discard()
	}

	if p.Mark != nil {
		p.Mark.Discard()
	}
}

// ReadPDF reads a form of the type multipart/form-data with the fields file (repeated), mark, options, webhook_url and
// filename. The files may have limit bytes together. The caller must discard the result, also after an error.
// Errors: those of Broken and of Hold, ContentTooLarge, UnknownField, InvalidType and those of input.DecodeJSON.
func ReadPDF(body io.Reader, boundary string, limit int64, h *Hold) (p PDF, err error) {
	parts := multipart.NewReader(bufio.NewReaderSize(body, Buffer), boundary)
	left := limit

	for {
		part, err := parts.NextPart()
		if err == io.EOF {
			return p, nil
		}

		if err != nil {
			return p, Broken(err)
		}

		if err := p.readField(part, h, &left, limit); err != nil {
			return p, err
		}
	}
}

// readField reads a part of the form. left is how many bytes of files may still arrive, limit their largest sum.
func (p *PDF) readField(part *multipart.Part, h *Hold, left *int64, limit int64) error {
	field := part.FormName()

	switch field {
	case "file":
		if len(p.Files) == pdfops.MaxInputs {
			return fault.Errorf(fault.ContentTooLarge, "a request may have at most %d files", pdfops.MaxInputs).
				WithParam(field)
		}
		a := NewAsset(pdfName(part.FileName()), h)
		p.Files = append(p.Files, a)

		return fillWithin(a, part, left, limit)
	case "mark":
		if p.Mark != nil {
			return fault.Errorf(fault.InvalidType, "the form has the field mark twice").WithParam(field)
		}
		p.Mark = NewAsset("mark", h)

		return fillWithin(p.Mark, part, left, limit)
	case "options", "webhook_url", "filename":
	default:
		return input.UnknownField(field, []string{"file", "mark", "options", "webhook_url", "filename"})
	}

	data, err := ReadPart(h.InMemory(part), maxField, field)
	if err != nil {
		return err
	}

	switch field {
	case "options":
		return input.DecodeJSON(data, &p.Options, "options.")
	case "webhook_url":
		p.WebhookURL = string(data)
	case "filename":
		p.Filename = CleanFilename(string(data))
	}

	return nil
}

// pdfName returns the safe form of a file's name, or a default.
func pdfName(name string) string {
	return cmp.Or(CleanFilename(name), "document.pdf")
}

// fillWithin reads a file and subtracts its size from left.
func fillWithin(a *Asset, part io.Reader, left *int64, limit int64) error {
	if err := a.Fill(io.LimitReader(part, *left+1)); err != nil {
		return err
	}

	if *left -= a.Size; *left < 0 {
		return fault.Errorf(fault.ContentTooLarge, "the files have more than %d bytes together", limit).
			WithParam("file")
	}

	return nil
}
