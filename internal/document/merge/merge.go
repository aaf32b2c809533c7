// Package merge parses several Markdown documents as one: links, labels, numbers and citations work across them, and
// every anchor gets a name of its own.
//
// Parse parses each source with the numbers of those before it. It parses a source again if labels or citations of the
// others affect it. Then it renames equal anchors, resolves the links between sources, and joins the HTML.
package merge

import (
	"context"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"presswork/internal/fault"
	"presswork/internal/markdown"
	"presswork/internal/markdown/block"
)

// Source is one of the documents.
type Source struct {
	// Path is its slash-separated path. Links to it from the other documents lead to its pages.
	// Its warnings and errors begin with the last element, or, in a book, with the path.
	Path string
	// Content is Markdown without front matter.
	Content []byte
	// Appendix begins the appendix: headings of level 1 have letters from here on.
	Appendix bool
	// Options are those of the document on its own. Parse sets those that join it to the others.
	Options markdown.Options
}

// name returns the name of the source in messages.
func (s Source) name() string { return Name(s.Path, s.Options.Folder != "") }

// Name returns the name of a document in messages: its path in a book, else the last element of its path.
func Name(name string, inBook bool) string {
	if inBook {
		return name
	}

	return path.Base(name)
}

// Parser parses a document: markdown.Renderer.Parse.
type Parser func(ctx context.Context, content []byte, o markdown.Options) (markdown.Document, error)

// Parse parses the sources and returns them as one document, each part on a new page. There must be at least one. The
// language of the first is the language of all, and its assets have the bibliography. Errors: those of the parser, with
// the name of the source.
func Parse(ctx context.Context, parse Parser, sources []Source) (markdown.Document, error) {
	m := merger{index: map[string]int{}, stems: map[string]int{}, taken: map[string]bool{}}

	for i, s := range slices.Backward(sources) { // of equal paths, the first wins
		name := path.Clean(s.Path)
		m.index[name], m.stems[strings.TrimSuffix(name, path.Ext(name))] = i, i
	}

	parts, err := m.parseEach(ctx, parse, sources)
	if err != nil {
		return markdown.Document{}, err
	}
	shareBibliography(parts)

	for i, p := range parts {
		if p.document.Unresolved { // another part may have the label
			p.Options.Labels, p.again = labelsOfOthers(parts, i), true
		}

		if p.again {
			if p.document, err = parse(ctx, p.Content, p.Options); err != nil {
				return markdown.Document{}, NameFile(p.name(), err)
			}
		}
		m.add(p.Source, p.document)
	}

	return m.merged(), nil
}

// NameFile returns the error with the name of the file that it is about. It returns internal errors as they are.
func NameFile(file string, err error) error {
	e := fault.AsError(err)
	if e.Code == fault.Internal {
		return err
	}

	return fault.Errorf(e.Code, "%s: %s", file, e.Message).WithParam(e.Param).WithCause(err)
}

// merger joins parsed parts.
type merger struct {
	index map[string]int // of the parts, by path
	stems map[string]int // the same, by path without extension
	parts []mergedPart
	taken map[string]bool // anchors in use
}

// part is a source that has been parsed.
type part struct {
	Source
	document markdown.Document
	// again is true if it must be parsed again because the other parts affect it.
	again bool
}

// mergedPart is a part whose anchors have their final names.
type mergedPart struct {
	markdown.Document
	path string
	// name is that of its file in messages.
	name string
	// place is Options.Place of its source.
	place func(line int) string
	// inBook is true if the part is a chapter or a heading of a book.
	inBook bool
	// start is the anchor for links to the part as a whole.
	start string
	// ids maps the anchors in the part's source to their final names.
	ids map[string]string
}

// parseEach parses the sources one after another. Each continues the numbers of those before it.
func (m *merger) parseEach(ctx context.Context, parse Parser, sources []Source) ([]part, error) {
	labelled := slices.ContainsFunc(sources, func(s Source) bool { return markdown.HasLabels(s.Content) })
	var sections markdown.Sections
	var counts map[markdown.Kind]int
	var parts []part

	for i, s := range sources {
		if i > 0 {
			s.Options.Lang = parts[0].document.Lang
		}

		if s.Appendix {
			sections = sections.InAppendix()
		}
		before := sections
		s.Options.Sections, s.Options.Counts, s.Options.Library = &before, counts, sources[0].Options.Asset

		if labelled {
			s.Options.Labels = map[string]markdown.Label{}
		}
		s.Options.Links = func(destination string, line int) (string, bool) {
			return m.resolve(s.Path, destination, line)
		}

		document, err := parse(ctx, s.Content, s.Options)
		if err != nil {
			return nil, NameFile(s.name(), err)
		}

		sections, counts = document.Sections, document.Counts
		parts = append(parts, part{Source: s, document: document})
	}

	return parts, nil
}

// add appends a part and gives its anchors names that no other part has.
func (m *merger) add(s Source, document markdown.Document) {
	p := mergedPart{
		Document: document,
		path:     s.Path,
		name:     s.name(),
		place:    s.Options.Place,
		inBook:   s.Options.Folder != "",
		ids:      map[string]string{},
	}
	block.EachTag(document.HTML, func(t *html.Token) bool {
		for _, a := range t.Attr {
			if a.Key == "id" && p.ids[a.Val] == "" {
				p.ids[a.Val] = m.uniqueID(a.Val)
			}
		}

		return false
	})

	if len(document.Headings) > 0 {
		p.start = p.ids[document.Headings[0].ID]
	} else {
		p.start = m.uniqueID("part-" + strconv.Itoa(len(m.parts)+1))
		p.HTML = `<a id="` + html.EscapeString(p.start) + "\"></a>\n" + p.HTML
		p.ids[p.start] = p.start
	}
	m.parts = append(m.parts, p)
}

// uniqueID returns id, or id with a number if an earlier document has it.
func (m *merger) uniqueID(id string) string {
	name := id
	for n := len(m.parts) + 1; m.taken[name]; n++ {
		name = id + "-" + strconv.Itoa(n)
	}
	m.taken[name] = true

	return name
}
