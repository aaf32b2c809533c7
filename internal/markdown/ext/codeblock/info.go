package codeblock

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/tree"
)

// CellInfo matches the info string of a cell, a block of code that Quarto runs: {python}. Pandoc's attributes have a
// dot before the language, {.python}, and do not match.
var CellInfo = lazyregexp.New(`^\{(r|python|julia|ojs|sql|bash|stan|dot|graphviz|mermaid|d2)([ ,}])`)

// maxMarkedRanges is the largest number of ranges of highlighted lines of one block. Further ranges are ignored.
const maxMarkedRanges = 200

// Info is the content of the info string of a code block.
type Info struct {
	// Language is the name of the language in lower case, "" for none.
	Language string
	// Title is the caption of the block as plain text, "" for none.
	Title string
	// Marked are the ranges of highlighted lines.
	Marked []LineRange
	// Attributes are the id and the classes, and other attributes that mean nothing for code.
	Attributes tree.Attributes

	// numbered reports whether lines have numbers. It is nil if the info string does not set it.
	numbered *bool
	// first is the number of the first line.
	first int
	// diff reports whether the first column of each line marks it as added, removed or kept.
	diff bool
}

// LineRange is a range of lines. The first line of a block is 1, whatever number is printed. Both ends are included.
type LineRange struct{ From, To int }

// readCodeInfo reads an info string in the syntax of GitHub, Docusaurus, MkDocs, Hugo, Pandoc and Quarto:
//
//	go {3,5-7} title="main.go"    go:main.go    go linenos start=10
//	py hl_lines="3 5-7" linenums="1"    {.go .numberLines startFrom=10}    {r}
func readCodeInfo(info string) Info {
	c := Info{first: 1}

	info = strings.TrimSpace(info)
	if len(info) > tree.MaxBraces {
		info = info[:strings.LastIndexByte(info[:tree.MaxBraces], ' ')+1]
	}

	if m := CellInfo().FindStringSubmatch(info); m != nil {
		c.Language, info = m[1], "{"+info[len(m[0])-len(m[2]):]
	} else if !strings.HasPrefix(info, "{") {
		end := strings.IndexAny(info, " \t{,")
		if end < 0 {
			end = len(info)
		}

		c.Language, info = info[:end], info[end:]
		if name, title, ok := strings.Cut(c.Language, ":"); ok && title != "" {
			c.Language, c.Title = name, title
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

	if name, ok := strings.CutPrefix(strings.ToLower(c.Language), "diff-"); ok {
		c.Language, c.diff = name, true
	}

	c.Language = strings.ToLower(strings.Trim(c.Language, ".} "))
	if strings.HasPrefix(c.Language, "ipython") {
		c.Language = "python"
	}
	c.diff = c.diff || c.Language == "diff"

	return c
}

// add sets the fields for attributes of the info string.
func (c *Info) add(a tree.Attributes) {
	for i, class := range a.Classes {
		switch {
		case class == "numberLines" || class == "line-numbers" || class == "number-lines":
			c.numbered = new(true)
		case i == 0 && c.Language == "":
			c.Language = class
		default:
			c.Attributes.Classes = append(c.Attributes.Classes, class)
		}
	}

	if a.ID != "" {
		c.Attributes.ID = a.ID
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
			c.Mark(word)
		}
	}

	for _, p := range a.Pairs {
		switch p.Key {
		case "title", "filename", "file", "name", "caption", "lst-cap", "fig-cap":
			c.Title = p.Value
		case "hl_lines", "highlight", "hl", "emphasize-lines":
			c.Mark(p.Value)
		case "linenos", "linenums", "shownumbers", "showlinenumbers", "numberlines", "number-lines":
			c.numbered = new(p.Value != "false" && p.Value != "0")
			if n, err := strconv.Atoi(p.Value); err == nil && n > 0 {
				c.start(p.Value)
			}
		case "start", "startfrom", "linenostart", "startline", "firstnumber", "start-line":
			c.start(p.Value)
		default:
			c.Attributes.Pairs = append(c.Attributes.Pairs, p)
		}
	}
}

// start sets the number of the first line. It also turns on line numbers, unless the info string turns them off. It
// ignores values that are not 0 to 999999.
func (c *Info) start(value string) {
	if n, err := strconv.Atoi(value); err == nil && n >= 0 && n < 1_000_000 {
		c.first = n
		if c.numbered == nil {
			c.numbered = new(true)
		}
	}
}

// Mark adds ranges of highlighted lines such as 3,5-7. It ignores other text.
func (c *Info) Mark(list string) {
	separates := func(r rune) bool { return r == ' ' || r == ',' || r == '"' || r == '\'' }
	for field := range strings.FieldsFuncSeq(list, separates) {
		from, to, isRange := strings.Cut(field, "-")
		first, err := strconv.Atoi(from)

		last := first
		if isRange && err == nil {
			last, err = strconv.Atoi(to)
		}

		if err == nil && first > 0 && last >= first && len(c.Marked) < maxMarkedRanges {
			c.Marked = append(c.Marked, LineRange{first, last})
		}
	}
}

// isMarked reports whether a line, from 1, is highlighted.
func (c Info) isMarked(line int) bool {
	return slices.ContainsFunc(c.Marked, func(r LineRange) bool { return line >= r.From && line <= r.To })
}

// InfoOf reads the info string of a code block.
func InfoOf(code *ast.FencedCodeBlock, src []byte) Info {
	c := Info{first: 1}
	if code.Info != nil {
		c = readCodeInfo(tree.Unescape(code.Info.Segment.Value(src)))
	}
	c.Title = cmp.Or(c.Title, tree.AttributeText(code, tree.TitleAttribute))

	return c
}

// Diagram returns the language of a diagram: mermaid, dot or d2. It returns "" for code.
func (c Info) Diagram() string {
	switch c.Language {
	case "mermaid", "dot", "d2":
		return c.Language
	case "graphviz":
		return "dot"
	}

	return ""
}

// LabelAttribute is the attribute of a code block with the start of its caption, such as "Listing 1:", as HTML. Package
// markdown sets it when it numbers listings.
const LabelAttribute = "listing-label"
