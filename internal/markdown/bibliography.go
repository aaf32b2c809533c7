package markdown

import (
	"context"
	"crypto/sha256"
	"fmt"
	"html"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/markdown/cite"
	"presswork/internal/markdown/cite/bibfile"
	"presswork/internal/markdown/ext/reference"
	"presswork/internal/markdown/label"
	"presswork/internal/markdown/tree"
)

const (
	// defaultStyle is the citation style of Pandoc.
	defaultStyle = "chicago-author-date"
	// maxBibliographies is the largest number of bibliography files. openBibliography ignores further ones.
	maxBibliographies = 20
	// maxProblems is the largest number of problems in one file that get a warning each. One more warning counts
	// the rest.
	maxProblems = 10
	// maxCompared bounds the work of suggestions: each missing key is compared with all keys. After this number of
	// comparisons in one document, warnings suggest nothing.
	maxCompared = 20_000
)

// CitationStyles returns the names of the built-in citation styles.
func CitationStyles() []string { return cite.StyleNames() }

// IsStyleFile reports whether a citation style is a file rather than the name of a built-in style.
func IsStyleFile(name string) bool { return strings.HasSuffix(strings.ToLower(name), ".csl") }

// bibliography has the works that a document can cite, and its citations. A nil bibliography cites nothing.
type bibliography struct {
	options  *Options
	warnings *warnings
	library  *cite.Library

	// items are the works by key.
	items map[string]*bibfile.Item
	style *cite.Style
	// compared counts the comparisons of missing keys with keys of works, up to maxCompared.
	compared int
	// list is the block for the bibliography, nil if it is not printed.
	list *tree.RawBlock
	// hasPlace reports whether the source has a place for the bibliography.
	hasPlace bool
	// cited are the references that are citations, in the order of the text.
	cited []*reference.Reference
	// written has each element of cited as input of the citation processor.
	written []cite.Citation
}

// openBibliography reads the works and the citation style that the options name. It returns nil if there are no
// works. A file that cannot be read adds a warning. Errors: StoreUnavailable, the cause of ctx.
func openBibliography(ctx context.Context, l *cite.Library, o *Options, w *warnings) (*bibliography, error) {
	if len(o.Bibliography) == 0 {
		return nil, nil
	}
	b := &bibliography{options: o, warnings: w, library: l, items: map[string]*bibfile.Item{}}

	for _, name := range o.Bibliography[:min(len(o.Bibliography), maxBibliographies)] {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}

		if err := b.readWorks(name); err != nil {
			return nil, err
		}
	}

	if len(b.items) == 0 {
		return nil, nil // without works, "@key" stays text
	}

	return b, b.chooseStyle()
}

// warn adds a warning about a bibliography or style file as a whole: it has no line of the document.
func (b *bibliography) warn(format string, args ...any) {
	b.warnings.onLine(0, fault.BibliographyFailed, fmt.Sprintf(format, args...))
}

// readWorks adds the works in a file. A later file replaces works with the same key. Errors: StoreUnavailable.
func (b *bibliography) readWorks(name string) error {
	data, err := b.openFile(name, true)
	if data == nil {
		return err
	}

	works, err := bibfile.Read(data, b.options.Lang)
	if err != nil {
		b.warn("bibliography %q: %v", input.Short(name), err)
		return nil
	}

	for i, p := range works.Problems {
		if i == maxProblems {
			b.warn("bibliography %q: and %d more", input.Short(name), len(works.Problems)-i)
			break
		}
		b.warn("bibliography %q, line %d: %s", input.Short(name), p.Line, p.Text)
	}
	maps.Copy(b.items, works.Items)

	return nil
}

// chooseStyle sets the citation style: the file or built-in style of the options, else defaultStyle. Errors:
// StoreUnavailable.
func (b *bibliography) chooseStyle() error {
	name := b.options.CitationStyle
	if !IsStyleFile(name) {
		b.style = b.library.Style(name)
	} else {
		// Many documents name apa.csl without sending it: the built-in style apa takes its place.
		builtIn := b.library.Style(path.Base(strings.TrimSuffix(name, path.Ext(name))))

		data, err := b.openFile(name, builtIn == nil)
		if err != nil {
			return err
		}

		if data != nil {
			if b.style, err = cite.ParseStyle(data); err != nil {
				b.warn("citation style %q: %v", input.Short(name), err)
			}
		}

		if b.style == nil {
			b.style = builtIn
		}
	}

	if b.style == nil {
		b.style = b.library.Style(defaultStyle)
	}

	return nil
}

// openFile returns the content of a file that came with the document, nil if it cannot be read. If needed is set,
// an unreadable file adds a warning. Errors: StoreUnavailable.
func (b *bibliography) openFile(name string, needed bool) (data []byte, err error) {
	err = os.ErrNotExist

	open := b.options.Library
	if open == nil {
		open = b.options.Asset
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
		b.warn("%q cannot be read: it did not come with the document", input.Short(name))
	}

	return nil, nil
}

// cites reports whether a reference is a citation: one of its keys names a work or cannot be a label. Without a
// bibliography no reference is a citation.
func (b *bibliography) cites(r *reference.Reference) bool {
	return b != nil && slices.ContainsFunc(
		r.Items,
		func(i reference.Item) bool { return b.items[i.Key] != nil || label.KindOf(i.Key) == "" },
	)
}

// suggest returns the end of a warning about a missing key: the most similar key, or "" if none is similar.
func (b *bibliography) suggest(key string) string {
	if b.compared += len(b.items); b.compared > maxCompared {
		return ""
	}

	return input.DidYouMean(key, slices.Sorted(maps.Keys(b.items)))
}

// uncited returns the keys of the works that Options.NoCite lists, and warns of keys without a work.
func (b *bibliography) uncited() (keys []string) {
	isSeparator := func(r rune) bool { return strings.ContainsRune(" ,;\n[]", r) }
	for word := range strings.FieldsFuncSeq(b.options.NoCite, isSeparator) {
		if word == "@*" {
			return slices.Sorted(maps.Keys(b.items))
		}

		key, size := reference.ReadKey([]byte(word))
		if size == 0 {
			continue
		}

		if b.items[key] == nil {
			b.warnings.onLine(0, fault.CitationMissing,
				fmt.Sprintf("nocite names %q, but no bibliography has that key%s", input.Short(key), b.suggest(key)))
			continue
		}
		keys = append(keys, key)
	}

	return keys
}

// entryID returns the id of a work's entry in the bibliography. A key that is no valid id is replaced by its hash.
func entryID(key string) string {
	id := "ref-" + key
	if !tree.IsID(id) {
		id = fmt.Sprintf("ref-%x", sha256.Sum256([]byte(key)))
	}

	return id
}

// entriesHTML returns the bibliography as HTML. If autoDir is set, each entry gets dir="auto": documents from right
// to left cite many works in other scripts.
func entriesHTML(result cite.Result, autoDir bool) []byte {
	var out strings.Builder

	class := "csl-entries"
	if result.Hanging {
		class += " csl-hanging"
	}
	out.WriteString(`<div class="` + class + `" role="doc-bibliography">` + "\n")

	for _, e := range result.Entries {
		out.WriteString(`<div id="` + html.EscapeString(entryID(e.Key)) + `"`)

		if autoDir {
			out.WriteString(` dir="auto"`)
		}

		if e.Label == "" {
			out.WriteString(` class="csl-entry">` + e.HTML + "</div>\n")
			continue
		}
		out.WriteString(` class="csl-entry csl-labelled"><span class="csl-label">` + e.Label + `</span>`)
		out.WriteString(`<span class="csl-text">` + e.HTML + "</span></div>\n")
	}
	out.WriteString("</div>\n")

	return []byte(out.String())
}
