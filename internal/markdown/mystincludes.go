package markdown

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/ext/codeblock"
	"presswork/internal/markdown/source"
)

// mystInclude is the info string of a directive of MyST that includes a file.
var mystInclude = lazyregexp.New(`^\{(include|literalinclude)\}[ \t]+(\S.{0,500})$`)

// mystFile writes the file that a directive names, as code or as text, and reports whether
// it could.
func (in *includer) mystFile(literal bool, name, before string, body []byte, prefix string) bool {
	n := mystDirective{before: before}
	for line := range bytes.Lines(body) {
		n.body = append(n.body, sourceLine{text: strings.TrimSuffix(string(line), "\n")})
	}
	n.readOptions()
	_, code := n.options["code"]
	_, asLiteral := n.options["literal"]
	literal = literal || asLiteral || code

	return in.file(name, func(text []byte) ([]byte, error) {
		text = n.cut(text)
		if !literal {
			return text, nil
		}

		fence := source.CodeFence
		for bytes.Contains(text, []byte(fence)) {
			fence += fence
		}
		var out bytes.Buffer
		out.WriteString(fence + "{code-block} " + n.language(name) + "\n---\n")

		for _, option := range slices.Sorted(maps.Keys(n.options)) {
			out.WriteString(option + ": " + n.options[option] + "\n")
		}
		out.WriteString("---\n" + strings.TrimSuffix(string(text), "\n") + "\n" + fence + "\n")

		return out.Bytes(), nil
	}, prefix+n.before, literal, true)
}

// language is that of the code in a file.
func (n *mystDirective) language(file string) string {
	if own := n.option("language", "code", "lang"); own != "" {
		return own
	}

	return strings.TrimPrefix(path.Ext(file), ".")
}

// cut is the part of a file that the options name.
func (n *mystDirective) cut(text []byte) []byte {
	lines := bytes.SplitAfter(text, []byte("\n"))

	from, to := min(atoi(n.option("start-line")), len(lines)), len(lines)
	if end, err := strconv.Atoi(n.option("end-line")); err == nil {
		if end < 0 {
			end += len(lines)
		}
		to = max(from, min(end, to))
	}

	if list := strings.ReplaceAll(n.option("lines"), " ", ""); list != "" {
		var ranges codeblock.Info
		ranges.Mark(strings.ReplaceAll(list+",", "-,", "-"+strconv.Itoa(len(lines))+",")) // 3- is to the end
		slices.SortFunc(ranges.Marked, func(a, b codeblock.LineRange) int { return a.From - b.From })
		var some [][]byte

		next := 1
		for _, r := range ranges.Marked {
			for i := max(next, r.From); i <= min(r.To, len(lines)); i++ {
				some = append(some, lines[i-1])
			}
			next = max(next, r.To+1)
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
