// Package guide makes the pages at /docs: the manual, a page for each task, and a reference. The reference has all
// operations of the OpenAPI description, with samples.
//
// New reads both sources. The text of a page is Markdown and is rendered when the page is first asked for; links
// between files become links between pages. Samples are templates in the folder samples, filled with the examples of
// the description, so that a new operation needs no sample of its own.
package guide

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"io/fs"
	"strings"
	"sync"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown"
	"presswork/internal/markdown/block"
)

// Home is the path of the first page; the paths of all others begin with it.
const Home = "/docs"

// ErrorsPath is the path of the page with all error codes. A code is the fragment of its row.
const ErrorsPath = "/docs/troubleshooting"

// Page is a page of the guide.
type Page struct {
	// Title is plain text.
	Title string
	// Body is the content of the body element.
	Body []byte
}

// Guide has the pages. It is safe for concurrent use.
type Guide struct {
	renderer *markdown.Renderer
	tasks    []section // the sections of rest.md
	groups   []group   // the navigation
	// chapters are all pages of Markdown, tasks included; tags are the pages of the reference.
	chapters []section
	tags     []tagPage
	pages    map[string]func() (Page, error) // by path
	entries  func() ([]entry, error)         // what a search reads
}

// group is a heading of the side bar with its pages.
type group struct {
	Title string
	Links []navLink
}

// navLink is an entry of the navigation.
type navLink struct{ Path, Title string }

// New reads an OpenAPI description and the folder of the manual. Each page is rendered when it is first asked for.
// Errors: the description is not YAML, or a file of the manual is missing.
func New(openapi []byte, pages fs.FS) (*Guide, error) {
	d, err := parseDescription(openapi)
	if err != nil {
		return nil, err
	}
	g := &Guide{renderer: markdown.New(), pages: map[string]func() (Page, error){}}
	g.entries = sync.OnceValues(g.readEntries)

	if g.tasks, err = tasks(pages); err != nil {
		return nil, err
	}
	g.add("Tasks", g.tasks)
	g.addReference(d)

	for _, part := range manual {
		chapters := make([]section, 0, len(part.files))

		for _, file := range part.files {
			c, err := chapter(pages, file)
			if err != nil {
				return nil, err
			}
			chapters = append(chapters, c)
		}
		g.add(part.group, chapters)
	}
	g.pages[Home] = sync.OnceValues(func() (Page, error) { return g.home(d) })

	return g, nil
}

// Page returns the page at a path. ok is false if there is none. Errors: the page cannot be rendered, which is a
// defect of its source.
func (g *Guide) Page(path string) (page Page, ok bool, err error) {
	render, ok := g.pages[path]
	if !ok {
		return Page{}, false, nil
	}
	page, err = render()

	return page, true, err
}

// add adds a group of pages to the side bar.
func (g *Guide) add(title string, sections []section) {
	links := make([]navLink, 0, len(sections))

	g.chapters = append(g.chapters, sections...)

	for _, s := range sections {
		links = append(links, navLink{s.path, s.title})
		g.pages[s.path] = sync.OnceValues(func() (Page, error) { return g.prose(s) })
	}
	g.groups = append(g.groups, group{title, links})
}

// prose returns the page of a section.
func (g *Guide) prose(s section) (Page, error) {
	d, err := g.render(context.Background(), s)
	if err != nil {
		return Page{}, err
	}

	if s.path == ErrorsPath {
		for i := range d.Blocks {
			d.Blocks[i].HTML = codeRow().ReplaceAllString(d.Blocks[i].HTML, `<tr id="$1">$0`)
		}
	}

	return g.page("prose", s.path, s.title, withTabs(d.Blocks))
}

// codeRow is the start of a row of the table of codes, without its tag.
var codeRow = lazyregexp.New("<tr>\n<td><code>([a-z0-9_]+)</code></td>")

// piece is a part of a page: HTML, or one program in several languages.
type piece struct {
	HTML template.HTML
	// Samples is empty for a piece of HTML.
	Samples []shownSample
}

// shownSample is a program with highlighted code.
type shownSample struct {
	Language string
	HTML     template.HTML
}

// withTabs puts consecutive code blocks below headings that name a language into one piece.
func withTabs(blocks []block.Block) []piece {
	var pieces []piece

	for i := 0; i < len(blocks); i++ {
		var samples []shownSample

		for ; i+1 < len(blocks) && blocks[i+1].Kind == block.Code && languageOf(blocks[i]) != ""; i += 2 {
			code := template.HTML(blocks[i+1].HTML) //nolint:gosec // the Markdown renderer sanitises all HTML
			samples = append(samples, shownSample{languageOf(blocks[i]), code})
		}

		if samples != nil {
			pieces = append(pieces, piece{Samples: samples})
		}

		if i < len(blocks) {
			pieces = append(pieces, piece{HTML: template.HTML(blocks[i].HTML)}) //nolint:gosec // sanitised
		}
	}

	return pieces
}

// languageOf returns the language of samples that a heading names, "" if it names none.
func languageOf(b block.Block) string {
	for _, l := range languages {
		if b.Kind == block.Heading && strings.EqualFold(b.ID, l.name) {
			return l.name
		}
	}

	return ""
}

//go:embed guide.html
var guideHTML string

// guideTemplate parses the templates at its first call, because most processes never show the guide.
var guideTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{"inline": inline}).Parse(guideHTML))
})

// page returns a page with a template of guideHTML.
func (g *Guide) page(name, path, title string, content any) (Page, error) {
	var body bytes.Buffer

	err := guideTemplate().ExecuteTemplate(&body, name, map[string]any{
		"Path": path, "Title": title, "Groups": g.groups, "Content": content,
	})
	if err != nil {
		return Page{}, fmt.Errorf("guide: %s: %w", path, err)
	}

	return Page{title, body.Bytes()}, nil
}

// inline returns a text of the description as HTML: code between backticks, and nothing else, is marked.
func inline(text string) template.HTML {
	var out strings.Builder

	for i, span := range strings.Split(text, "`") {
		if i%2 == 1 {
			span = "<code>" + template.HTMLEscapeString(span) + "</code>"
		} else {
			span = template.HTMLEscapeString(span)
		}
		out.WriteString(span)
	}

	return template.HTML(out.String()) //nolint:gosec // escaped above
}
