package analysis

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// kind is what a block is.
type kind uint8

const (
	paragraph kind = iota
	item
	quote
	tableRow
	codeBlock
)

// block is a run of source lines of one kind; text still carries inline markup
// and, in quotes, the markers of its lines.
type block struct {
	kind    kind
	text    string
	ordered bool // an item of a numbered list
	task    bool // an item with a check box
}

// heading is a heading without its markup. after counts the blocks before it.
type heading struct {
	level int
	text  string
	code  bool // carried code or a call: `fetch(url)`
	after int
}

// outline is a document's structure as a scan of its lines shows it. It is no
// parser: where CommonMark would need look-ahead without bound it guesses.
type outline struct {
	front    frontMatter
	headings []heading
	blocks   []block

	lines      int // that are not blank
	codeLines  int
	tableLines int
	listLines  int
	quoteLines int
	htmlLines  int
	rules      int
	fences     int
	fenced     []string // bodies of fences without a language, which may hold text
}

const (
	// maxBlock bounds a block, so that a document of one line can be sampled.
	maxBlock = 8 << 10
	// maxRaw bounds the source of a heading or a line of HTML, which are not
	// sampled, and maxHeading a heading's text, both in bytes.
	maxRaw, maxHeading = 2000, 300
)

// scan reads the structure of a document, in one pass over its lines.
func scan(src string) outline {
	var s scanner
	s.out.front, src = cutFrontMatter(src)
	for len(src) > 0 {
		line := src
		if i := strings.IndexByte(src, '\n'); i >= 0 {
			line, src = src[:i], src[i+1:]
		} else {
			src = ""
		}
		s.line(line)
	}
	s.close()
	s.closeFence()
	return s.out
}

type scanner struct {
	out outline

	body strings.Builder // the open block's lines
	open bool
	cur  block
	rows int // lines in the open block

	fence     string // the open fence's marker, "" outside
	fenceLang string
	fenceBody strings.Builder
	skipTo    string // the tag or mark that ends an HTML block whose text is none
	blank     bool   // the line before was blank
	inList    bool
	inTable   bool
	futile    int // of the evidence of headings and HTML, all together
}

func (s *scanner) line(line string) {
	trimmed := strings.TrimLeft(line, " \t")
	indent := indentOf(line)
	switch {
	case s.fence != "":
		s.inFence(trimmed, line)
	case s.skipTo != "":
		s.out.lines++
		s.out.htmlLines++
		if strings.Contains(strings.ToLower(line), s.skipTo) {
			s.skipTo = ""
		}
	case strings.TrimRight(trimmed, " \t\f") == "":
		s.close()
		s.blank, s.inTable = true, false
	default:
		s.out.lines++
		s.filled(line, trimmed, indent)
		s.blank = false
	}
}

// filled takes a line with something on it, outside fences and HTML.
func (s *scanner) filled(line, trimmed string, indent int) {
	if mark := fenceMark(trimmed); mark != "" {
		s.close()
		s.fence, s.fenceLang = mark, strings.ToLower(firstField(strings.Trim(trimmed[len(mark):], " {.}")))
		s.out.fences++
		s.out.codeLines++
		return
	}
	if indent >= 4 && !s.open && !s.inList {
		s.out.codeLines++
		s.blocksAppend(block{kind: codeBlock, text: trimmed})
		return
	}
	if level, text := atxHeading(trimmed); level > 0 && indent < 4 {
		s.close()
		s.heading(level, text)
		return
	}
	if s.open && s.cur.kind == paragraph && indent < 4 && s.underline(trimmed) {
		return
	}
	if isRule(trimmed) {
		s.close()
		s.out.rules++
		s.inList = false
		return
	}
	if marker, ordered := listMarker(trimmed); marker > 0 {
		s.startItem(trimmed[marker:], ordered)
		return
	}
	if indent == 0 && s.blank {
		s.inList = false
	}
	if strings.HasPrefix(trimmed, ">") {
		s.out.quoteLines++
		s.extend(quote, strings.TrimLeft(trimmed, "> \t"))
		return
	}
	if s.tableLine(trimmed) {
		return
	}
	if trimmed[0] == '<' && s.htmlLine(trimmed) {
		return
	}
	if trimmed[0] == '[' && isDefinition(trimmed) {
		s.close()
		return
	}
	if s.open && (s.cur.kind == item || s.cur.kind == quote) {
		s.extend(s.cur.kind, trimmed)
		return
	}
	s.extend(paragraph, strings.TrimRight(trimmed, "\t")) // two spaces at the end are a line break
}

// extend adds a line to the open block if it is of this kind, else begins one.
func (s *scanner) extend(k kind, text string) {
	if s.open && s.cur.kind == k && s.body.Len() < maxBlock {
		s.body.WriteByte('\n')
		s.body.WriteString(text)
		s.rows++
		return
	}
	s.close()
	s.open, s.cur, s.rows = true, block{kind: k}, 1
	s.body.WriteString(text)
}

func (s *scanner) startItem(text string, ordered bool) {
	s.close()
	s.out.listLines++
	s.open, s.inList = true, true
	s.cur, s.rows = block{kind: item, ordered: ordered}, 1
	if len(text) > 3 && text[0] == '[' && text[2] == ']' && (text[1] == ' ' || text[1] == 'x' || text[1] == 'X') {
		s.cur.task, text = true, strings.TrimLeft(text[3:], " ")
	}
	s.body.WriteString(text)
}

// close ends the open block. A long one becomes several.
func (s *scanner) close() {
	if !s.open {
		return
	}
	text := s.body.String()
	s.body = strings.Builder{}
	s.open = false
	for len(text) > maxBlock {
		cut := strings.LastIndexAny(text[:maxBlock], " \n")
		if cut <= 0 {
			cut = maxBlock
			for cut > 0 && !utf8.RuneStart(text[cut]) {
				cut--
			}
		}
		b := s.cur
		b.text, text = text[:cut], text[cut:]
		s.blocksAppend(b)
	}
	s.cur.text = text
	s.blocksAppend(s.cur)
}

func (s *scanner) blocksAppend(b block) { s.out.blocks = append(s.out.blocks, b) }

func (s *scanner) heading(level int, raw string) {
	s.inList = false
	raw = headingAnchor.ReplaceAllString(clip(raw, maxRaw), "")
	ev := evidence{futile: s.futile}
	text := strings.TrimSpace(strings.Trim(plain(raw, &ev), "# "))
	s.futile = ev.futile
	code := ev.codeSpans > 0 || looksLikeCall(raw)
	if text == "" {
		text = strings.Trim(raw, "`# ")
	}
	s.out.headings = append(s.out.headings, heading{level: level, text: clip(text, maxHeading), code: code, after: len(s.out.blocks)})
}

// headingAnchor is an anchor or attributes after a heading: "{#id}", "{: .class}",
// and MDX's comment.
var headingAnchor = regexp.MustCompile(`\s*\{(?:[#.:][^{}]*|/\*[^{}]*\*/)\}\s*$`)

// clip keeps at most n bytes, whole characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// underline makes a heading of the open paragraph when line underlines it.
func (s *scanner) underline(line string) bool {
	line = strings.TrimRight(line, " \t")
	if len(line) < 2 || strings.Trim(line, "=") != "" && strings.Trim(line, "-") != "" || s.rows > 2 || s.body.Len() > 200 {
		return false
	}
	text := s.body.String()
	s.body = strings.Builder{}
	s.open = false
	level := 2
	if line[0] == '=' {
		level = 1
	}
	s.heading(level, text)
	return true
}
