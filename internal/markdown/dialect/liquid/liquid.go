// Package liquid reads the tags of templates within Markdown: of Liquid, as Jekyll, GitBook and
// Markdoc have them, and the shortcodes of Hugo and Quarto.
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

// tag is a tag of a template within Markdown: of Liquid (Jekyll, GitBook, Markdoc),
// {% note %} … {% endnote %}, or of Hugo and Quarto, {{< note >}} … {{< /note >}}.
type tag struct {
	start, end int
	liquid     bool
	closes     bool
	// alone reports whether nothing else is on its lines.
	alone bool
	name  string
	named map[string]string
	words []string // arguments without a name
	other int      // index of the tag that it opens or closes, -1 for none
	with  string   // what takes its place
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
)

// Rewrite makes Markdown of the tags of templates: blocks named like an admonition become one,
// tabs and the like keep their titles, code becomes code, pictures become pictures. Of other
// tags, what they enclose remains. A tag of Liquid amid a text that encloses nothing may be
// meant, so it stays. Every line stays where it is.
func Rewrite(s *source.Source) []fault.Warning {
	if !mayHoldTags(s.Text()) {
		return nil
	}

	warnings := rewriteTags(s)
	rewriteDestinations(s)
	s.Replace(escapedTag().ReplaceAll(s.Text(), []byte("$1$2$3")))

	return warnings
}

// mayHoldTags is quick: most documents hold none.
func mayHoldTags(src []byte) bool {
	for _, mark := range []string{"{%", "{{<", "{{%", "({{", ": {{", `="{{`} {
		if bytes.Contains(src, []byte(mark)) {
			return true
		}
	}

	return false
}

// rewriteTags replaces the tags and warns once of each name whose tags are left out.
func rewriteTags(s *source.Source) (warnings []fault.Warning) {
	src := s.Text()
	tags := findTags(s)
	pair(tags)
	var out bytes.Buffer
	out.Grow(len(src))
	at, warned := 0, map[string]bool{}

	for i := range tags {
		t := &tags[i]
		if t.start < at { // within code or a comment
			continue
		}

		whole := t.replace(tags, src)
		if whole && t.other < 0 && t.liquid && !t.alone && t.with == "" {
			continue
		}

		if !whole && !warned[t.name] {
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

func writeLineEnds(out *bytes.Buffer, text []byte) {
	out.Write(bytes.Repeat([]byte("\n"), bytes.Count(text, []byte("\n"))))
}

// rewriteDestinations takes the variables of Liquid from the destinations of links outside
// code. What is left is a destination.
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

// findTags finds the tags outside code, in their order.
func findTags(s *source.Source) (tags []tag) {
	src, text := s.Text(), s.WithoutCode()

	for _, form := range []*regexp.Regexp{liquidTag(), hugoTag()} {
		for _, m := range form.FindAllSubmatchIndex(text, -1) {
			if form == liquidTag() && m[0] > 0 && src[m[0]-1] == '{' {
				continue // it is Hugo's
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

// isAlone reports whether the text between two offsets has its lines to itself, apart from
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

// pair finds for each tag the one that closes it.
func pair(tags []tag) {
	open := map[string][]int{} // the tags of each name that nothing closes yet
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
