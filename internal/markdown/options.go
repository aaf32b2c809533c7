package markdown

import (
	"context"
	"time"

	"presswork/internal/markdown/cite"
)

// Options are the settings for one document. The functions in it may be called until Parse returns.
type Options struct {
	// FirstLine is the line of the file on which the Markdown begins, for warnings. Default 1: there is no
	// front matter.
	FirstLine int
	// Place names the place of a line, for warnings about a source whose lines its author does not see, such as a
	// notebook. Default: warnings have the line.
	Place func(line int) string
	// Dialect is one of Dialects. It decides how syntax is read that plain Markdown does not have. Default:
	// Obsidian or MDX if the document looks like it, else all extensions that cannot be meant as plain text.
	Dialect string
	// EscapeHTML prints raw HTML as text. By default it is sanitised.
	EscapeHTML bool
	// LineNumbers numbers the lines of code blocks.
	LineNumbers bool
	// CodeLook reports whether the page styles the tokens of a class of Chroma, by colour, weight or slant
	// only. Tokens of other classes become plain text, and blanks join the token before them. Nil: the page
	// may style every class, with a background or an underline as well.
	CodeLook func(class string) bool
	// Title becomes a level-1 heading above a document that has none. Default: no heading is added.
	Title string
	// Lang is the language of the document (BCP 47), which decides quotes, dashes and spaces. English is
	// the default and stands for languages without rules.
	Lang string
	// Language detects the language of the visible text. It is called if Lang is empty. Nil: the language
	// stays unknown.
	Language func(prose string) string
	// Hyphenate puts soft hyphens into long words of Lang.
	Hyphenate bool
	// Justified returns the language of justified text, "" if it is not certain. Soft hyphens then go into
	// shorter words as well. Nil: the text is not justified.
	Justified func(prose string) string
	// NumberHeadings writes 1.2.3 before headings. A single leading h1 is the title and has no number.
	NumberHeadings bool
	// Sections are the numbers of the headings in the documents that are printed before this one. Nil: numbers
	// start at 1 below a single title.
	Sections *Sections
	// Shift lowers all headings by this number of levels, down to level 6.
	Shift int
	// BookPart reports whether headings of level 1 begin a part of a book. They then have no number.
	BookPart bool
	// Numbering is ByChapter to number figures, tables, equations and listings within chapters. Default:
	// through the document.
	Numbering string
	// Numbered lists the kinds of which every element with a caption is numbered. Labelled elements of the
	// other kinds are numbered as well.
	Numbered []Kind
	// Counts are the numbers of elements of each kind in the documents that are printed before this one.
	Counts map[Kind]int
	// Labels are the labelled elements of the documents that are printed with this one. If it is not nil,
	// references may lead there.
	Labels map[string]Label
	// Bibliography names the files of cited works, in BibTeX or CSL-JSON. Without one, @name is no citation.
	Bibliography []string
	// Library opens the files of Bibliography and CitationStyle. Default: Asset.
	Library func(name string) ([]byte, error)
	// CitationStyle is one of CitationStyles or a .csl file. Default, and for a file that cannot be read:
	// chicago-author-date.
	CitationStyle string
	// NoCite names works to list without a citation: "@a, @b", or "@*" for all.
	NoCite string
	// CitedBefore and CitedAfter are the citations of the documents that are printed before and after this one. All
	// share one bibliography.
	CitedBefore, CitedAfter []cite.Citation
	// EntriesAt is the prefix of the fragments of the bibliography's entries, if another document prints it. Default:
	// this document prints it.
	EntriesAt string
	// MathTime bounds the rendering of all formulas. Default: by the size of the document, up to 30 s.
	MathTime time.Duration
	// MaxParts bounds the parts of the document. Default: the constant MaxParts.
	MaxParts int
	// Links returns the fragment for a link to another document that is printed with this one. The fragment
	// need not be in this document. line is the line of the link. Nil: there is no other document.
	Links func(destination string, line int) (fragment string, ok bool)
	// Pages returns the relative address for a link to a document that becomes a web page next to this one. Nil:
	// there is none, and links to files lose their target.
	Pages func(destination string) (address string, ok bool)
	// Asset opens an image that came with the document. It gets a clean path that may be absolute or begin
	// with ../, so it must confine the path itself. StoreUnavailable ends Parse; other errors become
	// warnings. Asset and Fetch are called from several goroutines at once. Nil: no files came.
	Asset func(name string) ([]byte, error)
	// Include opens a text file that the document includes, by its clean path below the folder of the
	// document. StoreUnavailable ends Parse; other errors become warnings. Nil: nothing is included.
	Include func(name string) ([]byte, error)
	// Folder is the folder of the document in a book, "." for the book's own. Include then opens the files of the
	// book, by their clean paths in the book. Default: Include opens the files of the document's folder.
	Folder string
	// Variable returns the value of a variable of Quarto, of a kind of package quarto, and whether there is one.
	// Nil: there is none.
	Variable func(kind, name string) (string, bool)
	// Substitutions are the texts that MyST puts in place of {{ name }}.
	Substitutions map[string]string
	// Macros are definitions in LaTeX, such as \newcommand{\R}{\mathbb{R}}, for the formulas of the document.
	Macros string
	// Fetch downloads an image from an http or https address. Nil: remote images are left out.
	Fetch func(ctx context.Context, url string) (data []byte, contentType string, err error)
	// Formats are the names that Quarto has for the output format: content for other formats is left out.
	// Nil: all content is printed.
	Formats []string
	// Slides cuts the document into slides.
	Slides bool
	// DarkPage reports whether the page is dark. Dark images on a transparent background then get the class
	// image-plate, which gives them a light background.
	DarkPage bool
	// SourceLines writes the source line of each block into the HTML, as the attribute data-line.
	SourceLines bool
	// Diagrams draws diagrams of Mermaid, Graphviz and D2 and returns one Diagram for each source. It is called at
	// most once, and its error ends Parse. Nil: diagrams stay source, with a warning.
	Diagrams func(ctx context.Context, sources []DiagramSource) ([]Diagram, error)
}

// DiagramSource is a diagram in its language: "mermaid", "dot" or "d2".
type DiagramSource struct{ Language, Text string }

// Diagram is a drawn diagram.
type Diagram struct {
	// SVG is safe to embed in a page. Problem says why there is no SVG.
	SVG, Problem string
	// Line is the line of the source that Problem is about, from 1; 0 if it is unknown.
	Line int
}
