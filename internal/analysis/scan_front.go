package analysis

import (
	"maps"
	"slices"
	"strings"
)

// frontMatter maps lower-case top-level keys to their values as written; the
// entries of a list stand one a line.
type frontMatter map[string]string

// maxFrontLines bounds the search for the end of front matter, maxFrontValue
// what is kept of a value, in bytes.
const maxFrontLines, maxFrontValue = 400, 4000

// cutFrontMatter takes YAML (---) or TOML (+++) off the head of a document.
// Only top-level keys are read: telling what a document is needs no more.
func cutFrontMatter(src string) (frontMatter, string) {
	src = strings.TrimLeft(src, "\n")
	mark, rest, ok := strings.Cut(src, "\n")
	mark = strings.TrimRight(mark, " \t")
	if !ok || mark != "---" && mark != "+++" {
		return nil, src
	}
	front := frontMatter{}
	key := ""
	for range maxFrontLines {
		line, after, more := strings.Cut(rest, "\n")
		rest = after
		if end := strings.TrimRight(line, " \t"); end == mark || end == "..." && mark == "---" {
			if len(front) == 0 {
				return nil, src
			}
			return front, rest
		}
		if !more {
			return nil, src
		}
		key = front.take(key, line)
		if key == noFrontMatter {
			return nil, src
		}
	}
	return nil, src
}

// noFrontMatter is what take returns on a line that shows the "---" above to be
// a rule in a text.
const noFrontMatter = "\x00"

func (f frontMatter) take(key, line string) string {
	trimmed := strings.TrimSpace(line)
	switch {
	case trimmed == "" || trimmed[0] == '#' || trimmed[0] == '[':
		return key
	case line[0] == ' ' || line[0] == '\t' || trimmed[0] == '-' || trimmed[0] == ']':
		if key == "" {
			return noFrontMatter
		}
		f[key] = clip(f[key]+"\n"+clip(strings.TrimLeft(trimmed, "- "), maxFrontValue), maxFrontValue)
		return key
	}
	at := strings.IndexAny(line, ":=")
	if at <= 0 || at > 60 || strings.ContainsAny(strings.Trim(line[:at], `"' `), " \t.!?") && len(f) == 0 {
		if len(f) == 0 {
			return noFrontMatter
		}
		return key
	}
	key = strings.ToLower(strings.Trim(line[:at], `"' `))
	f[key] = clip(strings.TrimSpace(line[at+1:]), maxFrontValue)
	return key
}

// list returns the entries of a value: "[a, b]", "a, b" or one a line.
func (f frontMatter) list(key string) (out []string) {
	value := strings.Trim(f[key], "[] \n")
	for _, part := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == '\n' }) {
		if part = strings.Trim(part, " \t\"'[]"); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// keys returns the keys in order.
func (f frontMatter) keys() []string { return slices.Sorted(maps.Keys(f)) }

// text returns a value without quotes.
func (f frontMatter) text(key string) string { return strings.Trim(strings.TrimSpace(f[key]), `"'`) }
