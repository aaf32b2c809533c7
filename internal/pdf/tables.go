package pdf

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// turnedStart begins what has a page turned to the other side.
const turnedStart = `<div class="turned">`

// fitTables sets each table of a body in the largest type in which it fits the
// page: turned to the other side when even the smallest is too wide. What is
// too wide for that too is broken within words. doubtful reports that some table
// may be wider all the same, because letters differ in width.
func fitTables(body string, s sheet) (fitted string, doubtful bool) {
	if !strings.Contains(body, "<table") {
		return body, false
	}
	upright := s.width - s.left - s.right
	turned := 0.0
	if s.height > s.width {
		turned = s.height - s.left - s.right
	}
	var out strings.Builder
	out.Grow(len(body) + 1024)
	for alone := true; ; { // nothing but what is before shares a page with it
		start := strings.Index(body, "<table")
		if start < 0 {
			break
		}
		end := elementEnd(body, start, "table")
		before, table := body[:start], body[start:end]
		body = body[end:]
		widths := measure(table)
		class, turn := fit(widths, upright/s.scale, turned/s.scale)
		doubtful = doubtful || !widths.surelyFits(upright/s.scale)
		if widths.letters > tallText && strings.Count(table, "<tr") <= 8 {
			class += " tall"
		}
		table = withSizeClass(table, class)
		if !turn {
			out.WriteString(before + table)
			alone = false
			continue
		}
		lead := leadIn(before)
		if alone && isFewWords(before) {
			lead = 0
		}
		alone = true
		out.WriteString(before[:lead] + turnedStart + "\n" + before[lead:] + table + "\n</div>")
	}
	return out.String() + body, doubtful
}

// isFewWords reports whether some blocks are too little for a page of their own: a title,
// a sentence or two.
func isFewWords(blocks string) bool {
	const most = 300 // letters
	if len(blocks) > 10*most || letters(visible("<"+blocks)) > most || strings.Count(blocks, "<div") != strings.Count(blocks, "</div") {
		return false
	}
	for _, holds := range []string{"<ul", "<ol", "<dl", "<li", "<block", "<details", "<nav", "<pre", "<img", "<svg", "<figure", "<section", `class="page-break"`, `class="columns`} {
		if strings.Contains(blocks, holds) {
			return false
		}
	}
	return true
}

// leadIn is where that begins which turns with a table because it speaks of it:
// headings, or a line that ends in a colon and the headings above it, at the end
// of what is before; its length if there is none.
func leadIn(before string) int {
	const most = 3
	at := len(before)
	for n := range most {
		start, heading := lastBlock(before[:at])
		if start < 0 || n > 0 && !heading {
			break
		}
		at = start
	}
	return at
}

// lastBlock is where the block begins that body ends with, if that is a heading,
// or a line that ends in a colon; else -1.
func lastBlock(body string) (start int, heading bool) {
	const longest = 400
	body = strings.TrimRight(body, "\n")
	from := max(0, len(body)-longest)
	text, closed := strings.CutSuffix(body[from:], ">")
	open := strings.LastIndex(text, "</") // of the last element's end tag
	if !closed || open < 0 {
		return -1, false
	}
	tag := text[open+2:]
	heading = len(tag) == 2 && tag[0] == 'h'
	if colon := tag == "p" && strings.HasSuffix(text[:open], ":"); !heading && !colon {
		return -1, false
	}
	start = max(strings.LastIndex(text, "<"+tag+">"), strings.LastIndex(text, "<"+tag+" "))
	if start < 0 {
		return -1, false
	}
	return from + start, heading
}

// withSizeClass gives a table the class of its size instead of the one it has.
func withSizeClass(table, class string) string {
	z := html.NewTokenizer(strings.NewReader(table))
	z.Next()
	tag := z.Token()
	classes := strings.Fields(class)
	var attrs []html.Attribute
	for _, a := range tag.Attr {
		if a.Key != "class" {
			attrs = append(attrs, a)
			continue
		}
		for c := range strings.FieldsSeq(a.Val) {
			if c != "wide" && c != "wider" {
				classes = append(classes, c)
			}
		}
	}
	if len(classes) > 0 {
		attrs = append(attrs, html.Attribute{Key: "class", Val: strings.Join(classes, " ")})
	}
	rest := table[len(z.Raw()):]
	tag.Attr = attrs
	return tag.String() + rest
}

var emptyCell = regexp.MustCompile(`(<t[dh](?: [^<>]*)?>)\s*(</t[dh]>)`)

// fillCells puts a space that does not break into the empty cells of tables:
// Chromium leaves empty ones out of the tags, and the columns go astray.
func fillCells(body string) string { return emptyCell.ReplaceAllString(body, "$1\u00a0$2") }
