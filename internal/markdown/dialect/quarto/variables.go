package quarto

import (
	"bytes"
	"strings"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/source"
)

// The kinds of variables.
const (
	// Meta is a value of the front matter: {{< meta title >}}.
	Meta = "meta"
	// Var is a value of _variables.yml: {{< var version >}}.
	Var = "var"
	// Param is a parameter of the front matter: `r params$year`.
	Param = "params"
)

// maxInserted bounds the bytes that variables insert into one document.
const maxInserted = 1 << 20

var (
	// shortcode matches a variable. Its groups are the kind and the name.
	shortcode = lazyregexp.New(`\{\{<[ \t]+(meta|var)[ \t]+([\w.-]{1,200})[ \t]+>\}\}`)
	// inlineCode matches a parameter in inline code of R or Python.
	inlineCode = lazyregexp.New(
		"`(?:r|\\{r\\}|\\{python\\})[ \t]+params(?:\\$|\\[+[\"'])([\\w.-]{1,200})(?:[\"']\\]+)?`",
	)
)

// InsertVariables replaces variables by their values, up to maxInserted. lookup returns the value of a variable and
// whether there is one. Variables without a value stay. Line ends in a value become spaces.
func InsertVariables(s *source.Source, lookup func(kind, name string) (string, bool)) {
	inserted := 0
	insert := func(parts [][]int, kindOf func(part []int) string) {
		var found [][]int
		values := map[int]string{}

		for _, p := range parts {
			value, ok := lookup(kindOf(p), string(s.Text()[p[len(p)-2]:p[len(p)-1]]))
			value = strings.Join(strings.Fields(value), " ")

			if inserted += len(value); ok && inserted <= maxInserted {
				found, values[p[0]] = append(found, p), value
			}
		}
		s.Edit(found, func(part []int) string { return values[part[0]] })
	}

	if bytes.Contains(s.Text(), []byte("{{< ")) {
		text := s.Text()
		insert(shortcode().FindAllSubmatchIndex(s.WithoutCode(), -1),
			func(p []int) string { return string(text[p[2]:p[3]]) })
	}

	if bytes.Contains(s.Text(), []byte(" params")) {
		insert(inlineCode().FindAllSubmatchIndex(source.WithoutCodeBlocks(s.Text()), -1),
			func([]int) string { return Param })
	}
}
