package pdf

import (
	"context"
	"html"
	"strings"

	"presswork"
	"presswork/internal/markdown"
	"presswork/internal/pdf/file"
)

// titleBlock is what stands above the text of a document that has its title in
// the front matter alone.
type titleBlock struct {
	title, subtitle, author, date string
	// abstract is HTML. It is printed under any title.
	abstract string
}

// titleAbove returns the title to be set above the text, "" for none: a cover has
// it already.
func titleAbove(matter markdown.Matter, o presswork.Options) string {
	if matter.Options.Title == "" || isTrue(o.Cover) || asSlides(o) {
		return ""
	}
	return file.OneLine(o.Title)
}

// abstract renders the abstract of the front matter, if there is one.
func (c *Converter) abstract(ctx context.Context, matter markdown.Matter, lang string) (string, error) {
	if matter.Abstract == "" {
		return "", nil
	}
	body, err := c.markdown.Render(ctx, []byte(matter.Abstract), markdown.Options{FirstLine: matter.Lines["abstract"], EscapeHTML: true, Lang: lang})
	return `<div class="abstract">` + "\n" + body.HTML + "</div>\n", err
}

// place puts the block under the title, which the body begins with if it has one
// for itself. One whose level-1 headings are its chapters has none: the title is
// no heading then, so that the outline keeps the document's own.
func (t titleBlock) place(body string, headings []markdown.Heading) string {
	lines := ""
	switch {
	case t.title == "":
	case len(headings) > 0 && headings[0].Line == 0:
		lines = t.lines()
	case hasChapters(headings, t.title):
		return `<p class="title">` + html.EscapeString(t.title) + "</p>\n" + t.lines() + t.abstract + body
	}
	if title, after, ok := strings.Cut(body, "</h1>\n"); ok && strings.HasPrefix(body, "<h1") {
		return title + "</h1>\n" + lines + t.abstract + after
	}
	return t.abstract + body
}

// hasChapters reports whether several headings are of level 1 and none is the
// title.
func hasChapters(headings []markdown.Heading, title string) bool {
	n := 0
	for _, h := range headings {
		if h.Level == 1 {
			n++
			if strings.EqualFold(h.Text, title) {
				return false
			}
		}
	}
	return n > 1
}

func (t titleBlock) lines() string {
	var b strings.Builder
	for _, line := range [][2]string{{"subtitle", t.subtitle}, {"authors", t.author}, {"issued", t.date}} {
		if line[1] != "" {
			b.WriteString(`<p class="` + line[0] + `">` + html.EscapeString(line[1]) + "</p>\n")
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return `<div class="byline">` + "\n" + b.String() + "</div>\n"
}
