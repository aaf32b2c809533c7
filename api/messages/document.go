package messages

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"

	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/inference/history"
	"presswork/internal/inference/jsonbody"
	"presswork/internal/pdfops"
)

// readDocument reads a document as its text. Upstreams that speak the Messages API get the document itself.
func (p *parser) readDocument(o jsonbody.Object, h *history.History) []inference.Part {
	source := o.Object("source")
	var parts []inference.Part

	switch kind := source.Enum("type", "text", "content", "base64", "url", "file"); {
	case kind == "":
		source.Failf("type", "property 'type' is missing")
	case kind == "text":
		parts = []inference.Part{{Text: source.Required("data")}}
	case kind == "content":
		parts = p.readContent(source, "content", h, textBlock, imageBlock)
	case kind == "base64":
		parts = p.readPDF(source)
	case kind == "url" && p.options.Native():
		parts = []inference.Part{{Text: "Document: " + source.Required("url")}}
	default:
		source.Failf("type", "only documents of the types 'text', 'content' and 'base64' are supported; "+
			"send a file as 'base64'")
	}

	return p.withBlock(titled(o.Str("title"), o.Str("context"), parts), o)
}

// readPDF reads the text of a PDF.
func (p *parser) readPDF(source jsonbody.Object) []inference.Part {
	if media := source.Required("media_type"); !source.Failed() && media != "application/pdf" {
		source.Failf("media_type", "is %q; allowed: application/pdf", jsonbody.Bounded(media, 60))
	}

	data, err := base64.StdEncoding.DecodeString(source.Required("data"))
	if err != nil {
		source.Failf("data", "the base64 of the PDF is damaged")
	}

	if source.Failed() || p.options.Native() {
		return []inference.Part{{Text: "A PDF document, whose text was not read for this model."}}
	}

	text, err := p.options.PDFText(data)
	if e, ok := errors.AsType[*inference.Error](err); ok {
		source.Fail(e)
		return nil
	}

	if err != nil {
		source.Failf("data", "the text of the PDF cannot be read: %s; send its pages as images",
			fault.AsError(err).Message)

		return nil
	}

	if text == "" {
		source.Failf("data", "the PDF has no text; send its pages as images")
	}

	return []inference.Part{{Text: text}}
}

// PDFText returns the text of a PDF. Errors: a damaged or encrypted PDF, the cause of ctx. It needs no browser, so
// it runs in this process.
func PDFText(ctx context.Context, pdf []byte) (string, error) {
	result, err := pdfops.Run(ctx, pdfops.Text, pdfops.Options{}, []pdfops.File{{Name: "document.pdf", Data: pdf}},
		pdfops.File{})
	if err != nil {
		return "", err
	}

	return strings.TrimSpace(string(result.Files[0].Data)), nil
}

// titled returns parts after a title and a context, each of which may be "".
func titled(title, context string, parts []inference.Part) []inference.Part {
	var head []string
	if title != "" {
		head = append(head, "Title: "+title)
	}

	if context != "" {
		head = append(head, "Context: "+context)
	}

	if len(head) == 0 {
		return parts
	}

	return append([]inference.Part{{Text: strings.Join(head, "\n")}}, parts...)
}
