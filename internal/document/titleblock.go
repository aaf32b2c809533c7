package document

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"presswork"
	"presswork/internal/document/layout"
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
	// authors have affiliations and ORCIDs. They are printed in place of author.
	authors []metadata.Author
	// abstract is HTML, with the keywords. It is printed below the title, wherever that is.
	abstract string
	// above and below are the parts of a layout: HTML below the title and below the text.
	above, below string
}

// titleAbove returns the title to print above the text, or "" if a cover has it.
func titleAbove(matter metadata.FrontMatter, o presswork.Options) string {
	if matter.Options.Title == "" || isTrue(o.Cover) || asSlides(o) || layout.Of(o.As).Untitled() {
		return ""
	}

	return pdffile.OneLine(o.Title)
}

// authorsOf returns the authors of the front matter if one has more than a name. It returns nil if author, the line
// that the options give, names others.
func authorsOf(matter metadata.FrontMatter, author string) []metadata.Author {
	var names []string
	more := false

	for _, a := range matter.Authors {
		names = append(names, a.Name)
		more = more || len(a.Affiliations) > 0 || a.ORCID != "" || a.Note != ""
	}

	if !more || pdffile.OneLine(strings.Join(names, ", ")) != author {
		return nil
	}

	return matter.Authors
}

// abstract renders the abstract of the front matter, if there is one, and the keywords of its paper.
func (c *Converter) abstract(ctx context.Context, matter metadata.FrontMatter, lang string) (string, error) {
	if matter.Abstract == "" {
		return "", nil
	}
	settings := markdown.Options{FirstLine: matter.Lines["abstract"], EscapeHTML: true, Lang: lang}
	body, err := c.markdown.Parse(ctx, []byte(matter.Abstract), settings)

	var w markup.Writer
	w.Raw(`<div class="abstract">` + "\n" + body.HTML)

	if words := matter.Options.Keywords; len(words) > 0 {
		w.Open("p", "class", "keywords").Element("strong", keywordsIn(lang)).Text(" " + strings.Join(words, ", "))
		w.Close("p").Raw("\n")
	}

	return w.Raw("</div>\n").String(), err
}

// keywordsIn returns the heading of the keywords in a language (BCP 47).
func keywordsIn(lang string) string {
	base, _, _ := strings.Cut(strings.ToLower(lang), "-")

	return cmp.Or(map[string]string{
		"de": "Schlagwörter:",
		"es": "Palabras clave:",
		"fr": "Mots-clés\u202f:",
		"it": "Parole chiave:",
		"ja": "キーワード：",
		"nl": "Trefwoorden:",
		"pl": "Słowa kluczowe:",
		"pt": "Palavras-chave:",
		"ru": "Ключевые слова:",
		"zh": "关键词：",
	}[base], "Keywords:")
}

// place inserts the title block. It goes below the heading of level 1 that is the title. If the text has other headings
// of level 1, the title becomes a paragraph above the text, so that the outline keeps its levels.
func (t titleBlock) place(blocks []block.Block, headings []markdown.Heading) []block.Block {
	if t.above+t.below != "" {
		return t.placeLayout(blocks, headings)
	}

	if t.title == "" {
		return t.placeBelow(blocks, 0, t.abstract)
	}

	if onlyChapters(headings, t.title) {
		var w markup.Writer
		w.Line("p", t.title, "class", "title").Raw(t.lines() + t.abstract)

		return append(block.Read(w.String()), blocks...)
	}

	return t.placeBelow(blocks, max(0, slices.IndexFunc(blocks, isTitle)), t.lines()+t.abstract)
}

// placeBelow inserts HTML below the block at an index if that is a title, else above the text.
func (titleBlock) placeBelow(blocks []block.Block, at int, html string) []block.Block {
	if at < len(blocks) && isTitle(blocks[at]) {
		return append(blocks[:at:at], underTitle(blocks[at:], block.Read(html)...)...)
	}

	return append(block.Read(html), blocks...)
}

// placeLayout inserts the parts of a layout: one below the title, which may be the first heading of the text, the
// other after the text.
func (t titleBlock) placeLayout(blocks []block.Block, headings []markdown.Heading) []block.Block {
	above := block.Read(t.above + t.abstract)

	switch {
	case t.title != "" && onlyChapters(headings, t.title) && headings[0].Line > 0:
		var w markup.Writer
		above = block.Read(w.Line("p", t.title, "class", "title").Raw(t.above + t.abstract).String())
		blocks = append(above, blocks...)
	case len(blocks) > 0 && isTitle(blocks[0]):
		blocks = underTitle(blocks, above...)
	default:
		blocks = append(above, blocks...)
	}

	at := slices.IndexFunc(blocks, func(b block.Block) bool { return b.Kind == block.Footnotes })
	if at < 0 {
		at = len(blocks)
	}

	return slices.Insert(blocks, at, block.Read(t.below)...)
}

// onlyChapters reports whether there are headings of level 1, and none has the words of the title.
func onlyChapters(headings []markdown.Heading, title string) (found bool) {
	for _, h := range headings {
		if h.Level == 1 {
			if wordsOf(h.Text) == wordsOf(title) {
				return false
			}
			found = true
		}
	}

	return found
}

// wordsOf returns the letters and digits of a title in lower case.
func wordsOf(title string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			return unicode.ToLower(r)
		}

		return -1
	}, title)
}

// rightToLeft reports whether some of it is read from right to left.
func (t titleBlock) rightToLeft() bool {
	return direction.HasRTL(t.title + t.subtitle + t.author + t.date + t.abstract)
}

// lines returns subtitle, authors and date as HTML, or "" if there are none.
func (t titleBlock) lines() string {
	if t.subtitle+t.author+t.date == "" {
		return ""
	}

	var w markup.Writer
	w.Raw("<div class=\"byline\">\n").Line("p", t.subtitle, "class", "subtitle")
	t.writeAuthors(&w)
	w.Line("p", t.date, "class", "issued")

	return w.Raw("</div>\n").String()
}

// writeAuthors writes the names of the authors, then their affiliations, notes and ORCIDs on lines of their own.
// Numbers lead from a name to its affiliations if there are several.
func (t titleBlock) writeAuthors(w *markup.Writer) {
	if len(t.authors) == 0 {
		w.Line("p", t.author, "class", "authors")
		return
	}
	var places []string

	for _, a := range t.authors {
		for _, place := range a.Affiliations {
			if !slices.Contains(places, place) {
				places = append(places, place)
			}
		}
	}

	w.Open("p", "class", "authors")

	for i, a := range t.authors {
		if i > 0 {
			w.Text(", ")
		}
		w.Text(a.Name)

		if len(places) > 1 && len(a.Affiliations) > 0 {
			var numbers []string
			for _, place := range a.Affiliations {
				numbers = append(numbers, strconv.Itoa(1+slices.Index(places, place)))
			}
			w.Element("sup", strings.Join(numbers, ","))
		}
	}
	w.Close("p").Raw("\n")

	for i, place := range places {
		w.Open("p", "class", "affiliation")

		if len(places) > 1 {
			w.Element("sup", strconv.Itoa(i+1)).Text(" ")
		}
		w.Text(place).Close("p").Raw("\n")
	}

	for _, a := range t.authors {
		if a.Note != "" {
			w.Line("p", a.Name+": "+a.Note, "class", "affiliation")
		}

		if a.ORCID != "" {
			w.Open("p", "class", "affiliation").Text(a.Name + ": ORCID ")
			w.Element("a", a.ORCID, "href", "https://orcid.org/"+a.ORCID).Close("p").Raw("\n")
		}
	}
}
