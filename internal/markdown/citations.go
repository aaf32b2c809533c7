package markdown

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"html"
	"maps"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/markdown/cite"
	"presswork/internal/markdown/ext/direction"
	"presswork/internal/markdown/ext/reference"
	"presswork/internal/markdown/label"
	"presswork/internal/markdown/source"
	"presswork/internal/markdown/tree"
)

const (
	// defaultStyle is the style of citations that nobody chose: as in Pandoc.
	defaultStyle = "chicago-author-date"
	// maxBibliographies bounds the files of one document.
	maxBibliographies = 20
	// maxProblems bounds the warnings about one file.
	maxProblems = 10
)

// CitationStyles lists the citation styles of the program by name.
func CitationStyles() []string { return cite.StyleNames() }

// IsStyleFile reports whether a citation style is given as a file, not by name.
func IsStyleFile(name string) bool { return strings.HasSuffix(strings.ToLower(name), ".csl") }

// bibliography is what a document cites, and how.
type bibliography struct {
	items map[string]*cite.Item
	style *cite.Style
	// place is where the bibliography goes.
	place *tree.RawBlock
	// compared is how many keys were compared with missing ones.
	compared int
	// placed reports whether the document says where it goes.
	placed bool
	// cited are the references that cite, in order, written what they say.
	cited   []*reference.Reference
	written []cite.Citation
}

// openBibliography reads the files of works and the style. What cannot be read
// leaves a warning. Errors: that of a store that does not answer, ctx's cause.
func (d *draft) openBibliography(ctx context.Context, styles *cite.Library) (*bibliography, error) {
	if len(d.options.Bibliography) == 0 {
		return nil, nil
	}
	b := &bibliography{items: map[string]*cite.Item{}}

	for _, name := range d.options.Bibliography[:min(len(d.options.Bibliography), maxBibliographies)] {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}

		data, err := d.openFile(name, true)
		if err != nil {
			return nil, err
		}

		if data == nil {
			continue
		}

		works, err := cite.Read(data, d.options.Lang)
		if err != nil {
			d.warn(fault.BibliographyFailed, 0, fmt.Sprintf("bibliography %q: %v", input.Short(name), err))
			continue
		}

		for i, p := range works.Problems {
			if i == maxProblems {
				d.warn(
					fault.BibliographyFailed,
					0,
					fmt.Sprintf("bibliography %q: and %d more", input.Short(name), len(works.Problems)-i),
				)
				break
			}
			d.warn(
				fault.BibliographyFailed,
				0,
				fmt.Sprintf("bibliography %q, line %d: %s", input.Short(name), p.Line, p.Text),
			)
		}
		maps.Copy(b.items, works.Items)
	}

	if len(b.items) == 0 {
		return nil, nil // what looks like a citation stays as it is
	}
	name := d.options.CitationStyle

	own := path.Base(strings.TrimSuffix(name, path.Ext(name)))
	if IsStyleFile(name) {
		data, err := d.openFile(name, styles.Style(own) == nil)
		if err != nil {
			return nil, err
		}

		if data != nil {
			if b.style, err = cite.ParseStyle(data); err != nil {
				d.warn(fault.BibliographyFailed, 0, fmt.Sprintf("citation style %q: %v", input.Short(name), err))
			}
		}
	} else {
		b.style = styles.Style(name)
	}

	if b.style == nil && IsStyleFile(name) {
		b.style = styles.Style(own) // apa.csl is a file that many have
	}

	if b.style == nil {
		b.style = styles.Style(defaultStyle)
	}

	return b, nil
}

// openFile opens a file that came with the document, nil if it cannot: with a
// warning where it is needed.
func (d *draft) openFile(name string, needed bool) (data []byte, err error) {
	err = os.ErrNotExist

	open := d.options.Library
	if open == nil {
		open = d.options.Asset
	}

	if open != nil {
		data, err = open(path.Clean(name))
	}

	switch {
	case err == nil:
		return data, nil
	case fault.CodeOf(err) == fault.StoreUnavailable:
		return nil, err
	case needed:
		d.warn(
			fault.BibliographyFailed,
			0,
			fmt.Sprintf("%q cannot be read: it did not come with the document", input.Short(name)),
		)
	}

	return nil, nil
}

// cites reports whether a reference is a citation: it names a work, or nothing
// that could be a label.
func (b *bibliography) cites(r *reference.Reference) bool {
	return b != nil && slices.ContainsFunc(
		r.Items,
		func(i reference.Item) bool { return b.items[i.Key] != nil || label.KindOf(i.Key) == "" },
	)
}

// placeCitations finds the citations and makes the place of the bibliography: where
// the source has ::: {#refs}, else at the end, under a heading of its own unless
// the document ends with one.
func (d *draft) placeCitations(root ast.Node) {
	if d.works == nil {
		return
	}
	var place ast.Node
	tree.Each(root, func(n ast.Node) {
		switch n := n.(type) {
		case *reference.Reference:
			if d.works.cites(n) && !reference.InLink(n) {
				d.works.cited = append(d.works.cited, n)
			}
		case *tree.Division:
			if tree.AttributeText(n, "id") == "refs" {
				place = n
			}
		}
	})

	d.works.placed = place != nil
	if !d.lists() {
		return
	}
	d.works.makeNotes(root, d.src)

	d.works.place = &tree.RawBlock{}
	if place != nil {
		place.AppendChild(place, d.works.place)
		return
	}

	last := root.LastChild()
	if last != nil && last.Kind() == east.KindFootnoteList {
		last = last.PreviousSibling()
	}

	if last == nil {
		root.InsertBefore(root, root.FirstChild(), d.works.place)
		return
	}
	root.InsertAfter(root, last, d.works.place)

	if last.Kind() != ast.KindHeading {
		var headings []*ast.Heading
		tree.EachBlock(root, func(n ast.Node) {
			if h, ok := n.(*ast.Heading); ok {
				headings = append(headings, h)
			}
		})

		h := ast.NewHeading(1)
		if len(headings) > 0 {
			h.Level = newNumbering(headings, 0).top
		}
		title := ast.NewString([]byte(label.WordsOf(d.options.Lang).References))
		title.SetRaw(true)
		h.AppendChild(h, title)
		tree.AddClass(h, tree.Unnumbered)
		root.InsertBefore(root, d.works.place, h)
	}
}

// lists reports whether the document has a bibliography.
func (d *draft) lists() bool {
	return d.options.EntriesAt == "" &&
		(len(d.works.cited)+len(d.options.CitedBefore)+len(d.options.CitedAfter) > 0 || d.options.NoCite != "")
}

// citations are those of the document, for others that are printed with it.
func (b *bibliography) citations() []cite.Citation {
	if b == nil {
		return nil
	}

	return b.written
}

var emphasis = regexp.MustCompile(`\*([^*]+)\*|\b_([^_]+)_\b`)

// writeCitations writes the citations and the bibliography. Errors:
// ContentTooComplex, ctx's cause.
func (d *draft) writeCitations(ctx context.Context, styles *cite.Library) error {
	if d.works == nil {
		return nil
	}

	job := cite.Job{
		Items:  d.works.items,
		Lang:   d.options.Lang,
		Anchor: func(key string) string { return url.PathEscape(d.options.EntriesAt + d.works.anchor(key)) },
	}
	for _, r := range d.works.cited {
		c := cite.Citation{InText: r.IsInText() && !d.works.style.Note, NamesOnly: r.NamesOnly}
		for _, item := range r.Items {
			one := cite.Cite{
				Key:            item.Key,
				Prefix:         emphasis.ReplaceAllString(item.Prefix, "<i>$1$2</i>"),
				SuppressAuthor: item.Bare,
			}
			one.Label, one.Locator, one.Suffix = styles.Locator(item.Suffix, d.options.Lang)
			one.Suffix = emphasis.ReplaceAllString(one.Suffix, "<i>$1$2</i>")
			c.Cites = append(c.Cites, one)

			if d.works.items[item.Key] == nil && !r.NamesOnly {
				d.warn(
					fault.CitationMissing,
					d.lines.At(r.Offset),
					fmt.Sprintf(
						"citation of %q, but no bibliography has that key%s",
						input.Short(item.Key),
						d.works.meant(item.Key),
					),
				)
			}
		}
		d.works.written = append(d.works.written, c)
	}

	job.Citations = slices.Concat(d.options.CitedBefore, d.works.written, d.options.CitedAfter)
	if len(job.Citations) == 0 && d.options.NoCite == "" {
		return nil
	}
	job.Uncited = d.uncited()

	result, err := d.works.style.Process(ctx, styles, job)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		costly, _ := errors.AsType[cite.CostError](err) // it has no other errors
		return source.TooComplex("the citations take too long: %s", costly.Reason)
	}

	for i, r := range d.works.cited {
		r.Citation = result.Citations[len(d.options.CitedBefore)+i]
		if next, ok := r.NextSibling().(*ast.Text); ok && d.works.style.Note &&
			bytes.HasPrefix(next.Segment.Value(d.src), []byte(".")) {
			r.Citation = strings.TrimSuffix(r.Citation, ".") // the author's own note ends so
		}
	}

	if len(result.Entries) > 0 && d.lists() {
		d.works.place.HTML = d.works.entriesHTML(result, direction.Of(d.options.Lang) == "rtl")
	}

	return nil
}

// meant offers a key that is like one that is not there.
func (b *bibliography) meant(key string) string {
	const most = 20_000 // comparisons: more take too long
	if b.compared += len(b.items); b.compared > most {
		return ""
	}

	return input.DidYouMean(key, slices.Sorted(maps.Keys(b.items)))
}

// uncited are the works that are listed without being cited: those of nocite.
func (d *draft) uncited() (keys []string) {
	for word := range strings.FieldsFuncSeq(d.options.NoCite, func(r rune) bool { return r == ' ' || r == ',' || r == ';' || r == '\n' || r == '[' || r == ']' }) {
		if word == "@*" {
			return slices.Sorted(maps.Keys(d.works.items))
		}

		key, size := reference.ReadKey([]byte(word))
		if size == 0 {
			continue
		}

		if d.works.items[key] == nil {
			d.warn(
				fault.CitationMissing,
				0,
				fmt.Sprintf(
					"nocite names %q, but no bibliography has that key%s",
					input.Short(key),
					d.works.meant(key),
				),
			)
			continue
		}
		keys = append(keys, key)
	}

	return keys
}

// anchor is the id of a work's entry.
func (*bibliography) anchor(key string) string {
	id := "ref-" + key
	if !tree.IsID(id) {
		id = fmt.Sprintf("ref-%x", sha256.Sum256([]byte(key)))
	}

	return id
}

// entriesHTML is the bibliography. In a document from right to left each entry has
// its own direction: most are of another script.
func (b *bibliography) entriesHTML(result cite.Result, mixed bool) []byte {
	var out strings.Builder

	class := "csl-entries"
	if result.Hanging {
		class += " csl-hanging"
	}
	out.WriteString(`<div class="` + class + `" role="doc-bibliography">` + "\n")

	for _, e := range result.Entries {
		id := html.EscapeString(b.anchor(e.Key)) + `"`
		if mixed {
			id += ` dir="auto"`
		}

		if e.Label != "" {
			out.WriteString(
				`<div id="` + id + ` class="csl-entry csl-labelled"><span class="csl-label">` + e.Label + `</span><span class="csl-text">` + e.HTML + "</span></div>\n",
			)
		} else {
			out.WriteString(`<div id="` + id + ` class="csl-entry">` + e.HTML + "</div>\n")
		}
	}
	out.WriteString("</div>\n")

	return []byte(out.String())
}
