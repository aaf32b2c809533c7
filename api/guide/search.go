package guide

import (
	"cmp"
	"context"
	"html"
	"slices"
	"strings"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/block"
)

// maxResults bounds the results of a search.
const maxResults = 30

// entry is a part of a page that a search can find: an operation, or the text below a heading.
type entry struct {
	Path, Page, Title string
	text              string
}

// result is an entry with the place where the words are.
type result struct {
	entry
	// Excerpt is plain text around the first word.
	Excerpt string
	score   int
}

// Search returns the page with the parts of the guide that have all words of query. Upper and lower case are the
// same. Errors: a page cannot be rendered.
func (g *Guide) Search(query string) (Page, error) {
	entries, err := g.entries()
	if err != nil {
		return Page{}, err
	}
	words := strings.Fields(strings.ToLower(query))
	var results []result

	for _, e := range entries {
		if r, ok := e.match(words); ok {
			results = append(results, r)
		}
	}
	slices.SortStableFunc(results, func(a, b result) int { return cmp.Compare(b.score, a.score) })

	return g.page("search", Home+"/search", "Search", map[string]any{
		"Query": query, "Results": results[:min(len(results), maxResults)],
	})
}

// match reports whether an entry has all words, and how well: a word in the title counts as ten in the text.
func (e entry) match(words []string) (result, bool) {
	r := result{entry: e}
	title, text := strings.ToLower(e.Title), strings.ToLower(e.text)

	for _, word := range words {
		switch {
		case strings.Contains(title, word):
			r.score += 10
		case strings.Contains(text, word):
			r.score++
		default:
			return r, false
		}
	}

	if len(words) == 0 {
		return r, false
	}
	// The lower-case text may have other lengths in bytes; excerpt allows a position outside the text.
	r.Excerpt = excerpt(e.text, strings.Index(text, words[0]))

	return r, true
}

// excerpt returns about 160 bytes of a text around a position, cut between words.
func excerpt(text string, at int) string {
	const before, after = 50, 110

	if at < 0 || at > len(text) {
		at = 0
	}
	start, end := max(0, at-before), min(len(text), at+after)

	if i := strings.IndexByte(text[start:at], ' '); start > 0 && i >= 0 {
		start += i + 1
	}

	if i := strings.LastIndexByte(text[at:end], ' '); end < len(text) && i >= 0 {
		end = at + i
	}

	return strings.ToValidUTF8(text[start:end], "")
}

// htmlTag matches HTML tags, which are removed before a search.
var htmlTag = lazyregexp.New(`<[^>]*>`)

// readEntries returns the entries of all pages.
func (g *Guide) readEntries() ([]entry, error) {
	var all []entry

	for _, p := range g.tags {
		for _, o := range p.Operations {
			title := o.Method + " " + o.Path + ": " + o.Summary
			all = append(all, entry{p.Path + "#" + o.ID, p.Title, title, o.Description + " " + fieldNames(o)})
		}
	}

	for _, s := range g.chapters {
		d, err := g.render(context.Background(), s)
		if err != nil {
			return nil, err
		}
		all = append(all, headed(s, d.Blocks)...)
	}

	return all, nil
}

// headed returns an entry for each heading of a page, with the text below it.
func headed(s section, blocks []block.Block) []entry {
	current := entry{Path: s.path, Page: s.title, Title: s.title}
	var all []entry

	for _, b := range blocks {
		text := html.UnescapeString(htmlTag().ReplaceAllString(b.HTML, " "))
		if b.Kind == block.Heading && b.Level > 1 && languageOf(b) == "" {
			all = append(all, current)
			current = entry{Path: s.path + "#" + b.ID, Page: s.title, Title: strings.Join(strings.Fields(text), " ")}

			continue
		}
		current.text += " " + strings.Join(strings.Fields(text), " ")
	}

	return append(all, current)
}

// fieldNames returns the names of the parameters and fields of an operation.
func fieldNames(o operation) string {
	var names []string
	for _, p := range o.Parameters {
		names = append(names, p.Name)
	}

	for _, b := range o.Body {
		for _, f := range b.Fields {
			names = append(names, f.Name)
		}
	}

	return strings.Join(names, " ")
}
