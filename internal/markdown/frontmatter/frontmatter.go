// Package frontmatter finds and parses the front matter at the start of a document. It is YAML between two lines
// of ---, or TOML between two lines of +++. The package gives no key a meaning: callers read the Fields that they
// know. Read parses, Split only cuts. Settings reads a file that is YAML or TOML as a whole.
package frontmatter

import (
	"bytes"
	"errors"
	"fmt"

	"presswork/internal/fault"
	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/source"
)

// The YAML parser takes time that grows with the square of each of these: 9 s for 64 KB of "[".
const (
	// maxSize is the largest front matter, in bytes.
	maxSize = 64 << 10
	// maxSettings is the largest file of settings, in bytes.
	maxSettings = 512 << 10
	// maxLine is the longest line of either, in bytes.
	maxLine = 8 << 10
	// maxNesting is the number of levels that brackets and lists may nest.
	maxNesting = 16
)

// Document is a document cut into its front matter and its body.
type Document struct {
	// Fields are the keys of the top level, in the order of the source.
	Fields []Field
	// Body is the Markdown after the front matter.
	Body []byte
	// BodyLine is the 1-based line of the source on which Body begins.
	BodyLine int
}

// Field is one key of the top level.
type Field struct {
	Key string
	// Line is the 1-based line of the source on which the key stands.
	Line int

	// value converts the value. With text set, it returns scalars as strings.
	value func(text bool) (any, error)
}

// Value returns the value in the types of encoding/json: nil, a bool, a number, a string, a []any or a
// map[string]any. Numbers, dates and booleans within lists and maps are strings. It returns an error if the value
// nests deeper than 6 levels (20 in a file of settings) or is an alias of YAML.
func (f Field) Value() (any, error) { return f.value(false) }

// Text returns the value like Value, but a number, a date or a boolean as the string in the source. It returns the
// errors of Value.
func (f Field) Text() (any, error) { return f.value(true) }

// Read parses the front matter. A document without front matter has no Fields and is all Body, without its byte order
// mark. Errors: FrontMatterInvalid, with the line in its message.
func Read(src []byte) (Document, error) {
	whole := Document{Body: bytes.TrimPrefix(src, []byte("\ufeff")), BodyLine: 1}

	block, size, ok := split(src)
	if !ok {
		if size > maxSize {
			return Document{}, inMatter(atLine(1, "the front matter is longer than %d KB", maxSize>>10))
		}

		return whole, nil
	}

	fields, err := read(block.text, block.toml, maxDepth)
	if errors.Is(err, errNoMatter) {
		return whole, nil
	}

	return Document{Fields: fields, Body: block.rest, BodyLine: block.lines + 1}, inMatter(err)
}

// read parses YAML or TOML whose first line is line 2 of its document. Values of YAML may nest the given levels.
func read(text []byte, toml bool, levels int) ([]Field, error) {
	if err := checkSize(text); err != nil {
		return nil, err
	}

	if toml {
		return readTOML(text)
	}

	return readYAML(text, levels)
}

// emptyTag matches a tag of YAML without a value, which MkDocs uses for functions of Python. The parser would read the
// next line as its value.
var emptyTag = lazyregexp.New(`(?m)([:-][ \t]+)![^\s"'\[\]{}#]*[ \t]*$`)

// Settings parses a file of settings in YAML, or in TOML if toml is set. Its values may nest deeper than those of
// front matter. Errors: InvalidRequest, with the line in its message.
func Settings(text []byte, toml bool) ([]Field, error) {
	if len(text) > maxSettings {
		return nil, fault.Errorf(fault.InvalidRequest, "it is longer than %d KB", maxSettings>>10)
	}

	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if !toml {
		text = emptyTag().ReplaceAll(text, []byte("$1"))
	}

	fields, err := read(text, toml, maxSettingDepth)
	for i := range fields {
		fields[i].Line-- // read counts the first line as line 2
	}

	e, ok := errors.AsType[*lineError](err)
	switch {
	case ok:
		return nil, fault.Errorf(fault.InvalidRequest, "line %d: %s", max(e.line-1, 1), e.reason).WithCause(err)
	case err != nil:
		return nil, fault.Errorf(fault.InvalidRequest, "it is not valid YAML").WithCause(err)
	}

	return fields, nil
}

// Split returns the text between the fences and the Markdown after them, without parsing the
// text. It reports false for a document without front matter and for one whose front matter is
// larger than 64 KB.
func Split(src []byte) (matter, body []byte, ok bool) {
	b, _, ok := split(src)
	return b.text, b.rest, ok
}

// block is a document cut at its front matter.
type block struct {
	text, rest []byte // the text between the fences, and the document after them
	toml       bool   // whether the text is TOML rather than YAML
	// lines counts the lines of the front matter with both fences.
	lines int
}

// The patterns for lines of front matter: the fences, and the first line between them that is not a comment.
var (
	yamlFence    = lazyregexp.New(`^---[ \t]*\r?\n?$`)
	yamlFenceEnd = lazyregexp.New(`^(---|\.\.\.)[ \t]*\r?\n?$`)
	yamlPair     = lazyregexp.New(`^["']?[\p{L}_][^:\n]*:(\s|$)`)

	tomlFence = lazyregexp.New(`^\+\+\+[ \t]*\r?\n?$`)
	tomlPair  = lazyregexp.New(`^(\[{1,2}[^\[\]]+\]{1,2}|["']?[\p{L}\p{N}_-][^=\n]*=)`)
)

// split finds the front matter. A --- is a thematic break unless a "key:" follows, and a +++ is text unless a "key ="
// follows. Both need a closing fence. size is the length of the front matter in bytes. Front matter larger than
// maxSize is not ok, but has a size.
func split(src []byte) (b block, size int, ok bool) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))

	fence, fenceEnd, pair := yamlFence(), yamlFenceEnd(), yamlPair()
	if b.toml = bytes.HasPrefix(src, []byte("+++")); b.toml {
		fence, fenceEnd, pair = tomlFence(), tomlFence(), tomlPair()
	} else if !bytes.HasPrefix(src, []byte("---")) {
		return block{}, 0, false
	}

	offset, lines, start, pairs, comments := 0, 0, 0, false, false
	for line := range bytes.Lines(src) {
		lines++
		begins := offset
		offset += len(line)

		switch text := bytes.TrimSpace(line); {
		case lines == 1:
			if !fence.Match(line) {
				return block{}, 0, false
			}
			start = offset
		case !b.toml && source.IsDraftPart(line): // it ends the front matter and belongs to the body
			b.text, b.rest, b.lines = src[start:begins], src[begins:], lines-1
			return b, offset, offset <= maxSize
		case fenceEnd.Match(line):
			if comments && !pairs && offset <= maxSize { // "# Text" between two rules is a heading
				return block{}, 0, false
			}
			b.text, b.rest, b.lines = src[start:begins], src[offset:], lines

			return b, offset, offset <= maxSize
		case !pairs && len(text) > 0 && text[0] == '#':
			comments = true
		case !pairs && len(text) > 0:
			if !pair.Match(text) {
				return block{}, 0, false
			}
			pairs = true
		}
	}

	return block{}, 0, false
}

// checkSize rejects lines and nesting for which the parsers would take too long. The first line is line 2.
func checkSize(matter []byte) error {
	line, depth := 1, 0
	for text := range bytes.Lines(matter) {
		line++
		if len(text) > maxLine {
			return atLine(line, "the line is longer than %d KB", maxLine>>10)
		}

		if bytes.Count(text, []byte("- ")) > maxNesting &&
			bytes.HasPrefix(bytes.TrimLeft(text, " "), []byte("- - ")) {
			return atLine(line, "lists nest deeper than %d levels", maxNesting)
		}

		for _, c := range text {
			switch c {
			case '[', '{':
				depth++
			case ']', '}':
				depth = max(0, depth-1)
			}
		}

		if depth > maxNesting {
			return atLine(line, "brackets nest deeper than %d levels", maxNesting)
		}
	}

	return nil
}

// atLine returns the error for a line of the document, without the public code. See inMatter.
func atLine(line int, format string, args ...any) *lineError {
	return &lineError{line: line, reason: fmt.Sprintf(format, args...)}
}

// lineError is an error on a line of the document. The front matter begins on line 2.
type lineError struct {
	line   int
	reason string
	cause  error
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.reason) }
func (e *lineError) Unwrap() error { return e.cause }

func (e *lineError) withCause(cause error) *lineError {
	e.cause = cause
	return e
}

// inMatter returns the public error for a line of front matter, and other errors as they are.
func inMatter(err error) error {
	e, ok := errors.AsType[*lineError](err)
	if !ok {
		return err
	}

	return fault.Errorf(fault.FrontMatterInvalid, "front matter, line %d: %s", e.line, e.reason).
		WithParam("content").WithCause(e.cause)
}
