package markdown

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/markdown/dialect/kramdownrfc"
)

const (
	// maxFrontMatter bounds the front matter, maxMatterLine a line of it and
	// maxMatterNesting its brackets: the YAML parser takes quadratic time on
	// each, 9 s on 64 KB of "[".
	maxFrontMatter   = 64 << 10
	maxMatterLine    = 8 << 10
	maxMatterNesting = 16
)

// Matter is what a document's front matter holds.
type Matter struct {
	// Theme is the theme the front matter asks for, "" when it does not.
	Theme   string
	Options presswork.Options
	// Subtitle, Date and Abstract are as written. Abstract may be Markdown.
	Subtitle, Date, Abstract string
	// Deck is what Marp's front matter says, as written.
	Deck Deck
	// Substitutions are those of MyST.
	Substitutions map[string]string
	// Lines has the 1-based line of each of Options, and of "theme", that is set.
	Lines map[string]int
	// Warnings name what is ours by name but not by value.
	Warnings []fault.Warning
	// Body is the Markdown after the front matter.
	Body []byte
	// BodyLine is the 1-based line of the source on which Body begins.
	BodyLine int
}

// Deck is the front matter of a deck of slides for Marp.
type Deck struct {
	// Marp is "true" in one. Paginate, Class, Header, Footer and Size are as Marp has
	// them.
	Marp, Paginate, Class, Header, Footer, Size string
}

// FrontMatter splits off the YAML between two lines of ---, or the TOML between
// two of +++, at the very start. Its keys are theme, those of presswork.Options
// and what other programs call the same; the rest is theirs and not looked at.
// What cannot be meant for us is left out with a warning. Errors:
// FrontMatterInvalid, with the line in its message, for what cannot be read.
func FrontMatter(src []byte) (Matter, error) {
	whole := Matter{Body: bytes.TrimPrefix(src, []byte("\ufeff")), BodyLine: 1}

	block, size, ok := splitFrontMatter(src)
	if !ok {
		if size > maxFrontMatter {
			return Matter{}, atLine(1, "the front matter is longer than %d KB", maxFrontMatter>>10)
		}

		return whole, nil
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
	if errors.Is(err, errNoMatter) {
		return whole, nil
	}

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
// it, because no "key:" follows, is left to Markdown, as are a +++ without a "key ="
// and either of them where no second one follows. The size is the length of the block, also
// of one that is too large.
func splitFrontMatter(src []byte) (b frontBlock, size int, ok bool) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))

	fence, fenceEnd, pair := yamlFence, yamlFenceEnd, firstPair
	if b.toml = bytes.HasPrefix(src, []byte("+++")); b.toml {
		fence, fenceEnd, pair = tomlFence, tomlFence, firstTOMLPair
	} else if !bytes.HasPrefix(src, []byte("---")) {
		return frontBlock{}, 0, false
	}

	offset, lines, start, pairs, comments := 0, 0, 0, false, false
	for line := range bytes.Lines(src) {
		lines++

		offset += len(line)
		switch text := bytes.TrimSpace(line); {
		case lines == 1:
			if !fence.Match(line) {
				return frontBlock{}, 0, false
			}
			start = offset
		case !b.toml && kramdownrfc.IsPart(line):
			if offset > maxFrontMatter {
				return frontBlock{}, offset, false
			}
			begins := offset - len(line)

			return frontBlock{text: src[start:begins], rest: src[begins:], lines: lines - 1}, offset, true
		case fenceEnd.Match(line):
			if offset > maxFrontMatter {
				return frontBlock{}, offset, false
			}

			if comments && !pairs { // "# Text" between two rules is a heading
				return frontBlock{}, 0, false
			}

			return frontBlock{
				text:  src[start : offset-len(line)],
				rest:  src[offset:],
				toml:  b.toml,
				lines: lines,
			}, offset, true
		case !pairs && len(text) > 0 && text[0] == '#':
			comments = true
		case !pairs && len(text) > 0:
			if !pair.Match(text) {
				return frontBlock{}, 0, false
			}
			pairs = true
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

		if bytes.Count(text, []byte("- ")) > maxMatterNesting &&
			bytes.HasPrefix(bytes.TrimLeft(text, " "), []byte("- - ")) {
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

func atLine(line int, format string, args ...any) *fault.Error {
	return fault.Errorf(fault.FrontMatterInvalid, "front matter, line %d: %s", line, fmt.Sprintf(format, args...)).
		WithParam("content")
}
