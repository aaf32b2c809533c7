package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"presswork/internal/fault"
)

// listed is the number of words of a document that a report shows.
const listed = 12

// table prints a report as Markdown.
func (r Report) table(w io.Writer) {
	fmt.Fprintf(w, "%d documents, %d KB, %d words\n\n", r.Documents, r.Bytes/1000, r.Words)
	r.grouped(w, "theme", func(p Print) string { return p.Theme })
	r.grouped(w, "folder", func(p Print) string { return p.Folder })
	warnings := map[fault.WarningCode]int{}

	for _, p := range r.Prints {
		for code, n := range p.Warnings {
			warnings[code] += n
		}
	}
	fmt.Fprint(w, "Warnings:")

	for _, code := range slices.Sorted(maps.Keys(warnings)) {
		fmt.Fprintf(w, " %s %d", code, warnings[code])
	}
	fmt.Fprintln(w)

	lost := 0
	for words := range maps.Values(r.Lost) {
		lost += len(words)
	}
	fmt.Fprintf(w, "\nWords that cmark-gfm shows and the page does not: %d (%s of all), in %d documents\n\n",
		lost, share(lost, r.Words), len(r.Lost))

	for _, path := range slices.Sorted(maps.Keys(r.Lost)) {
		fmt.Fprintf(w, "- %s: %d: %s\n", path, len(r.Lost[path]), sample(r.Lost[path]))
	}
	section(w, "Failures", r.Failures)

	notes := map[string]string{}
	for path, found := range r.Notes {
		notes[path] = fmt.Sprintf("%d: %s", len(found), sample(found))
	}
	section(w, "Notes: Markdown syntax that a page shows as text", notes)
	fmt.Fprintf(w, "\nRemarkable\n\n")

	for _, p := range r.Prints {
		p.remarks(w)
	}
}

// grouped prints a row for each group of prints, and a row for all.
func (r Report) grouped(w io.Writer, title string, group func(Print) string) {
	groups := map[string][]Print{}
	for _, p := range r.Prints {
		groups[group(p)] = append(groups[group(p)], p)
	}
	fmt.Fprintf(
		w,
		"| %s | prints | failures | pages | slivers | > 15 %% empty | > 33 %% empty | words lost in print | words "+
			"outside the margins | ms a document, median / p95 | ms a page |\n",
		title,
	)
	fmt.Fprintln(w, "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")

	for _, name := range slices.Sorted(maps.Keys(groups)) {
		row(w, name, groups[name])
	}

	if len(groups) > 1 {
		row(w, "all", r.Prints)
	}
	fmt.Fprintln(w)
}

// row prints the row of a group of prints.
func row(w io.Writer, name string, prints []Print) {
	var pages Pages
	var documents, each []float64 // ms
	failures, lost, out := 0, 0, 0

	for _, p := range prints {
		if p.Failure != "" {
			failures++
			continue
		}
		pages.add(p.Pages)
		lost += len(p.Lost)
		out += len(p.Outside)
		documents, each = append(documents, p.MS), append(each, p.MS/float64(p.Pages.All))
	}
	slices.Sort(documents)
	slices.Sort(each)
	followed := pages.All - len(documents) // by another page
	fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %s | %s | %d | %d | %.0f / %.0f | %.0f |\n", name, len(prints),
		failures, pages.All, pages.Slivers, share(pages.Gap15, followed), share(pages.Gap33, followed), lost, out,
		quantile(documents, .5), quantile(documents, .95), quantile(each, .5))
}

// remarks prints the documents that a reader should look at.
func (p Print) remarks(w io.Writer) {
	about := func(format string, args ...any) {
		fmt.Fprintf(w, "- %s, %s (%s): %s\n", p.Path, p.Theme, p.PDF, fmt.Sprintf(format, args...))
	}
	if p.Failure != "" {
		about("%s", p.Failure)
	}

	if len(p.Lost) > 0 {
		about("the print lacks %d words: %s", len(p.Lost), sample(p.Lost))
	}

	if len(p.Outside) > 0 {
		about("%d words are outside the margins: %s", len(p.Outside), sample(p.Outside))
	}

	if p.Pages.Slivers > 0 || p.Pages.Gap33 > 0 {
		about("%d pages, %d slivers, %d more than a third empty; page %d is %.0f %% empty", p.Pages.All,
			p.Pages.Slivers, p.Pages.Gap33, p.Worst, 100*p.Empty)
	}
}

// section prints a list of documents with a line for each.
func section(w io.Writer, title string, lines map[string]string) {
	fmt.Fprintf(w, "\n%s: %d\n\n", title, len(lines))

	for _, path := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintf(w, "- %s: %s\n", path, lines[path])
	}
}

// share returns part of whole in percent.
func share(part, whole int) string {
	return fmt.Sprintf("%.2f %%", 100*float64(part)/float64(max(whole, 1)))
}

// sample returns the first words of a list.
func sample(words []string) string {
	if len(words) > listed {
		return strings.Join(words[:listed], " · ") + " …"
	}

	return strings.Join(words, " · ")
}

// shortened returns the first 50 characters of text.
func shortened(text string) string {
	const maxLength = 50
	runes := []rune(strings.TrimSpace(text))

	return string(runes[:min(len(runes), maxLength)])
}
