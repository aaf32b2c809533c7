package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// listed is how many of a document's words or forms are shown.
const listed = 12

// table prints a report as Markdown.
func (r Report) table(w io.Writer) {
	fmt.Fprintf(w, "%d documents, %d KB, %d words\n\n", r.Documents, r.Bytes/1000, r.Words)
	fmt.Fprintln(w, "| theme | printed | failures | pages | slivers | > 15 % empty | > 33 % empty | words lost in print | ms a document, median / p95 | ms a page |")
	fmt.Fprintln(w, "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
	for _, t := range r.Themes {
		fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %s | %s | %d | %.0f / %.0f | %.0f |\n", t.Theme, t.Printed, t.Failures, t.Pages.All, t.Pages.Slivers,
			share(t.Pages.Gap15, t.Pages.All-t.Printed), share(t.Pages.Gap33, t.Pages.All-t.Printed), t.Lost, t.MedianMS, t.P95MS, t.PageMS)
	}
	for _, t := range r.Themes {
		fmt.Fprintf(w, "\nWarnings in %s:", t.Theme)
		for _, code := range slices.Sorted(maps.Keys(t.Warnings)) {
			fmt.Fprintf(w, " %s %d", code, t.Warnings[code])
		}
		fmt.Fprintln(w)
	}
	lost := 0
	for words := range maps.Values(r.Lost) {
		lost += len(words)
	}
	fmt.Fprintf(w, "\nWords that cmark-gfm shows and the page does not: %d (%s of all), in %d documents\n\n", lost, share(lost, r.Words), len(r.Lost))
	for _, path := range slices.Sorted(maps.Keys(r.Lost)) {
		fmt.Fprintf(w, "- %s: %d: %s\n", path, len(r.Lost[path]), sample(r.Lost[path]))
	}
	section(w, "Failures", r.Failures)
	notes := map[string]string{}
	for path, found := range r.Notes {
		notes[path] = fmt.Sprintf("%d: %s", len(found), sample(found))
	}
	section(w, "Notes: forms of Markdown that are read as text", notes)
	for _, t := range r.Themes {
		fmt.Fprintf(w, "\nRemarkable in %s\n\n", t.Theme)
		for _, line := range t.Remarkable {
			fmt.Fprintln(w, "- "+line)
		}
	}
}

func section(w io.Writer, title string, lines map[string]string) {
	fmt.Fprintf(w, "\n%s: %d\n\n", title, len(lines))
	for _, path := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintf(w, "- %s: %s\n", path, lines[path])
	}
}

func share(part, whole int) string {
	return fmt.Sprintf("%.2f %%", 100*float64(part)/float64(max(whole, 1)))
}

func sample(words []string) string {
	if len(words) > listed {
		return strings.Join(words[:listed], " · ") + " …"
	}
	return strings.Join(words, " · ")
}

func shortened(text string) string {
	const most = 50 // characters
	runes := []rune(strings.TrimSpace(text))
	return string(runes[:min(len(runes), most)])
}
