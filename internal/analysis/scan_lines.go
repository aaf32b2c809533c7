package analysis

import (
	"strings"
)

// inFence takes a line inside a code fence. Fences without a language are kept,
// up to a bound: some people put a whole letter in one.
func (s *scanner) inFence(trimmed, line string) {
	s.out.lines++
	s.out.codeLines++
	if strings.HasPrefix(trimmed, s.fence) && strings.Trim(trimmed, s.fence[:1]+" \t") == "" {
		s.closeFence()
		return
	}
	if s.fenceBody.Len() < 64<<10 {
		s.fenceBody.WriteString(line)
		s.fenceBody.WriteByte('\n')
	}
}

func (s *scanner) closeFence() {
	if s.fence == "" {
		return
	}
	switch s.fenceLang {
	case "", "text", "txt", "plain", "plaintext", "markdown", "md":
		s.out.fenced = append(s.out.fenced, s.fenceBody.String())
	}
	s.fence = ""
	s.fenceBody = strings.Builder{}
}

// tableLine takes rows of pipe tables: a line that begins with a pipe, or has
// one and follows or is a delimiter row.
func (s *scanner) tableLine(trimmed string) bool {
	if strings.IndexByte(trimmed, '|') < 0 {
		return false
	}
	delimiter := strings.Trim(trimmed, "|-: \t") == "" && strings.Contains(trimmed, "-")
	if trimmed[0] != '|' && !s.inTable && !delimiter {
		return false
	}
	if delimiter && s.open && s.cur.kind == paragraph { // the row above was the head
		s.cur.kind = tableRow
		s.out.tableLines++
	}
	s.close()
	s.inTable = true
	s.out.tableLines++
	if !delimiter {
		s.blocksAppend(block{kind: tableRow, text: trimmed[:min(len(trimmed), maxBlock)]})
	}
	return true
}

// htmlLine takes a line that begins with a tag, unless it carries text.
func (s *scanner) htmlLine(trimmed string) bool {
	lower := strings.ToLower(trimmed[:min(len(trimmed), 16)])
	for open, end := range skipped {
		if !strings.HasPrefix(lower, open) {
			continue
		}
		s.close()
		s.out.htmlLines++
		if !strings.Contains(strings.ToLower(trimmed[len(open):]), end) {
			s.skipTo = end
		}
		return true
	}
	if len(lower) > 3 && lower[1] == 'h' && lower[2] >= '1' && lower[2] <= '6' && (lower[3] == '>' || lower[3] == ' ') {
		s.close()
		s.heading(int(lower[2]-'0'), trimmed)
		return true
	}
	ev := evidence{futile: s.futile}
	text := plain(clip(trimmed, maxRaw), &ev)
	s.futile = ev.futile
	if strings.TrimSpace(text) != "" {
		return false
	}
	s.out.htmlLines++
	for ; ev.images > 0; ev.images-- { // badges and screenshots in HTML count as such
		s.blocksAppend(block{kind: paragraph, text: "![](image)"})
	}
	return true
}

// skipped are openings of HTML whose content is no text, with their ends.
var skipped = map[string]string{"<!--": "-->", "<style": "</style", "<script": "</script", "<svg": "</svg", "<pre": "</pre"}

func indentOf(line string) (n int) {
	for i := range len(line) {
		switch line[i] {
		case ' ':
			n++
		case '\t':
			n += 4
		default:
			return n
		}
	}
	return n
}

// fenceMark returns the run of ``` or ~~~ that opens a fence, or "".
func fenceMark(line string) string {
	if len(line) < 3 || line[0] != '`' && line[0] != '~' {
		return ""
	}
	n := len(line) - len(strings.TrimLeft(line, line[:1]))
	if n < 3 || line[0] == '`' && strings.IndexByte(line[n:], '`') >= 0 {
		return ""
	}
	return line[:n]
}

// atxHeading reads "## Text ##". Many write "##Text", which is no Markdown but
// means a heading to those who read it; "#Text" stays a tag.
func atxHeading(line string) (level int, text string) {
	for level < len(line) && line[level] == '#' {
		level++
	}
	if level == 0 || level > 6 || level == len(line) {
		return 0, ""
	}
	if c := line[level]; c != ' ' && c != '\t' && (level == 1 || c < 'A' || c > 'Z') {
		return 0, ""
	}
	return level, strings.TrimSpace(strings.TrimRight(strings.TrimSpace(line[level:]), "#"))
}

func isRule(line string) bool {
	line = strings.TrimRight(line, " \t")
	if len(line) < 3 || line[0] != '-' && line[0] != '*' && line[0] != '_' {
		return false
	}
	return strings.Trim(line, line[:1]+" ") == "" && strings.Count(line, line[:1]) >= 3
}

// listMarker returns the length of "- ", "* ", "+ ", "1. " or "1) ", 0 for none.
func listMarker(line string) (n int, ordered bool) {
	if len(line) > 1 && (line[0] == '-' || line[0] == '*' || line[0] == '+') && (line[1] == ' ' || line[1] == '\t') {
		return len(line) - len(strings.TrimLeft(line[1:], " \t")), false
	}
	for n < len(line) && n < 9 && line[n] >= '0' && line[n] <= '9' {
		n++
	}
	if n == 0 || n+1 >= len(line) || line[n] != '.' && line[n] != ')' || line[n+1] != ' ' {
		return 0, false
	}
	return n + 2, true
}

// isDefinition distinguishes "[label]: target" from text.
func isDefinition(line string) bool {
	i := strings.Index(line, "]:")
	return i > 0 && i < 200 && !strings.HasPrefix(line, "[^")
}

// looksLikeCall distinguishes signatures from words: "copy(src, dest)", "v8::Value",
// "GET /users".
func looksLikeCall(s string) bool {
	for i := 1; i < len(s); i++ {
		if s[i] == '(' && (isAlnum(s[i-1]) || s[i-1] == '_') || s[i] == ':' && s[i-1] == ':' {
			return true
		}
	}
	verb, rest, _ := strings.Cut(strings.Trim(s, "` "), " ")
	switch verb {
	case "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS":
		return strings.HasPrefix(strings.TrimLeft(rest, " `"), "/")
	}
	return false
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func firstField(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), " ")
	return s
}
