package markdown

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"

	"presswork/internal/markdown/tree"
)

// maxMarkedLines bounds the ranges of highlighted lines of one block.
const maxMarkedLines = 200

// codeInfo is the info string of a code block, read.
type codeInfo struct {
	language string
	title    string
	// marked are the ranges of highlighted lines.
	marked []lineRange
	// numbered is nil when the info string does not set it; first is the number
	// of the first line.
	numbered *bool
	first    int
	// diff reports whether the first column of each line marks it as added, removed
	// or kept.
	diff       bool
	attributes tree.Attributes
}

// lineRange is a range of lines, both ends in it, counted from 1.
type lineRange struct{ from, to int }

// readCodeInfo understands the forms of GitHub, Docusaurus, MkDocs, Hugo,
// Pandoc and Quarto:
//
//	go {3,5-7} title="main.go"    go:main.go    go linenos start=10
//	py hl_lines="3 5-7" linenums="1"    {.go .numberLines startFrom=10}    {r}
func readCodeInfo(info string) codeInfo {
	c := codeInfo{first: 1}

	info = strings.TrimSpace(info)
	if len(info) > tree.MaxBraces {
		info = info[:strings.LastIndexByte(info[:tree.MaxBraces], ' ')+1]
	}

	if m := cellInfo().FindStringSubmatch(info); m != nil {
		c.language, info = m[1], "{"+info[len(m[0])-len(m[2]):]
	} else if !strings.HasPrefix(info, "{") {
		end := strings.IndexAny(info, " \t{,")
		if end < 0 {
			end = len(info)
		}

		c.language, info = info[:end], info[end:]
		if name, title, ok := strings.Cut(c.language, ":"); ok && title != "" {
			c.language, c.title = name, title
		}
	}

	const between = " \t,"
	for rest := bytes.TrimLeft([]byte(info+"\n"), between); len(rest) > 1; rest = bytes.TrimLeft(rest, between) {
		if a, size := tree.ReadAttributes(rest); size > 0 {
			c.add(a)
			rest = rest[size:]
			continue
		}
		var a tree.Attributes

		size, ok := a.ReadItem(rest)
		if !ok || size == 0 {
			size = max(1, bytes.IndexAny(rest, " \t{"))
		}
		c.add(a)
		rest = rest[min(size, len(rest)-1):]
	}

	if name, ok := strings.CutPrefix(strings.ToLower(c.language), "diff-"); ok {
		c.language, c.diff = name, true
	}

	c.language = strings.ToLower(strings.Trim(c.language, ".} "))
	if strings.HasPrefix(c.language, "ipython") {
		c.language = "python"
	}
	c.diff = c.diff || c.language == "diff"

	return c
}

// add takes in attributes of the info string.
func (c *codeInfo) add(a tree.Attributes) {
	for i, class := range a.Classes {
		switch {
		case class == "numberLines" || class == "line-numbers" || class == "number-lines":
			c.numbered = new(true)
		case i == 0 && c.language == "":
			c.language = class
		default:
			c.attributes.Classes = append(c.attributes.Classes, class)
		}
	}

	if a.ID != "" {
		c.attributes.ID = a.ID
	}

	for _, word := range a.Words {
		switch strings.ToLower(word) {
		case "linenos", "linenums", "numberlines", "shownumbers", "showlinenumbers":
			c.numbered = new(true)
		case "nolinenos", "nolinenumbers":
			c.numbered = new(false)
		case "diff":
			c.diff = true
		default:
			c.mark(word)
		}
	}

	for _, p := range a.Pairs {
		switch p.Key {
		case "title", "filename", "file", "name", "caption", "lst-cap", "fig-cap":
			c.title = p.Value
		case "hl_lines", "highlight", "hl", "emphasize-lines":
			c.mark(p.Value)
		case "linenos", "linenums", "shownumbers", "showlinenumbers", "numberlines", "number-lines":
			c.numbered = new(p.Value != "false" && p.Value != "0")
			if n, err := strconv.Atoi(p.Value); err == nil && n > 0 {
				c.start(p.Value)
			}
		case "start", "startfrom", "linenostart", "startline", "firstnumber", "start-line":
			c.start(p.Value)
		default:
			c.attributes.Pairs = append(c.attributes.Pairs, p)
		}
	}
}

// start sets the number of the first line; who names it wants numbers.
func (c *codeInfo) start(value string) {
	if n, err := strconv.Atoi(value); err == nil && n >= 0 && n < 1_000_000 {
		c.first = n
		if c.numbered == nil {
			c.numbered = new(true)
		}
	}
}

// mark adds ranges such as 3,5-7; what is none is ignored.
func (c *codeInfo) mark(list string) {
	for field := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ' ' || r == ',' || r == '"' || r == '\'' }) {
		from, to, isRange := strings.Cut(field, "-")
		first, err := strconv.Atoi(from)

		last := first
		if isRange && err == nil {
			last, err = strconv.Atoi(to)
		}

		if err == nil && first > 0 && last >= first && len(c.marked) < maxMarkedLines {
			c.marked = append(c.marked, lineRange{first, last})
		}
	}
}

func (c codeInfo) isMarked(line int) bool {
	return slices.ContainsFunc(c.marked, func(r lineRange) bool { return line >= r.from && line <= r.to })
}

// infoOf reads the info string of a code block.
func infoOf(code *ast.FencedCodeBlock, src []byte) codeInfo {
	c := codeInfo{first: 1}
	if code.Info != nil {
		c = readCodeInfo(tree.Unescape(code.Info.Segment.Value(src)))
	}
	c.title = cmp.Or(c.title, tree.AttributeText(code, tree.TitleAttribute))

	return c
}

// languageOf is the language of a code block, in lower case.
func languageOf(code *ast.FencedCodeBlock, src []byte) string { return infoOf(code, src).language }
