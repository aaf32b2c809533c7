package markdown

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/cite"
	"presswork/internal/markdown/ext/direction"
	"presswork/internal/markdown/ext/reference"
	"presswork/internal/markdown/label"
	"presswork/internal/markdown/numbering"
	"presswork/internal/markdown/source"
	"presswork/internal/markdown/tree"
)

// place finds the citations and adds the block for the bibliography: in ::: {#refs} if the source has it, else at
// the end. write fills the block.
func (b *bibliography) place(root ast.Node, src []byte) {
	if b == nil {
		return
	}
	var refs ast.Node
	tree.Each(root, func(n ast.Node) {
		switch n := n.(type) {
		case *reference.Reference:
			if b.cites(n) && !reference.InLink(n) {
				b.cited = append(b.cited, n)
			}
		case *tree.Division:
			if tree.AttributeText(n, "id") == "refs" {
				refs = n
			}
		}
	})

	b.hasPlace = refs != nil
	if !b.isPrinted() {
		return
	}
	b.makeNotes(root, src)

	b.list = &tree.RawBlock{}
	if refs != nil {
		refs.AppendChild(refs, b.list)
		return
	}
	b.placeAtEnd(root)
}

// placeAtEnd adds the bibliography before the footnotes, under a heading of its own unless the document
// ends with a heading.
func (b *bibliography) placeAtEnd(root ast.Node) {
	last := root.LastChild()
	if last != nil && last.Kind() == east.KindFootnoteList {
		last = last.PreviousSibling()
	}

	if last == nil {
		root.InsertBefore(root, root.FirstChild(), b.list)
		return
	}
	root.InsertAfter(root, last, b.list)

	if last.Kind() == ast.KindHeading {
		return
	}

	h := ast.NewHeading(1)
	if headings := headingsOf(root); len(headings) > 0 {
		h.Level = numbering.Top(headings, b.options.Sections)
	}
	title := ast.NewString([]byte(label.WordsOf(b.options.Lang).References))
	title.SetRaw(true)
	h.AppendChild(h, title)
	tree.AddClass(h, tree.Unnumbered)
	root.InsertBefore(root, b.list, h)
}

// isPrinted reports whether this document prints the bibliography. Of the documents of a book, only the one without
// EntriesAt does, for the citations of all.
func (b *bibliography) isPrinted() bool {
	return b.options.EntriesAt == "" && (b.options.NoCite != "" ||
		len(b.cited)+len(b.options.CitedBefore)+len(b.options.CitedAfter) > 0)
}

// emphasis matches emphasised text in a prefix or suffix, which the citation processor reads as HTML.
var emphasis = lazyregexp.New(`\*([^*]+)\*|\b_([^_]+)_\b`)

// write sets the texts of the citations and the HTML of the bibliography. Errors: ContentTooComplex, the cause of ctx.
func (b *bibliography) write(ctx context.Context, src []byte) error {
	if b == nil {
		return nil
	}

	for _, r := range b.cited {
		b.written = append(b.written, b.citationOf(r))
	}

	job := cite.Job{
		Items:     b.items,
		Lang:      b.options.Lang,
		Anchor:    func(key string) string { return url.PathEscape(b.options.EntriesAt + entryID(key)) },
		Citations: slices.Concat(b.options.CitedBefore, b.written, b.options.CitedAfter),
	}
	if len(job.Citations) == 0 && b.options.NoCite == "" {
		return nil
	}
	job.Uncited = b.uncited()

	result, err := b.style.Process(ctx, b.library, job)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		costly, _ := errors.AsType[cite.CostError](err) // Process returns no other error
		return source.TooComplex("the citations take too long: %s", costly.Reason)
	}

	for i, r := range b.cited {
		r.Citation = result.Citations[len(b.options.CitedBefore)+i]
		// In a note style a citation ends with a full stop. In a footnote of the source another may follow.
		if next, ok := r.NextSibling().(*ast.Text); ok && b.style.Note &&
			bytes.HasPrefix(next.Segment.Value(src), []byte(".")) {
			r.Citation = strings.TrimSuffix(r.Citation, ".")
		}
	}

	if len(result.Entries) > 0 && b.isPrinted() {
		b.list.HTML = entriesHTML(result, direction.Of(b.options.Lang) == "rtl")
	}

	return nil
}

// citationOf returns a reference as input of the citation processor, and warns of keys without a work.
func (b *bibliography) citationOf(r *reference.Reference) cite.Citation {
	c := cite.Citation{InText: r.IsInText() && !b.style.Note, NamesOnly: r.NamesOnly}
	for _, item := range r.Items {
		one := cite.Cite{
			Key:            item.Key,
			Prefix:         emphasis().ReplaceAllString(item.Prefix, "<i>$1$2</i>"),
			SuppressAuthor: item.Bare,
		}
		one.Label, one.Locator, one.Suffix = b.library.Locator(item.Suffix, b.options.Lang)
		one.Suffix = emphasis().ReplaceAllString(one.Suffix, "<i>$1$2</i>")
		c.Cites = append(c.Cites, one)

		if b.items[item.Key] == nil && !r.NamesOnly {
			b.warnings.at(r.Offset, fault.CitationMissing, fmt.Sprintf(
				"citation of %q, but no bibliography has that key%s", input.Short(item.Key), b.suggest(item.Key)))
		}
	}

	return c
}
