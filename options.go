package presswork

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
)

// Options are the choices a caller may make about a document. Every field is
// optional: the zero value means "not set", so that front matter can be laid
// under a request (Over). The JSON names are also the front-matter keys.
// Values are checked by pdf.CheckOptions.
type Options struct {
	// PageSize is A3 A4 A5 A6 B5 Letter Legal Tabloid in any case, or
	// "210mm x 297mm". Default A4.
	PageSize  string `json:"page_size,omitempty"`
	Landscape *bool  `json:"landscape,omitempty"`
	// MarginPreset is none, narrow, normal (default) or wide.
	MarginPreset string  `json:"margin_preset,omitempty"`
	Margins      Margins `json:"margins,omitzero"`
	// HeaderText and FooterText may hold {page} {total} {title} {date} {chapter}.
	HeaderText *string `json:"header_text,omitempty"`
	FooterText *string `json:"footer_text,omitempty"`
	// TOC asks for a table of contents down to this heading level; true is 3.
	TOC              *Depth `json:"toc,omitempty"`
	Cover            *bool  `json:"cover,omitempty"`
	NumberedHeadings *bool  `json:"numbered_headings,omitempty"`
	LineNumbers      *bool  `json:"line_numbers,omitempty"`
	// CodeTheme is the name of a Chroma style.
	CodeTheme string `json:"code_theme,omitempty"`
	// InkSaver prints dark text on white paper in any theme.
	InkSaver *bool `json:"ink_saver,omitempty"`
	// CSS is an extra stylesheet, applied last.
	CSS      string   `json:"css,omitempty"`
	Title    string   `json:"title,omitempty"`
	Author   string   `json:"author,omitempty"`
	Subject  string   `json:"subject,omitempty"`
	Keywords Keywords `json:"keywords,omitempty"`
	// Lang is a BCP 47 tag.
	Lang string `json:"lang,omitempty"`
	// Scale is 0.1 to 2; default 1.
	Scale *float64 `json:"scale,omitempty"`
	// PageRanges keeps only these pages: "1-3,5".
	PageRanges string `json:"page_ranges,omitempty"`
	// Tagged writes the structure tree (default true).
	Tagged *bool `json:"tagged,omitempty"`
	// Outline writes bookmarks (default true).
	Outline *bool `json:"outline,omitempty"`
	// PDFA is the PDF/A level: 2b, 2u or 3b; true is 2b.
	PDFA         *PDFALevel `json:"pdf_a,omitempty"`
	PDFUA        *bool      `json:"pdf_ua,omitempty"`
	AttachSource *bool      `json:"attach_source,omitempty"`
	Password     string     `json:"password,omitempty"`
	Strict       *bool      `json:"strict,omitempty"`
	// RawHTML is sanitized (default) or escaped.
	RawHTML string `json:"raw_html,omitempty"`
	// RemoteImages allows http(s) images, through the guard (default true).
	RemoteImages *bool `json:"remote_images,omitempty"`
}

// Margins are CSS lengths with a unit ("20mm"); an empty side is the preset's.
type Margins struct {
	Top    string `json:"top,omitempty"`
	Right  string `json:"right,omitempty"`
	Bottom string `json:"bottom,omitempty"`
	Left   string `json:"left,omitempty"`
}

// Over returns o laid over base: each field o does not set is base's. Margins
// are laid side by side.
func (o Options) Over(base Options) Options {
	layer(reflect.ValueOf(&o).Elem(), reflect.ValueOf(base))
	return o
}

func layer(top, base reflect.Value) {
	for i := range top.NumField() {
		switch f := top.Field(i); {
		case f.Kind() == reflect.Struct:
			layer(f, base.Field(i))
		case f.IsZero():
			f.Set(base.Field(i))
		}
	}
}

// Depth is a heading level 1 to 6; 0 is none. In JSON also true (3) and false.
type Depth int

// UnmarshalJSON reads true, false or a number.
func (d *Depth) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case "true":
		*d = 3
		return nil
	case "false":
		*d = 0
		return nil
	}
	return json.Unmarshal(b, (*int)(d))
}

// Keywords is a list; in JSON also one comma-separated string.
type Keywords []string

// UnmarshalJSON reads a list of strings or "a, b".
func (k *Keywords) UnmarshalJSON(b []byte) error {
	if !bytes.HasPrefix(b, []byte(`"`)) {
		return json.Unmarshal(b, (*[]string)(k))
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	*k = nil
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			*k = append(*k, part)
		}
	}
	return nil
}

// PDFALevel is "2b", "2u" or "3b"; "" is no PDF/A. In JSON also true (2b),
// false, and the long form "PDF/A-2b".
type PDFALevel string

// UnmarshalJSON reads true, false or a level in either form.
func (l *PDFALevel) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case "true":
		*l = "2b"
		return nil
	case "false":
		*l = ""
		return nil
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	s = strings.ToLower(s)
	*l = PDFALevel(strings.TrimPrefix(strings.TrimPrefix(s, "pdf/a-"), "pdfa-"))
	return nil
}
