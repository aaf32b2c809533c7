package analysis

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// frontMatter maps lower-case top-level keys to their values as written. The entries of a list are on separate
// lines.
type frontMatter map[string]string

// maxFrontLines limits the lines of front matter that are read, maxFrontValue the stored size of a value, in
// bytes.
const maxFrontLines, maxFrontValue = 400, 4000

// readFrontMatter reads the top-level keys of YAML or TOML. Nested keys say nothing about the document type. It
// returns nil if there are none.
func readFrontMatter(src string) frontMatter {
	front := frontMatter{}

	key, lines := "", 0
	for line := range strings.Lines(src) {
		if lines++; lines > maxFrontLines {
			break
		}
		key = front.addLine(key, line)
	}

	if len(front) == 0 {
		return nil
	}

	return front
}

// headerLines returns the lines "Key: value" at the beginning of a document, or "" if the first key is not one of
// headerKeys. Pelican and MultiMarkdown write front matter so.
func headerLines(src []byte) string {
	end := 0

	for line := range bytes.Lines(src[:min(len(src), maxFrontValue)]) {
		key, _, isPair := bytes.Cut(line, []byte(":"))
		if !isPair || bytes.ContainsAny(key, " \t#*[<|>") || end == 0 && !headerKeys[strings.ToLower(string(key))] {
			break
		}
		end += len(line)
	}

	return string(src[:end])
}

// headerKeys are the keys with which front matter without fences begins.
var headerKeys = map[string]bool{
	"title":    true,
	"date":     true,
	"author":   true,
	"slug":     true,
	"category": true,
	"tags":     true,
}

// addLine adds a line of front matter. key is the key of the lines before it. The result is the key of this line.
func (f frontMatter) addLine(key, line string) string {
	trimmed := strings.TrimSpace(line)
	switch {
	case trimmed == "" || trimmed[0] == '#' || trimmed[0] == '[':
		return key
	case line[0] == ' ' || line[0] == '\t' || trimmed[0] == '-' || trimmed[0] == ']':
		if key != "" {
			f[key] = clip(f[key]+"\n"+clip(strings.TrimLeft(trimmed, "- "), maxFrontValue), maxFrontValue)
		}

		return key
	}

	at := strings.IndexAny(line, ":=")
	if at <= 0 || at > 60 {
		return key
	}
	key = strings.ToLower(strings.Trim(line[:at], `"' `))
	f[key] = clip(strings.TrimSpace(line[at+1:]), maxFrontValue)

	return key
}

// list returns the entries of a value that is written as "[a, b]", as "a, b" or with one entry on each line.
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

// text returns a value without quotes and without the tags of site generators.
func (f frontMatter) text(key string) string {
	return strings.Trim(strings.TrimSpace(stripTags(f[key])), `"'`)
}

// clip returns at most the first n bytes of s. It does not cut a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}

	return strings.ToValidUTF8(s[:n], "")
}

// normalise returns the document as UTF-8 without byte order mark, with composed letters (NFC). It returns nil for
// binary data.
func normalise(markdown []byte) []byte {
	head := markdown[:min(len(markdown), 64<<10)]
	if strange := strangeBytes(head); strange > 0 && strange*50 > len(head) {
		return nil
	}

	s := bytes.TrimPrefix(markdown, []byte("\ufeff"))
	if !utf8.Valid(s) {
		s = bytes.ToValidUTF8(s, []byte("\ufffd"))
	}

	return norm.NFC.Bytes(s)
}

// strangeBytes counts control characters and bytes that are not UTF-8, which text does not have. A NUL byte counts
// as 8.
func strangeBytes(b []byte) (n int) {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		invalid := r == utf8.RuneError && size == 1 && len(b) >= utf8.UTFMax

		switch {
		case r == 0:
			n += 8 // one NUL in 400 bytes is enough to call it binary
		case invalid, r < ' ' && !strings.ContainsRune("\t\n\r\f\x1b", r):
			n++
		}
		b = b[size:]
	}

	return n
}
