// Package liquid rewrites template tags in Markdown: the tags of Liquid, which Jekyll, GitBook and Markdoc use, and the
// shortcodes of Hugo and Quarto. Rewrite finds the tags, pairs them with their closing tags, and chooses a replacement
// for each (tags.go).
package liquid

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"presswork/internal/fault"
	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/source"
)

// tag is a template tag: {% note %} … {% endnote %} in Liquid, {{< note >}} … {{< /note >}} in Hugo
// and Quarto.
type tag struct {
	start, end int // the offsets in the source
	// liquid reports whether it is a tag of Liquid rather than a shortcode.
	liquid bool
	// closes reports whether it is a closing tag.
	closes bool
	// alone reports whether its lines have no other text.
	alone bool
	name  string
	named map[string]string // the arguments with a name
	words []string          // the arguments without a name
	other int               // the index of its opening or closing tag, -1 for none
	with  string            // its replacement
}

var (
	// liquidTag and hugoTag match a tag. Their groups are the slash of a closing tag, the name and the arguments.
	liquidTag = lazyregexp.New(`\{%-?[ \t]*(/?)([A-Za-z][\w-]*)((?:[ \t](?:"[^"\n]*"|'[^'\n]*'|[^%\n"'])*)?)-?%\}`)
	hugoTag   = lazyregexp.New(
		`\{\{[<%]\s*(/?)\s*([A-Za-z_][\w./-]*)((?:\s(?:"(?:\\.|[^"\\])*"|[^{}"])*?)?)\s*[>%]\}\}`,
	)
	// argument matches name=value or a value, each with or without quotation marks.
	argument = lazyregexp.New(
		`([\w-]+)=(?:"((?:\\.|[^"\\])*)"|'([^']*)'|([^\s"']+))|"((?:\\.|[^"\\])*)"|'([^']*)'|([^\s"',]+)`,
	)
	// destination matches a variable of Liquid at the start of the address of a link or an image.
	destination = lazyregexp.New(
		`(\]\(<?|="|\]:[ \t]*)\{\{-?[ \t]*(?:"([^"\n{}]*)"|'([^'\n{}]*)'|[\w.]+)[ \t]*(?:\|[^{}\n]*)?\}\}`,
	)
	// escapedTag matches a shortcode that Hugo prints instead of running it: {{</* name */>}}.
	escapedTag = lazyregexp.New(`(\{\{[<%])/\*(.*?)\*/([>%]\}\})`)
)

// Rewrite replaces template tags by Markdown. A tag with the name of an admonition becomes one. Tabs and the like keep
// their titles. Tags for code and pictures become code and pictures. Of any other tag, the content stays. A single
// tag of Liquid within a line of text stays, because the text may be about it. Lines keep their numbers. Rewrite warns
// of tags that it leaves out, once for each name.
func Rewrite(s *source.Source) []fault.Warning {
	if !mayHoldTags(s.Text()) {
		return nil
	}

	warnings := rewriteTags(s)
	rewriteDestinations(s)
	s.Replace(escapedTag().ReplaceAll(s.Text(), []byte("$1$2$3")))

	return warnings
}

// mayHoldTags is a quick test: most documents have no tag.
func mayHoldTags(src []byte) bool {
	for _, mark := range []string{"{%", "{{<", "{{%", "({{", ": {{", `="{{`} {
		if bytes.Contains(src, []byte(mark)) {
			return true
		}
	}

	return false
}

// rewriteTags replaces the tags. It returns one warning for each name of a tag that is left out.
func rewriteTags(s *source.Source) (warnings []fault.Warning) {
	src := s.Text()
	tags := findTags(s)
	pair(tags)
	var out bytes.Buffer
	out.Grow(len(src))
	at, warned := 0, map[string]bool{}

	for i := range tags {
		t := &tags[i]
		if t.start < at { // within raw text, code or a comment
			continue
		}

		ok := t.replace(tags, src)
		// A single tag of Liquid within a text, without a replacement, stays as it is.
		if ok && t.other < 0 && t.liquid && !t.alone && t.with == "" {
			continue
		}

		if !ok && !warned[t.name] {
			warned[t.name] = true
			warnings = append(warnings,
				s.Warning(fault.SyntaxDropped, t.start, "the template tag "+t.name+" is left out"))
		}
		out.Write(src[at:t.start])
		out.WriteString(t.with)
		writeLineEnds(&out, src[t.start:t.end])
		at = t.end

		if t.other > i {
			end := tags[t.other].start
			switch {
			case t.name == "comment" && t.liquid:
				writeLineEnds(&out, src[at:end])
				at = end
			case t.name == "raw" || strings.HasPrefix(t.with, source.CodeFence):
				out.Write(src[at:end])
				at = end
			}
		}
	}
	out.Write(src[at:])
	s.Replace(out.Bytes())

	return warnings
}

// writeLineEnds writes the line ends of a text.
func writeLineEnds(out *bytes.Buffer, text []byte) {
	out.Write(bytes.Repeat([]byte("\n"), bytes.Count(text, []byte("\n"))))
}

// rewriteDestinations removes the variables of Liquid, such as {{ site.baseurl }}, from the addresses of links outside
// of code. It replaces a literal in braces by its text. The rest of the address stays.
func rewriteDestinations(s *source.Source) {
	src := s.Text()
	found := destination().FindAllSubmatchIndex(s.WithoutCode(), -1)

	s.Edit(found, func(m []int) string {
		literal := ""

		for _, quoted := range [][]int{m[4:6], m[6:8]} {
			if quoted[0] >= 0 {
				literal = string(src[quoted[0]:quoted[1]])
			}
		}

		return string(src[m[0]:m[3]]) + literal
	})
}

// findTags returns the tags outside of code in their order.
func findTags(s *source.Source) (tags []tag) {
	src, text := s.Text(), s.WithoutCode()

	for _, form := range []*regexp.Regexp{liquidTag(), hugoTag()} {
		for _, m := range form.FindAllSubmatchIndex(text, -1) {
			if form == liquidTag() && m[0] > 0 && src[m[0]-1] == '{' {
				continue // a shortcode: {{% name %}}
			}

			t := tag{
				start:  m[0],
				end:    m[1],
				liquid: form == liquidTag(),
				closes: m[3] > m[2],
				name:   strings.ToLower(string(src[m[4]:m[5]])),
				other:  -1,
				named:  map[string]string{},
			}
			if t.liquid && strings.HasPrefix(t.name, "end") && len(t.name) > len("end") {
				t.closes, t.name = true, t.name[len("end"):]
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
	slices.SortFunc(tags, func(a, b tag) int { return a.start - b.start })

	return tags
}

// isAlone reports whether the lines of the text between two offsets have no other text, except the markers of a block
// quote.
func isAlone(src []byte, start, end int) bool {
	for start > 0 && bytes.IndexByte([]byte(" \t>"), src[start-1]) >= 0 {
		start--
	}

	for end < len(src) && (src[end] == ' ' || src[end] == '\t') {
		end++
	}

	return (start == 0 || src[start-1] == '\n') && (end == len(src) || src[end] == '\n')
}

// pair sets other of each tag and its closing tag: the last open tag of the same name.
func pair(tags []tag) {
	open := map[string][]int{} // the open tags of each name
	for i, t := range tags {
		if !t.closes {
			open[t.name] = append(open[t.name], i)
		} else if n := len(open[t.name]); n > 0 {
			tags[i].other = open[t.name][n-1]
			tags[tags[i].other].other = i
			open[t.name] = open[t.name][:n-1]
		}
	}
}
