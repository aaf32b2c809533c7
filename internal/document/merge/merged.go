package merge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"presswork/internal/fault"
	"presswork/internal/markdown"
	"presswork/internal/markdown/block"
)

// merged returns all parts as one document, with the final names of anchors and links to them.
func (m *merger) merged() markdown.Document {
	whole := markdown.Document{Title: m.parts[0].Title, Lang: m.parts[0].Lang}
	var out strings.Builder

	for i, p := range m.parts {
		if i > 0 && !m.parts[i-1].isHeading() {
			out.WriteString("<div class=\"page-break\"></div>\n")
		}
		text, broken := m.renamed(p)
		out.WriteString(text)

		whole.TOC = whole.TOC || p.TOC
		whole.Upright = whole.Upright || p.Upright
		whole.Letters = whole.Letters.With(p.Letters)
		whole.WidestFormula = max(whole.WidestFormula, p.WidestFormula)
		whole.Parts += p.Parts

		for _, h := range p.Headings {
			h.ID = p.ids[h.ID]
			whole.Headings = append(whole.Headings, h)
		}

		for _, c := range p.Captions {
			c.ID = p.ids[c.ID]
			whole.Captions = append(whole.Captions, c)
		}

		for _, e := range p.Index {
			e.ID = p.ids[e.ID]
			whole.Index = append(whole.Index, e)
		}
		whole.Warnings = append(whole.Warnings, p.warnings(broken)...)
	}
	whole.Warnings = withoutRepeated(whole.Warnings)
	whole.HTML = out.String()
	whole.Blocks = block.Read(whole.HTML)

	return whole
}

// isHeading reports whether a part of a book is only a heading, which stands above the next part.
func (p mergedPart) isHeading() bool {
	return p.inBook && len(p.Blocks) == 1 && p.Blocks[0].Kind == block.Heading
}

// renamed returns the HTML of a part with the final names of anchors. broken are the links to anchors that other parts
// do not have, each with the line of the first such link.
func (m *merger) renamed(p mergedPart) (text string, broken map[string]int) {
	broken = map[string]int{}
	text = block.EachTag(p.HTML, func(t *html.Token) (changed bool) {
		for i, a := range t.Attr {
			val := a.Val
			switch a.Key {
			case "id":
				val = p.ids[a.Val]
			case "href":
				val = m.href(p, a.Val, broken)
			case "aria-labelledby", "aria-describedby", "headers":
				words := strings.Fields(val)
				for n, word := range words {
					if id, ok := p.ids[word]; ok {
						words[n] = id
					}
				}
				val = strings.Join(words, " ")
			}
			changed = changed || val != a.Val
			t.Attr[i].Val = val
		}

		return changed
	})

	return text, broken
}

// withoutRepeated removes the warnings without a line that repeat an earlier one about another part, such as one about
// the bibliography. The text after the name of the file decides.
func withoutRepeated(warnings []fault.Warning) []fault.Warning {
	seen := map[string]bool{}

	return slices.DeleteFunc(warnings, func(w fault.Warning) bool {
		_, about, _ := strings.Cut(w.Message, ": ")
		repeated := w.Line == 0 && seen[about]
		seen[about] = seen[about] || w.Line == 0

		return repeated
	})
}

// warnings returns the warnings of a part, with those about broken links, and names its file.
func (p mergedPart) warnings(broken map[string]int) []fault.Warning {
	warnings := slices.Clone(p.Warnings)
	for _, link := range slices.Sorted(maps.Keys(broken)) {
		warnings = append(warnings, fault.Warning{
			Code: fault.LinkBroken, Line: broken[link],
			Message: fmt.Sprintf("link to %q: that document has no such anchor", link),
		})
	}

	for i, w := range warnings {
		warnings[i] = markdown.Placed(w, p.place)
		warnings[i].Message = p.name + ": " + warnings[i].Message
	}

	return warnings
}
