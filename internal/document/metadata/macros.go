package metadata

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"presswork/internal/lazyregexp"
)

var (
	// macroName matches the name of a macro; parameter matches a parameter in its definition, such as #1.
	macroName = lazyregexp.New(`^\\?([A-Za-z]{1,40})$`)
	parameter = lazyregexp.New(`#([1-9])`)
)

// define takes the definitions of macros in a value of the front matter. Pandoc has LaTeX, Quarto a list of maps with
// LaTeX as "text". MyST, KaTeX and MathJax have a map of macros by their names. It ignores everything else.
func (m *FrontMatter) define(v any) {
	switch v := v.(type) {
	case string:
		m.Macros += v + "\n"
	case []any:
		for _, item := range v {
			m.define(item)
		}
	case map[string]any:
		if text, ok := v["text"].(string); ok && len(v) == 1 {
			m.define(text)
			return
		}

		if inner, ok := v["macros"].(map[string]any); ok {
			v = inner
		}

		for _, name := range slices.Sorted(maps.Keys(v)) {
			if word := macroName().FindStringSubmatch(name); word != nil {
				m.Macros += definition(word[1], v[name])
			}
		}
	}
}

// definition returns the definition of a macro in LaTeX. v is its body, a map with the body as "macro", or a list of
// the body and the number of arguments. It returns "" for other values.
func definition(name string, v any) string {
	body, arguments := "", 0

	switch v := v.(type) {
	case string:
		body = v
	case map[string]any:
		body, _ = v["macro"].(string)
	case []any:
		if len(v) > 0 {
			body, _ = v[0].(string)
		}

		if len(v) > 1 {
			arguments, _ = strconv.Atoi(fmt.Sprint(v[1]))
		}
	}

	if strings.TrimSpace(body) == "" {
		return ""
	}

	for _, p := range parameter().FindAllStringSubmatch(body, -1) {
		n, _ := strconv.Atoi(p[1])
		arguments = max(arguments, n)
	}

	if arguments < 1 || arguments > 9 {
		return fmt.Sprintf("\\newcommand{\\%s}{%s}\n", name, body)
	}

	return fmt.Sprintf("\\newcommand{\\%s}[%d]{%s}\n", name, arguments, body)
}
