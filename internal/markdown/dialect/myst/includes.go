package myst

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/source"
)

// includeHead matches the info string of a directive that includes a file.
var includeHead = lazyregexp.New(`^\{(include|literalinclude)\}[ \t]+(\S.{0,500})$`)

// IsInclude reports whether a code block with this info string is a directive that includes a file.
func IsInclude(info []byte) bool { return includeHead().Match(info) }

// Include is a directive that includes a file, as text or as code. Package include opens the file.
type Include struct {
	// File is the name of the file as the source gives it.
	File string
	// Literal reports whether the file is printed as code.
	Literal bool

	directive directive
}

// ReadInclude reads a directive from its info string and body, the lines in its fence. before is the text before the
// fence. It returns nil if the directive does not include a file.
func ReadInclude(info, before string, body []byte) *Include {
	m := includeHead().FindStringSubmatch(info)
	if m == nil {
		return nil
	}

	n := directive{before: before}
	for line := range bytes.Lines(body) {
		n.body = append(n.body, sourceLine{text: strings.TrimSuffix(string(line), "\n")})
	}
	n.readOptions()
	_, code := n.options["code"]
	_, literal := n.options["literal"]

	return &Include{
		File:      strings.TrimSpace(m[2]),
		Literal:   m[1] == "literalinclude" || literal || code,
		directive: n,
	}
}

// Part returns the text that replaces the directive: the part of the file text that its options select. If the file is
// Literal, the part is in a code-block directive with the same options.
func (in *Include) Part(text []byte) []byte {
	n := &in.directive
	text = n.cut(text)

	if !in.Literal {
		return text
	}

	fence := source.CodeFence
	for bytes.Contains(text, []byte(fence)) {
		fence += fence
	}
	var out bytes.Buffer
	out.WriteString(fence + "{code-block} " + n.language(in.File) + "\n---\n")

	for _, option := range slices.Sorted(maps.Keys(n.options)) {
		out.WriteString(option + ": " + n.options[option] + "\n")
	}
	out.WriteString("---\n" + strings.TrimSuffix(string(text), "\n") + "\n" + fence + "\n")

	return out.Bytes()
}

// language returns the language of a literal file: that of an option, or the extension of the file's name.
func (n *directive) language(file string) string {
	if own := n.option("language", "code", "lang"); own != "" {
		return own
	}

	return strings.TrimPrefix(path.Ext(file), ".")
}

// cut returns the part of a file that the options select. First it applies start-line and end-line, or lines. Within
// the result it applies start-at, start-after, end-at and end-before. It ignores texts that the file does not have.
func (n *directive) cut(text []byte) []byte {
	lines := bytes.SplitAfter(text, []byte("\n"))

	from, to := min(atoi(n.option("start-line")), len(lines)), len(lines)
	if end, err := strconv.Atoi(n.option("end-line")); err == nil {
		if end < 0 {
			end += len(lines)
		}
		to = max(from, min(end, to))
	}

	if list := strings.ReplaceAll(n.option("lines"), " ", ""); list != "" {
		toEnd := "-" + strconv.Itoa(len(lines)) + "," // for a range such as 3-
		ranges := readRanges(strings.ReplaceAll(list+",", "-,", toEnd))
		var some [][]byte

		next := 1
		for _, r := range ranges {
			for i := max(next, r[0]); i <= min(r[1], len(lines)); i++ {
				some = append(some, lines[i-1])
			}
			next = max(next, r[1]+1)
		}
		lines, from, to = some, 0, len(some)
	}

	find := func(mark string, from int) int {
		for i := from; i < to; i++ {
			if bytes.Contains(lines[i], []byte(mark)) {
				return i
			}
		}

		return -1
	}
	if mark := n.option("start-at", "start-after"); mark != "" {
		if i := find(mark, from); i >= 0 {
			from = i
			if n.options["start-at"] == "" {
				from++
			}
		}
	}

	if mark := n.option("end-at", "end-before"); mark != "" {
		if i := find(mark, from); i >= 0 {
			to = i
			if n.options["end-at"] != "" {
				to++
			}
		}
	}

	return bytes.Join(lines[from:to], nil)
}

// readRanges reads ranges of lines such as 3,5-7 and sorts them. It ignores other text.
func readRanges(list string) (ranges [][2]int) {
	const most = 200 // ranges; further ones are ignored

	for field := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(strings.Trim(field, `"'`), "-")
		first, err := strconv.Atoi(from)

		last := first
		if isRange && err == nil {
			last, err = strconv.Atoi(to)
		}

		if err == nil && first > 0 && last >= first && len(ranges) < most {
			ranges = append(ranges, [2]int{first, last})
		}
	}
	slices.SortFunc(ranges, func(a, b [2]int) int { return a[0] - b[0] })

	return ranges
}
