package document

import (
	"context"
	"strings"

	"presswork"
	"presswork/internal/document/markup"
	"presswork/internal/document/metadata"
	"presswork/internal/markdown"
	"presswork/internal/markdown/block"
	"presswork/internal/markdown/ext/direction"
	"presswork/internal/pdffile"
)

// titleBlock is printed above the text of a document whose title is only in the front matter.
type titleBlock struct {
	title, subtitle, author, date string
	// abstract is HTML. It is printed below the title, wherever that is.
	abstract string
}

// titleAbove returns the title to print above the text, or "" if a cover has it.
func titleAbove(matter metadata.FrontMatter, o presswork.Options) string {
	if matter.Options.Title == "" || isTrue(o.Cover) || asSlides(o) {
		return ""
	}

	return pdffile.OneLine(o.Title)
}

// abstract renders the abstract of the front matter, if there is one.
func (c *Converter) abstract(ctx context.Context, matter metadata.FrontMatter, lang string) (string, error) {
	if matter.Abstract == "" {
		return "", nil
	}
	body, err := c.markdown.Parse(
		ctx,
		[]byte(matter.Abstract),
		markdown.Options{FirstLine: matter.Lines["abstract"], EscapeHTML: true, Lang: lang},
	)

	return `<div class="abstract">` + "\n" + body.HTML + "</div>\n", err
}

// place inserts the block after the title, if the body begins with one. If the headings of level 1 are chapters,
// the title is no heading, so that the outline keeps its levels.
func (t titleBlock) place(blocks []block.Block, headings []markdown.Heading) []block.Block {
	lines := ""

	switch {
	case t.title == "":
	case len(headings) > 0 && headings[0].Line == 0:
		lines = t.lines()
	case hasChapters(headings, t.title):
		var w markup.Writer
		w.Line("p", t.title, "class", "title").Raw(t.lines() + t.abstract)

		return append(block.Read(w.String()), blocks...)
	}

	if len(blocks) > 0 && isTitle(blocks[0]) {
		return underTitle(blocks, block.Read(lines+t.abstract)...)
	}

	return append(block.Read(t.abstract), blocks...)
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

// rightToLeft reports whether some of it is read from right to left.
func (t titleBlock) rightToLeft() bool {
	return direction.HasRTL(t.title + t.subtitle + t.author + t.date + t.abstract)
}

func (t titleBlock) lines() string {
	if t.subtitle+t.author+t.date == "" {
		return ""
	}

	var w markup.Writer
	w.Raw("<div class=\"byline\">\n").Line("p", t.subtitle, "class", "subtitle")
	w.Line("p", t.author, "class", "authors").Line("p", t.date, "class", "issued")

	return w.Raw("</div>\n").String()
}
