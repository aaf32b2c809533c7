package edit

import (
	"bytes"
	"slices"
	"strings"

	"presswork/internal/pdffile"
)

// Description holds the properties that a file states about itself.
type Description struct {
	Title    string `json:"title,omitempty"`
	Author   string `json:"author,omitempty"`
	Subject  string `json:"subject,omitempty"`
	Creator  string `json:"creator,omitempty"`
	Producer string `json:"producer,omitempty"`
	Language string `json:"language,omitempty"`
	// Tagged is true if the file has a structure tree.
	Tagged bool `json:"tagged"`
	// PDFA is the claimed level of PDF/A, such as "2B", and PDFUA the claimed part of PDF/UA, such as "1"; "" without a
	// claim.
	PDFA  string `json:"pdf_a,omitempty"`
	PDFUA string `json:"pdf_ua,omitempty"`
	// Outline is the number of entries in the outline at all levels. Attachments is the number of embedded files.
	Outline     int `json:"outline"`
	Attachments int `json:"attachments"`
	// Form is true if the file has a form with fields.
	Form bool `json:"form"`
	// Fonts are the names of the fonts, sorted and without the tags of subsets.
	Fonts []string `json:"fonts"`
}

// About describes a file. Missing or damaged entries are empty; what a file claims is not verified. It does not
// change the file.
func About(f *pdffile.File) Description {
	catalog := dictOf(f, []byte(pdffile.RefTo(f.Root)))
	info := dictOf(f, []byte(pdffile.RefTo(f.Info)))
	text := func(d pdffile.Dict, key string) string {
		return pdffile.OneLine(pdffile.DecodeText(resolve(f, d.Get(key))))
	}
	c := claimsOf(f)
	names := dictOf(f, catalog.Get("Names"))

	return Description{
		Title: text(info, "Title"), Author: text(info, "Author"), Subject: text(info, "Subject"),
		Creator: text(info, "Creator"), Producer: text(info, "Producer"), Language: text(catalog, "Lang"),
		Tagged: catalog.Get("StructTreeRoot") != nil, PDFA: c.a, PDFUA: c.ua,
		Outline:     len(f.Outline(catalog)),
		Attachments: len(readTree(f, names.Get("EmbeddedFiles"), "Names")),
		Form:        len(arrayOf(f, dictOf(f, catalog.Get("AcroForm")).Get("Fields"))) > 0,
		Fonts:       fontNames(f),
	}
}

// fontNames returns the names of the fonts in alphabetical order, without the tags of subsets.
func fontNames(f *pdffile.File) []string {
	found := []string{}

	for _, o := range f.Objects {
		if !bytes.Contains(o, []byte("/BaseFont ")) || pdffile.IsStream(o) {
			continue
		}
		d, _, err := pdffile.ReadDict(o)

		if err != nil || strings.HasPrefix(string(d.Get("Subtype")), "/CIDFont") {
			continue
		}
		name := string(bytes.TrimPrefix(resolve(f, d.Get("BaseFont")), []byte("/")))

		const tag = 6 // a subset's name begins with six letters and "+"
		if len(name) > tag && name[tag] == '+' {
			name = name[tag+1:]
		}

		if name != "" {
			found = append(found, name)
		}
	}
	slices.Sort(found)

	return slices.Compact(found)
}

// Sizes returns the width and height of each page as shown, in points. Like Pages, it changes the page objects of f.
// Errors: those of Pages.
func Sizes(f *pdffile.File) ([][2]float64, error) {
	pages, err := Pages(f)
	if err != nil {
		return nil, err
	}
	sizes := make([][2]float64, len(pages))

	for i, n := range pages {
		page := dictOf(f, f.Objects[n])
		box := visibleBox(f, page)
		sizes[i] = [2]float64{box[2] - box[0], box[3] - box[1]}

		if rotation(f, page)%180 == 90 {
			sizes[i][0], sizes[i][1] = sizes[i][1], sizes[i][0]
		}
	}

	return sizes, nil
}

// RemovePDFAClaim removes the claim to be PDF/A, which forbids encryption. It returns a warning for the user, or
// none if the file made no claim.
func RemovePDFAClaim(f *pdffile.File) []string {
	keep := claimsOf(f)
	keep.a = ""

	return restrict(f, keep)
}
