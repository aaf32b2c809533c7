package presswork

import (
	"encoding/json"
	"strings"

	"presswork/internal/pdffile/pdfa"
)

// Options are the choices a caller may make about a document. Every field is
// optional: the zero value means "not set", so that front matter can be laid
// under a request. The JSON names are also the front-matter keys. Some types accept
// shorter forms in JSON. document.CheckOptions checks the values.
type Options struct {
	// PageSize is A3 A4 A5 A6 B5 Letter Legal Tabloid in any case, or
	// "210mm x 297mm". Default A4.
	PageSize  string `json:"page_size,omitempty"`
	Landscape *bool  `json:"landscape,omitempty"`
	// MarginPreset is none, narrow, normal (default) or wide.
	MarginPreset string  `json:"margin_preset,omitempty"`
	Margins      Margins `json:"margins,omitzero"`
	// Binding is the part of the inner margin that the spine hides: a length. With it the margins of left and
	// right pages mirror each other.
	Binding string `json:"binding,omitempty"`
	// Bleed is how far colour goes on beyond the edge where the paper is cut: a length.
	// CropMarks draws where that edge is, on a larger sheet.
	Bleed     string `json:"bleed,omitempty"`
	CropMarks *bool  `json:"crop_marks,omitempty"`
	// HeaderText and FooterText may hold {page} {total} {title} {date} {chapter}.
	HeaderText *string `json:"header_text,omitempty"`
	FooterText *string `json:"footer_text,omitempty"`
	// TOC asks for a table of contents down to this heading level; true is 3.
	TOC              *Depth `json:"toc,omitempty"`
	Cover            *bool  `json:"cover,omitempty"`
	NumberedHeadings *bool  `json:"numbered_headings,omitempty"`
	// Numbering is how figures, tables, listings and equations are counted: document
	// (default) or chapter (2.1). With it all that have a caption are numbered,
	// without it those that have a label.
	Numbering string `json:"numbering,omitempty"`
	// Bibliography are the files of the works that the document cites, BibTeX or
	// CSL-JSON; they come with it as its images do. CSL is the citation style: a name
	// or such a file. NoCite names works that are listed without being cited.
	Bibliography Files  `json:"bibliography,omitempty"`
	CSL          string `json:"csl,omitempty"`
	NoCite       string `json:"nocite,omitempty"`
	// LOF, LOT and LOL are lists of figures, tables and listings.
	LOF         *bool `json:"lof,omitempty"`
	LOT         *bool `json:"lot,omitempty"`
	LOL         *bool `json:"lol,omitempty"`
	LineNumbers *bool `json:"line_numbers,omitempty"`
	// ChapterStart is where chapters begin: continue (default), page, or right, on a
	// right-hand page; long chapters of a book do without being asked.
	ChapterStart string `json:"chapter_start,omitempty"`
	// Footnotes are at the foot of their page (default) or at the end of the document:
	// page or end.
	Footnotes string `json:"footnotes,omitempty"`
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
	// Tagged writes the structure tree, Outline bookmarks (both default true).
	Tagged  *bool `json:"tagged,omitempty"`
	Outline *bool `json:"outline,omitempty"`
	// PDFA is the PDF/A level: 2b, 2u or 3b; true is 2b.
	PDFA         *PDFALevel `json:"pdf_a,omitempty"`
	PDFUA        *bool      `json:"pdf_ua,omitempty"`
	AttachSource *bool      `json:"attach_source,omitempty"`
	Password     string     `json:"password,omitempty"`
	Strict       *bool      `json:"strict,omitempty"`
	// RawHTML is sanitized (default) or escaped.
	RawHTML string `json:"raw_html,omitempty"`
	// Markdown is the dialect: gfm, pandoc, obsidian or mdx. Default: by what the
	// document holds.
	Markdown string `json:"markdown,omitempty"`
	// RemoteImages allows http(s) images, through the guard (default true).
	RemoteImages *bool `json:"remote_images,omitempty"`
	// As is the layout. A book is justified, with running heads, on facing pages. Slides are a
	// page for each part between rules. A paper is justified and dense, with numbered sections.
	// A letter, cv, recipe or minutes are made from fields of the front matter. auto chooses by
	// these fields and the text. Default: document, and book for long prose in a literary theme.
	As string `json:"as,omitempty"`
	// Columns is the number of columns of a paper: 1 (default) or 2.
	Columns *int `json:"columns,omitempty"`
	// Density is the size of the text and of the space around it: compact, normal (default)
	// or generous.
	Density string `json:"density,omitempty"`
	// SpeakerNotes are comments on the slides (default), pages behind them, or none.
	SpeakerNotes string `json:"speaker_notes,omitempty"`
	// Resolution is that of pictures of pages, in pixels to the inch.
	Resolution *int `json:"resolution,omitempty"`
}

// Margins are CSS lengths with a unit ("20mm"); an empty side is the preset's.
type Margins struct {
	Top    string `json:"top,omitempty"`
	Right  string `json:"right,omitempty"`
	Bottom string `json:"bottom,omitempty"`
	Left   string `json:"left,omitempty"`
}

// Depth is a heading level 1 to 6; 0 is none.
type Depth int

// defaultDepth is the heading level that true stands for in JSON.
const defaultDepth = 3

// UnmarshalJSON reads a number. true is 3 and false is 0.
func (d *Depth) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case "true":
		*d = defaultDepth
		return nil
	case "false":
		*d = 0
		return nil
	}

	return json.Unmarshal(b, (*int)(d))
}

// JSONForms describes the accepted JSON for error messages.
func (Depth) JSONForms() string { return "true, false or a heading level 1 to 6" }

// Keywords are the keywords of a document. A keyword has no comma.
type Keywords []string

// UnmarshalJSON reads a list of strings, or one string with commas.
func (k *Keywords) UnmarshalJSON(b []byte) error { return unmarshalWords(b, (*[]string)(k)) }

// JSONForms describes the accepted JSON for error messages.
func (Keywords) JSONForms() string { return wordsForms }

// Files are names of files that come with a document.
type Files []string

// UnmarshalJSON reads a list of strings, or one string with commas.
func (f *Files) UnmarshalJSON(b []byte) error { return unmarshalWords(b, (*[]string)(f)) }

// JSONForms describes the accepted JSON for error messages.
func (Files) JSONForms() string { return wordsForms }

// wordsForms completes the error of a value that is not a list of words.
const wordsForms = "a list of strings or one comma-separated string"

// unmarshalWords reads a list of strings, or the words of one string with commas.
func unmarshalWords(b []byte, words *[]string) error {
	if b[0] != '"' {
		return json.Unmarshal(b, words)
	}

	var list string
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	*words = nil

	for word := range strings.SplitSeq(list, ",") {
		if word = strings.TrimSpace(word); word != "" {
			*words = append(*words, word)
		}
	}

	return nil
}

// PDFALevel is a level of PDF/A.
type PDFALevel = pdfa.Level

// Output is what a document is made into.
type Output string

// The outputs. PDF is the default; PNG is a picture of each page.
const (
	PDF  Output = "pdf"
	HTML Output = "html"
	EPUB Output = "epub"
	PNG  Output = "png"
)

// Outputs lists every output, the default first.
func Outputs() []Output { return []Output{PDF, HTML, EPUB, PNG} }

// ContentType is the media type of the file; pictures of pages are a zip archive.
func (o Output) ContentType() string {
	switch o {
	case HTML:
		return "text/html; charset=utf-8"
	case EPUB:
		return "application/epub+zip"
	case PNG:
		return "application/zip"
	}

	return "application/pdf"
}

// Extension is that of the file's name.
func (o Output) Extension() string {
	switch o {
	case HTML:
		return ".html"
	case EPUB:
		return ".epub"
	case PNG:
		return ".zip"
	}

	return ".pdf"
}
