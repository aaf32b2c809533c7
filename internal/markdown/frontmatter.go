package markdown

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"presswork"
	"presswork/internal/strictjson"
	"presswork/internal/suggest"
)

const (
	// maxFrontMatter bounds the front matter, maxMatterLine a line of it and
	// maxMatterNesting its brackets: the YAML parser takes quadratic time on
	// each, 9 s on 64 KB of "[".
	maxFrontMatter   = 64 << 10
	maxMatterLine    = 8 << 10
	maxMatterNesting = 16
)

// Matter is what a document says about itself before its text begins.
type Matter struct {
	// Theme is the theme the front matter asks for, "" when it does not.
	Theme   string
	Options presswork.Options
	// Lines has the 1-based line of each key that is ours.
	Lines map[string]int
	// Body is the Markdown after the front matter.
	Body []byte
	// BodyLine is the 1-based line of the source on which Body begins.
	BodyLine int
}

// FrontMatter splits off the YAML between two lines of ---, or the TOML between
// two of +++, at the very start. Its keys are theme and those of presswork.Options. Others are other programs'
// (layout, date, tags) and are ignored, unless they look like one of ours
// misspelt. Errors: FrontMatterInvalid, with the line in its message.
func FrontMatter(src []byte) (Matter, error) {
	block, size, ok := splitFrontMatter(src)
	if !ok {
		if size > maxFrontMatter {
			return Matter{}, atLine(1, "the front matter is longer than %d KB", maxFrontMatter>>10)
		}
		return Matter{Body: bytes.TrimPrefix(src, []byte("\ufeff")), BodyLine: 1}, nil
	}
	m := Matter{Body: block.rest, BodyLine: block.lines + 1}
	if err := checkMatter(block.text); err != nil {
		return Matter{}, err
	}
	read := m.readYAML
	if block.toml {
		read = m.readTOML
	}
	err := read(block.text)
	return m, err
}

// frontBlock is a document cut at its front matter.
type frontBlock struct {
	text, rest []byte
	toml       bool
	// lines counts the lines of the front matter with both fences.
	lines int
}

var (
	yamlFence    = regexp.MustCompile(`^---[ \t]*\r?\n?$`)
	yamlFenceEnd = regexp.MustCompile(`^(---|\.\.\.)[ \t]*\r?\n?$`)
	firstPair    = regexp.MustCompile(`^["']?[\p{L}_][^:\n]*:(\s|$)`)

	tomlFence     = regexp.MustCompile(`^\+\+\+[ \t]*\r?\n?$`)
	firstTOMLPair = regexp.MustCompile(`^(\[{1,2}[^\[\]]+\]{1,2}|["']?[\p{L}\p{N}_-][^=\n]*=)`)
)

// splitFrontMatter finds the front matter. A rule (---) that only looks like
// it, because no "key:" follows, is left to Markdown, and so is a +++ without a
// "key =". The size tells how long
// an oversized block is.
func splitFrontMatter(src []byte) (b frontBlock, size int, ok bool) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	fence, fenceEnd, pair := yamlFence, yamlFenceEnd, firstPair
	if b.toml = bytes.HasPrefix(src, []byte("+++")); b.toml {
		fence, fenceEnd, pair = tomlFence, tomlFence, firstTOMLPair
	} else if !bytes.HasPrefix(src, []byte("---")) {
		return frontBlock{}, 0, false
	}
	offset, lines, start, pairs := 0, 0, 0, false
	for line := range bytes.Lines(src) {
		lines++
		offset += len(line)
		switch text := bytes.TrimSpace(line); {
		case lines == 1:
			if !fence.Match(line) {
				return frontBlock{}, 0, false
			}
			start = offset
		case fenceEnd.Match(line):
			return frontBlock{text: src[start : offset-len(line)], rest: src[offset:], toml: b.toml, lines: lines}, offset, true
		case !pairs && len(text) > 0 && text[0] != '#':
			if !pair.Match(text) {
				return frontBlock{}, 0, false
			}
			pairs = true
		}
		if offset > maxFrontMatter && pairs {
			return frontBlock{}, offset, false
		}
	}
	return frontBlock{}, 0, false
}

// checkMatter refuses what the parsers should not be given.
func checkMatter(matter []byte) error {
	line, depth := 1, 0
	for text := range bytes.Lines(matter) {
		line++
		if len(text) > maxMatterLine {
			return atLine(line, "the line is longer than %d KB", maxMatterLine>>10)
		}
		if bytes.Count(text, []byte("- ")) > maxMatterNesting && bytes.HasPrefix(bytes.TrimLeft(text, " "), []byte("- - ")) {
			return atLine(line, "lists nest deeper than %d levels", maxMatterNesting)
		}
		for _, c := range text {
			switch c {
			case '[', '{':
				depth++
			case ']', '}':
				depth = max(0, depth-1)
			}
		}
		if depth > maxMatterNesting {
			return atLine(line, "brackets nest deeper than %d levels", maxMatterNesting)
		}
	}
	return nil
}

// set stores one pair of the top level. Value gives what stands behind the key,
// in terms of JSON, when told the type of its option.
func (m *Matter) set(key string, line int, value func(want reflect.Type) (any, error)) error {
	fields := optionFields()
	kind, known := fields[key]
	if !known && key != "theme" {
		names := []string{"theme"}
		t := reflect.TypeFor[presswork.Options]()
		for i := range t.NumField() {
			names = append(names, jsonName(t.Field(i)))
		}
		if suggest.Nearest(key, names) == "" {
			return nil
		}
		return atLine(line, "unknown key %q%s; allowed: %s", clip(key), suggest.Phrase(key, names), strings.Join(names, ", "))
	}
	if m.Lines == nil {
		m.Lines = map[string]int{}
	}
	m.Lines[key] = line
	if key == "theme" {
		kind = reflect.TypeFor[string]()
	}
	v, err := value(kind)
	if err != nil {
		return err
	}
	if key == "theme" {
		if s, ok := v.(string); ok {
			m.Theme = s
			return nil
		}
		return atLine(line, "theme must be a string")
	}
	object, err := json.Marshal(map[string]any{key: v})
	if err != nil {
		return atLine(line, "%s has a value that cannot be read", key).WithCause(err)
	}
	if err := strictjson.Decode(object, &m.Options, ""); err != nil {
		return atLine(line, "%s", presswork.AsError(err).Message)
	}
	return nil
}

func wantsText(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.String && t != reflect.TypeFor[presswork.PDFALevel]()
}

func optionFields() map[string]reflect.Type {
	t := reflect.TypeFor[presswork.Options]()
	fields := make(map[string]reflect.Type, t.NumField())
	for i := range t.NumField() {
		fields[jsonName(t.Field(i))] = t.Field(i).Type
	}
	return fields
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

func atLine(line int, format string, args ...any) *presswork.Error {
	return presswork.Errorf(presswork.FrontMatterInvalid, "front matter, line %d: %s", line, fmt.Sprintf(format, args...)).WithParam("content")
}
