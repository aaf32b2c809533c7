package pdf

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"presswork"
	"presswork/internal/markdown"
)

// Finish is what a print is made into, besides being packed.
type Finish struct {
	// PDFA is the level of PDF/A: "2b", "2u", "3b"; "" is none.
	PDFA presswork.PDFALevel
	// PDFUA asks for PDF/UA-1, as far as the document allows.
	PDFUA bool
	// Undescribed is how many images have no alternative text in the source.
	// Chromium takes them for decoration, which their author did not say.
	Undescribed int
	// Strict makes an error of what is missing for PDF/UA.
	Strict bool
	// Headings give the outline its words: Chromium's own lack spaces and repeat
	// formulas. Those it does not list are left as they are.
	Headings []markdown.Heading
	// Hyphenated tells that the page holds soft hyphens.
	Hyphenated bool
	// Sources are attached, as what the document was made from.
	Sources []Attachment
	// Password encrypts the file; "" does not.
	Password string
	// Date is told as that of creation. Zero: when it was printed.
	Date time.Time
}

// Attachment is a file within the PDF.
type Attachment struct {
	Name string
	Data []byte
}

// demanded says that the print is of no use without being finished.
func (f Finish) demanded() bool {
	return f.PDFA != "" || len(f.Sources) > 0 || f.Password != ""
}

func finishOf(d Document, o presswork.Options, body markdown.Document, date time.Time) Finish {
	f := Finish{PDFUA: isTrue(o.PDFUA), Strict: isTrue(o.Strict), Password: o.Password, Date: date, Headings: body.Headings,
		Hyphenated: strings.Contains(body.HTML, "\u00ad")}
	for _, w := range body.Warnings {
		if w.Code == presswork.AltMissing {
			f.Undescribed++
		}
	}
	if o.PDFA != nil {
		f.PDFA = *o.PDFA
	}
	if isTrue(o.AttachSource) {
		f.Sources = sourcesOf(d)
	}
	return f
}

// sourcesOf names the document and its parts as files of one folder.
func sourcesOf(d Document) (sources []Attachment) {
	taken := map[string]bool{}
	add := func(name string, data []byte) {
		name = cmp.Or(titleOf(name), "document")
		unique := name
		for n := 2; taken[unique]; n++ {
			unique = fmt.Sprintf("%s-%d", name, n)
		}
		taken[unique] = true
		sources = append(sources, Attachment{Name: unique + ".md", Data: data})
	}
	add(cmp.Or(d.Filename, d.Path), d.Content)
	for _, p := range d.Parts {
		add(p.Path, p.Content)
	}
	return sources
}

// checkFinish refuses levels that do not exist and options that do not go
// together.
func checkFinish(o presswork.Options) error {
	level := presswork.PDFALevel("")
	if o.PDFA != nil {
		level = *o.PDFA
	}
	untagged := o.Tagged != nil && !*o.Tagged
	switch level {
	case "", "2b", "2u", "3b":
	case "1a", "1b":
		return invalid("pdf_a", "pdf_a %q is not available: PDF/A-1 has no transparency, which themes use; allowed: 2b, 2u, 3b", level)
	case "2a", "3a", "3u", "4", "4e", "4f":
		return invalid("pdf_a", "pdf_a %q is not available; allowed: 2b, 2u, 3b", level)
	default:
		return invalid("pdf_a", "pdf_a %q does not exist; allowed: true (2b), 2b, 2u, 3b", short(string(level)))
	}
	switch {
	case isTrue(o.PDFUA) && untagged:
		return invalid("pdf_ua", "pdf_ua needs tagged: PDF/UA is made of the tags; leave tagged true or set pdf_ua to false")
	case isTrue(o.AttachSource) && level != "3b":
		return invalid("attach_source", `attach_source needs pdf_a "3b"`)
	case o.Password != "" && level != "":
		return invalid("password", "password does not go with pdf_a: PDF/A forbids encryption")
	}
	return checkPassword(o.Password)
}

// unfinished coins the error of a print that cannot be made into what was
// asked for.
func unfinished(f Finish, err error) error {
	what := "encrypted"
	if f.PDFA != "" {
		what = "made PDF/A-" + string(f.PDFA)
	}
	return presswork.Errorf(presswork.RenderFailed, "the PDF cannot be %s", what).WithCause(err)
}
