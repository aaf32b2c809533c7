package document

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/markdown"
	"presswork/internal/pdffile"
	"presswork/internal/pdffile/pack"
)

// finishOf returns how the print of a document is packed. The packer cannot see the source, so it gets the headings and
// the number of images without a description.
func finishOf(d Document, o presswork.Options, body markdown.Document, date time.Time) pack.Finish {
	f := pack.Finish{
		PDFUA:       isTrue(o.PDFUA),
		Password:    o.Password,
		Date:        date,
		Hyphenated:  body.Letters.SoftHyphens,
		RightToLeft: body.Letters.Arabic,
	}
	for _, h := range body.Headings {
		f.Headings = append(f.Headings, pack.Heading{Level: h.Level, Text: strings.TrimSpace(h.Number + " " + h.Text)})
	}

	for _, w := range body.Warnings {
		if w.Code == fault.AltMissing {
			f.Undescribed++
		}
	}

	if o.PDFA != nil {
		f.PDFA = string(*o.PDFA)
	}

	if isTrue(o.AttachSource) {
		f.Sources = sourcesOf(d)
	}

	return f
}

// sourcesOf returns the document and its parts as files of one folder. Readers of PDF find attachments by their names,
// so equal names get a number.
func sourcesOf(d Document) (sources []pack.Attachment) {
	taken := map[string]bool{}
	add := func(name string, data []byte) {
		name = cmp.Or(titleOf(name), "document")

		unique := name
		for n := 2; taken[unique]; n++ {
			unique = fmt.Sprintf("%s-%d", name, n)
		}
		taken[unique] = true
		sources = append(sources, pack.Attachment{Name: unique + ".md", Data: data})
	}
	add(cmp.Or(d.Filename, d.Path), d.Content)

	for _, p := range d.Parts {
		add(p.Path, p.Content)
	}

	return sources
}

// checkFinish returns an error for unknown levels of PDF/A, for a password that no reader accepts, and for options that
// cannot be combined.
func checkFinish(o presswork.Options) error {
	level := presswork.PDFALevel("")
	if o.PDFA != nil {
		level = *o.PDFA
	}
	untagged := o.Tagged != nil && !*o.Tagged

	switch level {
	case "", "2b", "2u", "3b":
	case "1a", "1b":
		return invalid("pdf_a",
			"pdf_a %q is not available: PDF/A-1 has no transparency, which themes use; allowed: 2b, 2u, 3b", level)
	case "2a", "3a", "3u", "4", "4e", "4f":
		return invalid("pdf_a", "pdf_a %q is not available; allowed: 2b, 2u, 3b", level)
	default:
		return invalid("pdf_a", "pdf_a %q does not exist; allowed: true (2b), 2b, 2u, 3b", input.Short(string(level)))
	}

	switch {
	case isTrue(o.PDFUA) && untagged:
		return invalid("pdf_ua",
			"pdf_ua needs tagged: PDF/UA is made of the tags; leave tagged true or set pdf_ua to false")
	case isTrue(o.AttachSource) && level != "3b":
		return invalid("attach_source", `attach_source needs pdf_a "3b"`)
	case o.Password != "" && level != "":
		return invalid("password", "password does not go with pdf_a: PDF/A forbids encryption")
	}

	if err := pdffile.CheckPassword(o.Password); err != nil {
		return invalid("password", "password %v", err)
	}

	return nil
}

// unfinished returns the error for a print that package pack cannot finish as requested.
func unfinished(f pack.Finish, err error) error {
	what := "encrypted"
	if f.PDFA != "" {
		what = "made PDF/A-" + f.PDFA
	}

	return fault.Errorf(fault.RenderFailed, "the PDF cannot be %s", what).WithCause(err)
}

// incomplete returns the warning about a document that cannot be PDF/UA.
func incomplete(missing []string) fault.Warning {
	return fault.Warning{
		Code:    fault.PDFUAIncomplete,
		Message: "the PDF does not claim PDF/UA: " + strings.Join(missing, "; "),
	}
}
