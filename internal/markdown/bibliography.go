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
	// maxBibliographies bounds the files of one document.
	maxBibliographies = 20
	// maxProblems bounds the warnings about one file.
	maxProblems = 10
	// maxSuggestions bounds the keys that are compared with missing ones.
	maxSuggestions = 20_000
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

	items map[string]*bibfile.Item
	style *cite.Style
	// compared is the number of keys that were compared with missing ones.
	compared int
	// list is the block for the bibliography, nil if it is not printed.
	list *tree.RawBlock
	// hasPlace reports whether the source has a place for the bibliography.
	hasPlace bool
	// cited are the citations in order, written the same as the citation processor gets them.
	cited   []*reference.Reference
	written []cite.Citation
}

// openBibliography reads the works that the options name and the citation style. It returns nil if there are no
// works. A file that cannot be read leaves a warning. Errors: StoreUnavailable, the cause of ctx.
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
		return nil, nil // what looks like a citation stays text
	}

	return b, b.chooseStyle()
}

// warn adds a warning about a file.
func (b *bibliography) warn(format string, args ...any) {
	b.warnings.onLine(0, fault.BibliographyFailed, fmt.Sprintf(format, args...))
}

// readWorks adds the works in a file. Errors: StoreUnavailable.
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

// chooseStyle sets the citation style. Errors: StoreUnavailable.
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

// openFile returns a file that came with the document, nil if it cannot be read. If it is needed, a warning
// says so. Errors: StoreUnavailable.
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

// cites reports whether a reference is a citation: one of its keys names a work or cannot be a label.
func (b *bibliography) cites(r *reference.Reference) bool {
	return b != nil && slices.ContainsFunc(
		r.Items,
		func(i reference.Item) bool { return b.items[i.Key] != nil || label.KindOf(i.Key) == "" },
	)
}

// suggest returns a hint at a key that is similar to a missing one, "" without one.
func (b *bibliography) suggest(key string) string {
	if b.compared += len(b.items); b.compared > maxSuggestions {
		return ""
	}

	return input.DidYouMean(key, slices.Sorted(maps.Keys(b.items)))
}

// uncited returns the keys of the works that Options.NoCite lists.
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

// entryID returns the id of the entry of a work.
func entryID(key string) string {
	id := "ref-" + key
	if !tree.IsID(id) {
		id = fmt.Sprintf("ref-%x", sha256.Sum256([]byte(key)))
	}

	return id
}

// entriesHTML returns the bibliography. If mixed is set, each entry gets a direction of its own: documents from
// right to left cite many works in other scripts.
func entriesHTML(result cite.Result, mixed bool) []byte {
	var out strings.Builder

	class := "csl-entries"
	if result.Hanging {
		class += " csl-hanging"
	}
	out.WriteString(`<div class="` + class + `" role="doc-bibliography">` + "\n")

	for _, e := range result.Entries {
		out.WriteString(`<div id="` + html.EscapeString(entryID(e.Key)) + `"`)

		if mixed {
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
