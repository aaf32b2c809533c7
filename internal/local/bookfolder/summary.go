package bookfolder

import (
	"bytes"
	"net/url"
	"path"
	"strings"

	"presswork/internal/lazyregexp"
)

var (
	// summaryLine is a chapter in a SUMMARY.md: an item of a list, or a link on a line of its own. Its groups are the
	// indentation, the title, and the path with a fragment.
	summaryLine = lazyregexp.New(
		`^([ \t]*)(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)?` +
			`\[((?:[^\[\]\n]|\[[^\[\]\n]*\]){0,500})\]\([ \t]*<?([^()<>\n]*)>?[ \t]*\)`,
	)
	// summaryItem is an item that is no link: a heading above the items below it.
	summaryItem = lazyregexp.New(`^([ \t]*)(?:[-*+]|[0-9]{1,9}[.)])[ \t]+([^\n\[]{1,500})$`)
	// summaryPart is a heading, which begins a part.
	summaryPart = lazyregexp.New(`^#{1,6}[ \t]+(.{1,500}?)[ \t#]*$`)
)

// summary reads a SUMMARY.md. Its paths are relative to it.
func (r *reader) summary(file string, content []byte) error {
	r.book.metadata["toc"] = contentsDepth
	folder := path.Dir(file)
	var indents []int // of the enclosing items
	started := false

	for line := range bytes.Lines(content) {
		line := strings.TrimRight(string(line), " \t\r\n")
		if m := summaryPart().FindStringSubmatch(line); m != nil {
			if started || !isSummaryTitle(m[1]) {
				r.addEntry(Entry{Title: m[1], Part: true})
			}
			started, indents = true, nil

			continue
		}

		m := summaryLine().FindStringSubmatch(line)
		item := summaryItem().FindStringSubmatch(line)

		if m == nil && item == nil {
			continue
		}

		if m == nil {
			m = append(item, "")
		}
		started = true
		indents = enclosing(indents, width(m[1]))
		e := Entry{Title: strings.TrimSpace(m[2]), Depth: len(indents) - 1}
		name, _, _ := strings.Cut(strings.TrimSpace(m[3]), "#")

		switch plain, err := url.PathUnescape(name); {
		case name == "" && m[3] == "":
			r.addEntry(e) // a draft, or a heading; dropDrafts removes those without chapters
		case name == "" || strings.Contains(name, "://") || strings.HasPrefix(name, "mailto:"):
		case err == nil:
			r.addChapter(path.Join(folder, plain), e)
		}
	}
	r.dropDrafts()

	return nil
}

// isSummaryTitle reports whether the first heading of a SUMMARY.md is its own title.
func isSummaryTitle(title string) bool {
	for _, word := range []string{"summary", "contents", "目录", "sommaire", "inhalt", "índice"} {
		if strings.Contains(strings.ToLower(title), word) {
			return true
		}
	}

	return false
}

// dropDrafts removes the headings that are above no chapter: mdBook lists chapters that are not yet written.
func (r *reader) dropDrafts() {
	var kept []Entry

	for i, e := range r.book.Entries {
		next := i + 1
		if e.File == "" && !e.Part && (next == len(r.book.Entries) || r.book.Entries[next].Depth <= e.Depth) {
			continue
		}
		kept = append(kept, e)
	}
	r.book.Entries = kept
}

// enclosing returns the indentations of an item and of the items that enclose it.
func enclosing(indents []int, indent int) []int {
	for len(indents) > 0 && indents[len(indents)-1] >= indent {
		indents = indents[:len(indents)-1]
	}

	return append(indents, indent)
}

// width returns the columns of an indentation. A tab counts as four.
func width(indent string) int {
	return len(strings.ReplaceAll(indent, "\t", "    "))
}
