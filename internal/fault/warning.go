package fault

// Warning is a problem that did not prevent the result.
type Warning struct {
	Code WarningCode `json:"code"`
	// Message is for the author of the document.
	Message string `json:"message"`
	// Line is the 1-based source line, 0 when unknown.
	Line int `json:"line,omitempty"`
}

// WarningCode names a warning. Codes are part of the public contract and are never renamed.
type WarningCode string

// The warnings.
const (
	GlyphMissing   WarningCode = "glyph_missing"   // no font has the character; a box is printed
	ImageFailed    WarningCode = "image_failed"    // the alternative text is printed
	LineOverflow   WarningCode = "line_overflow"   // a code line or table was wrapped or made smaller
	HeadingSkipped WarningCode = "heading_skipped" // a heading is more than one level below the last one
	AltMissing     WarningCode = "alt_missing"     // a picture has no alternative text
	LinkBroken     WarningCode = "link_broken"     // it leads to a missing heading or file
	DiagramFailed  WarningCode = "diagram_failed"  // its source is printed
	// CitationMissing is a citation of a work that no bibliography has. BibliographyFailed is a bibliography, or a part
	// of one, that cannot be read.
	CitationMissing    WarningCode = "citation_missing"
	BibliographyFailed WarningCode = "bibliography_failed"
	PDFUAIncomplete    WarningCode = "pdf_ua_incomplete" // the PDF does not meet PDF/UA
	// SlideOverflow is a slide with more than fits on a page.
	SlideOverflow WarningCode = "slide_overflow"
	// FrontMatterIgnored is a value of front matter that only another program supports.
	FrontMatterIgnored WarningCode = "front_matter_ignored"
	// SyntaxDropped is syntax of another program that was left out, such as the code of MDX.
	SyntaxDropped WarningCode = "syntax_dropped"
	// IncludeFailed is an included file that is not printed.
	IncludeFailed WarningCode = "include_failed"
	// TimesMissing: the model returned no times. A format with times then has the times of the parts in which the
	// recording was sent.
	TimesMissing WarningCode = "times_missing"
	// PDFChanged is a part of an existing PDF file that an operation dropped or changed.
	PDFChanged WarningCode = "pdf_changed"
)
