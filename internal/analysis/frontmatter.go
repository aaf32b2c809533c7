package analysis

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// frontMatter maps lower-case top-level keys to their values as written; the
// entries of a list stand one a line.
type frontMatter map[string]string

// maxFrontLines bounds the lines of front matter that are read, maxFrontValue
// what is kept of a value, in bytes.
const maxFrontLines, maxFrontValue = 400, 4000

// readFrontMatter reads top-level keys of YAML or TOML: what a document is shows by no
// others. It is nil where there are none.
func readFrontMatter(src string) frontMatter {
	front := frontMatter{}

	key, lines := "", 0
	for line := range strings.Lines(src) {
		if lines++; lines > maxFrontLines {
			break
		}
		key = front.take(key, line)
	}

	if len(front) == 0 {
		return nil
	}

	return front
}

func (f frontMatter) take(key, line string) string {
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

// clip keeps at most n bytes, whole characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}

	return strings.ToValidUTF8(s[:n], "")
}

// normalise makes text of the bytes of a document: UTF-8 without byte order
// mark, letters composed (NFC). Binary data becomes nothing.
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

// strangeBytes counts what text does not hold: control characters and bytes
// that are no UTF-8.
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
