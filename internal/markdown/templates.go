package markdown

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	"presswork/internal/fault"
	"presswork/internal/lazyregexp"
)

// templateTag is a tag of a template within Markdown: of Liquid (Jekyll, Hexo, GitBook,
// Markdoc), {% note %} … {% endnote %}, or of Hugo and Quarto, {{< note >}} … {{< /note >}}.
type templateTag struct {
	start, end int
	liquid     bool
	shuts      bool
	// alone reports whether nothing else is on its lines.
	alone bool
	name  string
	named map[string]string
	words []string // arguments without a name
	other int      // index of the tag that it opens or shuts, -1 for none
	with  string   // what stands in its place
}

var (
	liquidTag = lazyregexp.New(`\{%-?[ \t]*(/?)([A-Za-z][\w-]*)((?:[ \t](?:"[^"\n]*"|'[^'\n]*'|[^%\n"'])*)?)-?%\}`)
	hugoTag   = lazyregexp.New(
		`\{\{[<%]\s*(/?)\s*([A-Za-z_][\w./-]*)((?:\s(?:"(?:\\.|[^"\\])*"|[^{}"])*?)?)\s*[>%]\}\}`,
	)
	argument = lazyregexp.New(
		`([\w-]+)=(?:"((?:\\.|[^"\\])*)"|'([^']*)'|([^\s"']+))|"((?:\\.|[^"\\])*)"|'([^']*)'|([^\s"',]+)`,
	)
	// destination is a variable of Liquid that begins the destination of a link.
	destination = lazyregexp.New(
		`(\]\(<?|="|\]:[ \t]*)\{\{-?[ \t]*(?:"([^"\n{}]*)"|'([^'\n{}]*)'|[\w.]+)[ \t]*(?:\|[^{}\n]*)?\}\}`,
	)
	escapedTag = lazyregexp.New(`(\{\{[<%])/\*(.*?)\*/([>%]\}\})`)
	itemMarker = lazyregexp.New(`^(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]|$)`)
)

// plainTemplates makes the tags of templates what Markdown has words for, and leaves
// every line where it is: blocks named like an admonition are one, tabs and the like
// have their titles, code is code, pictures are pictures. Of the others what they enclose
// remains; a tag of Liquid amid a text that encloses nothing may be meant.
func (d *draft) plainTemplates() {
	src := d.src

	some := false
	for _, mark := range []string{"{%", "{{<", "{{%", "({{", ": {{", `="{{`} {
		some = some || bytes.Contains(src, []byte(mark))
	}

	if !some || d.dialect == GFM || d.dialect == MDX {
		return
	}
	tags := pairTemplateTags(findTemplateTags(src))
	var out bytes.Buffer
	out.Grow(len(src))
	at, kinds, told := 0, alertKinds(), map[string]bool{}

	for i := range tags {
		t := &tags[i]
		if t.start < at { // within code or a comment
			continue
		}

		whole := t.replace(tags, src, kinds)
		if whole && t.other < 0 && t.liquid && !t.alone && t.with == "" {
			continue
		}

		if !whole && !told[t.name] {
			told[t.name] = true
			d.warn(fault.SyntaxDropped, d.lines.at(t.start), "the template tag "+t.name+" is left out")
		}
		out.Write(src[at:t.start])
		out.WriteString(t.with)
		out.Write(bytes.Repeat([]byte("\n"), bytes.Count(src[t.start:t.end], []byte("\n"))))

		at = t.end
		if t.name == "comment" && t.other > i && t.liquid {
			end := tags[t.other].start
			out.Write(bytes.Repeat([]byte("\n"), bytes.Count(src[at:end], []byte("\n"))))
			at = end
		} else if t.other > i && (t.name == "raw" || strings.HasPrefix(t.with, codeFence)) {
			out.Write(src[at:tags[t.other].start])
			at = tags[t.other].start
		}
	}
	out.Write(src[at:])
	d.setSource(escapedTag().ReplaceAll(plainDestinations(out.Bytes()), []byte("$1$2$3")))
}

// plainDestinations takes the variables of Liquid from the destinations of links, outside
// of code: what is left is a destination.
func plainDestinations(src []byte) []byte {
	var out bytes.Buffer
	out.Grow(len(src))

	at := 0
	for _, m := range destination().FindAllSubmatchIndex(withoutCode(src), -1) {
		out.Write(src[at:m[3]])

		for _, literal := range [][]int{m[4:6], m[6:8]} {
			if literal[0] >= 0 {
				out.Write(src[literal[0]:literal[1]])
			}
		}
		at = m[1]
	}
	out.Write(src[at:])

	return out.Bytes()
}

// findTemplateTags finds the tags outside of code, in their order.
func findTemplateTags(src []byte) (tags []templateTag) {
	text := withoutCode(src)
	for _, form := range []*regexp.Regexp{liquidTag(), hugoTag()} {
		for _, m := range form.FindAllSubmatchIndex(text, -1) {
			if form == liquidTag() && m[0] > 0 && src[m[0]-1] == '{' {
				continue // it is Hugo's
			}

			t := templateTag{
				start:  m[0],
				end:    m[1],
				liquid: form == liquidTag(),
				shuts:  m[3] > m[2],
				name:   strings.ToLower(string(src[m[4]:m[5]])),
				other:  -1,
				named:  map[string]string{},
			}
			if t.liquid && strings.HasPrefix(t.name, "end") && len(t.name) > len("end") {
				t.shuts, t.name = true, t.name[len("end"):]
			}

			t.alone = isAlone(src, t.start, t.end)
			for _, a := range argument().FindAllSubmatch(src[m[6]:m[7]], -1) {
				value := strings.ReplaceAll(string(slices.Concat(a[2:]...)), `\"`, `"`)
				if len(a[1]) > 0 {
					t.named[strings.ToLower(string(a[1]))] = value
				} else if value != "/" {
					t.words = append(t.words, value)
				}
			}
			tags = append(tags, t)
		}
	}
	slices.SortFunc(tags, func(a, b templateTag) int { return a.start - b.start })

	return tags
}

// isAlone reports whether what is between two offsets has its lines to itself, but for
// the signs of a block quote.
func isAlone(src []byte, start, end int) bool {
	for start > 0 && bytes.IndexByte([]byte(" \t>"), src[start-1]) >= 0 {
		start--
	}

	for end < len(src) && (src[end] == ' ' || src[end] == '\t') {
		end++
	}

	return (start == 0 || src[start-1] == '\n') && (end == len(src) || src[end] == '\n')
}

// pairTemplateTags finds for each tag the one that shuts it.
func pairTemplateTags(tags []templateTag) []templateTag {
	open := map[string][]int{} // the tags of each name that nothing shuts yet
	for i, t := range tags {
		if !t.shuts {
			open[t.name] = append(open[t.name], i)
		} else if n := len(open[t.name]); n > 0 {
			tags[i].other = open[t.name][n-1]
			tags[tags[i].other].other = i
			open[t.name] = open[t.name][:n-1]
		}
	}

	return tags
}

// codeFence is of tildes, since what it encloses may have fences of its own.
const codeFence = "~~~~~~"

// replace decides what stands in the place of a tag, and reports whether nothing is
// lost by that.
func (t *templateTag) replace(tags []templateTag, src []byte, kinds map[string]string) bool {
	if t.shuts {
		if t.other >= 0 {
			switch opened := tags[t.other].with; {
			case strings.HasPrefix(opened, ":::"):
				t.with = ":::"
			case strings.HasPrefix(opened, codeFence):
				t.with = codeFence
			}
		}

		return true
	}

	if t.other < 0 {
		return t.single()
	}

	if !t.alone || !tags[t.other].alone {
		return true
	}
	title := t.text("title", "header", "heading", "summary", "label", "caption", "subject")
	within := bytes.TrimSpace(src[t.end:tags[t.other].start])
	fenced := bytes.HasPrefix(within, []byte("```")) || bytes.HasPrefix(within, []byte("~~~"))

	switch kind := kinds[t.name]; t.name {
	case "highlight", "codeblock", "code", "mermaid", "prism":
		if fenced && title == "" {
			return true
		}

		if !fenced {
			t.with = codeFence + t.language()
			return true
		}
		t.with = ":::tab " + title
	case "tab", "step", "expand", "collapse", "accordion", "accordion-item", "collapsible", "spoiler", "panel", "fold":
		if title == "" {
			title = t.text("name")
		}

		if title == "" && len(t.words) > 0 {
			title = t.words[0]
		}
		t.with = ":::tab " + title
	case "notice", "admonition", "callout", "alert", "hint", "message", "aside", "notification", "box", "block":
		name := t.text("style", "type", "color", "class", "kind", "level", "context")
		if name == "" && len(t.words) > 0 {
			name, t.words = t.words[0], t.words[1:]
		}

		name = strings.TrimPrefix(strings.ToLower(name), "alert-")
		if kinds[name] == "" {
			name = "note"
		}
		t.callout(name, title)
	default:
		if kind != "" {
			name := t.name
			if len(t.words) > 0 && kinds[strings.ToLower(t.words[0])] != "" {
				name, t.words = strings.ToLower(t.words[0]), t.words[1:]
			}
			t.callout(name, title)
		} else if title != "" {
			t.with = ":::tab " + title
		}
	}

	return true
}

// callout makes a tag an admonition, which its words may be the title of.
func (t *templateTag) callout(name, title string) {
	words := slices.DeleteFunc(slices.Clone(t.words), func(w string) bool {
		return slices.Contains([]string{"no-icon", "open", "closed", "true", "false"}, w)
	})
	if title == "" {
		title = strings.Join(words, " ")
	}
	t.with = strings.TrimRight(":::"+name+" "+oneLine(title), " ")
}

// single replaces a tag that encloses nothing, and reports whether something readable,
// or nothing that a reader needs, is left of it.
func (t *templateTag) single() bool {
	if note := t.note(); note != "" {
		t.with = note
		return true
	}

	source := t.text("src", "url", "image_path", "file", "image", "href", "link")
	if t.name == "asset_img" && len(t.words) > 0 {
		source = t.words[0]
	}

	text := oneLine(t.text("title", "label", "caption", "note", "text", "alt", "summary", "header", "description"))
	switch {
	case slices.Contains([]string{".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".avif"}, strings.ToLower(path.Ext(source))):
		caption := oneLine(t.text("caption", "title", "description"))

		t.with = "![" + strings.NewReplacer("[", "", "]", "").
			Replace(oneLine(t.text("alt", "caption", "title", "description"))) +
			"](<" + source + ">"
		if caption != "" && t.alone {
			t.with += ` "` + strings.ReplaceAll(caption, `"`, "&quot;") + `"`
		}
		t.with += ")"
	case slices.Contains([]string{"ref", "relref", "link", "post_url"}, t.name) && len(t.words) > 0:
		t.with = t.words[0]
	case t.name == "pagebreak":
		t.with = `\newpage`
	case text != "":
		t.with = text
	case (t.name == "embed" || t.name == "video") && strings.HasPrefix(source, "http"):
		t.with = "<" + source + ">"
	case t.liquid:
		// Statements show nothing; amid a text, it may be the subject.
		return !t.alone ||
			slices.Contains(
				[]string{"raw", "assign", "else", "elsif", "when", "break", "continue", "increment"},
				t.name,
			)
	default:
		return false
	}

	return true
}

// note is the note that a tag within a text is, "" for another: an include of Jekyll that
// has one, such as sidenote.html, and the shortcodes of that name.
func (t *templateTag) note() string {
	const most = 4000 // bytes
	names := []string{"note"}

	file := t.name
	if t.name == "include" && len(t.words) > 0 {
		file = t.words[0]
	}

	if strings.Contains(strings.ToLower(path.Base(file)), "note") {
		names = append(names, "text", "content", "caption", "description")
	}

	text := strings.Join(strings.Fields(t.text(names...)), " ")
	switch {
	case text == "" || t.alone || len(text) > most:
		return ""
	case balanced(text):
		return "^[" + text + "]"
	}

	return " (" + text + ")" // it would end at a bracket of its own
}

// balanced reports whether each bracket of a text has its match.
func balanced(text string) bool {
	depth := 0

	for _, c := range text {
		switch c {
		case '[':
			depth++
		case ']':
			if depth--; depth < 0 {
				return false
			}
		}
	}

	return depth == 0
}

// text is the first of the named arguments that is there.
func (t *templateTag) text(names ...string) string {
	for _, name := range names {
		if value := strings.TrimSpace(t.named[name]); value != "" {
			return value
		}
	}

	return ""
}

// language is that of the code that a tag encloses.
func (t *templateTag) language() string {
	language := t.text("lang", "language")
	switch {
	case t.name == "mermaid":
		language = t.name
	case language == "" && len(t.words) > 0:
		language = strings.TrimPrefix(t.words[0], "lang:")
	}

	if strings.ContainsFunc(language, func(r rune) bool { return r <= ' ' || r == '`' || r == '~' || r == '{' }) {
		return ""
	}

	return language
}

// oneLine is a text as it may stand in the head of a block.
func oneLine(text string) string {
	return strings.NewReplacer("{", "(", "}", ")").Replace(strings.Join(strings.Fields(text), " "))
}
