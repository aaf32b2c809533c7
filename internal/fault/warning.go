package fault

// Warning is something the reader of the result should know, but no failure.
type Warning struct {
	Code    WarningCode `json:"code"`
	Message string      `json:"message"`
	// Line is the 1-based source line, 0 when unknown.
	Line int `json:"line,omitempty"`
}

// WarningCode names a warning; the set is part of the contract.
type WarningCode string

// The warnings.
const (
	GlyphMissing   WarningCode = "glyph_missing"
	ImageFailed    WarningCode = "image_failed"
	LineOverflow   WarningCode = "line_overflow"
	HeadingSkipped WarningCode = "heading_skipped"
	AltMissing     WarningCode = "alt_missing"
	LinkBroken     WarningCode = "link_broken"
	DiagramFailed  WarningCode = "diagram_failed"
	// CitationMissing is a citation of a work that no bibliography has,
	// BibliographyFailed a bibliography, or a part of one, that cannot be read.
	CitationMissing    WarningCode = "citation_missing"
	BibliographyFailed WarningCode = "bibliography_failed"
	PDFUAIncomplete    WarningCode = "pdf_ua_incomplete"
	// SlideOverflow is a slide with more than fits on a page.
	SlideOverflow WarningCode = "slide_overflow"
	// FrontMatterIgnored is a value that another program's front matter may have.
	FrontMatterIgnored WarningCode = "front_matter_ignored"
	// SyntaxDropped is what only another program's readers see, such as MDX's code.
	SyntaxDropped WarningCode = "syntax_dropped"
	// IncludeFailed is a file that a document includes and that is not printed.
	IncludeFailed WarningCode = "include_failed"
	// TimesMissing: the model returned no times. A format with times then has the times of the parts in which the
	// recording was sent.
	TimesMissing WarningCode = "times_missing"
	// PDFChanged is what an operation on an existing PDF file dropped or changed.
	PDFChanged WarningCode = "pdf_changed"
)
