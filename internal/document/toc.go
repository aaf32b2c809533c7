package document

import (
	"strings"

	"golang.org/x/text/language"

	"presswork"
	"presswork/internal/markdown"
	"presswork/internal/markdown/block"
)

const (
	defaultDepth = 3
	// fewEntries are so few that a page of their own would be white.
	fewEntries = 1
)

// contentsOf picks the headings of the table of contents: down to the level of
// the option, or of [[toc]] in the source without it. The document's title is
// not among them, unless nothing else is.
func contentsOf(d markdown.Document, depth *presswork.Depth) []markdown.Heading {
	deepest := 0

	switch {
	case depth != nil:
		deepest = int(*depth)
	case hasPlace(d.Blocks, markdown.ListPlace("")):
		deepest = defaultDepth
	}

	listed := func(headings []markdown.Heading) []markdown.Heading {
		var entries []markdown.Heading

		for _, h := range headings {
			if h.Level <= deepest {
				entries = append(entries, h)
			}
		}

		return entries
	}
	if titled(d.Headings) {
		if entries := listed(d.Headings[1:]); len(entries) > 0 {
			return entries
		}
	}

	return listed(d.Headings)
}

// placeContents puts the table of contents where the source has it, else after the cover on
// pages of its own if it is long enough, else under the document's title; and the lists after
// it.
func placeContents(
	blocks []block.Block,
	entries []markdown.Heading,
	p pieces,
	lists []made,
	lang string,
	cover, paper bool,
) []block.Block {
	here := markdown.ListPlace("")
	list := lists
	first := ""

	if len(entries) > 0 {
		asked := hasPlace(blocks, here)
		ownPage := cover && !asked && len(entries) > fewEntries
		contents := contentsList(entries, headingsByID(blocks), lang, ownPage, paper)

		list, first = append([]made{contents}, lists...), entries[0].ID
		if asked {
			p[here] = list
			return blocks
		}
	}
	p[here] = nil

	if len(list) == 0 {
		return blocks
	}
	const before = "before-text" // no document can name it

	p[before] = list
	if len(blocks) > 0 && !list[0].ownPage && isTitle(blocks[0]) && (first == "" || blocks[0].ID != first) {
		return underTitle(blocks, place(before))
	}

	return append([]block.Block{place(before)}, blocks...)
}

// isTitle reports whether a block is a heading of level 1 on lines of its own.
func isTitle(b block.Block) bool {
	return b.Kind == block.Heading && b.Level == 1 && b.Closed && strings.HasPrefix(b.After(), "\n")
}

// underTitle puts more blocks on the line after the title, which is the first one.
func underTitle(blocks []block.Block, more ...block.Block) []block.Block {
	title := blocks[0]
	space := title.After()[len("\n"):]
	title.HTML = title.HTML[:len(title.HTML)-len(space)]

	placed := append([]block.Block{title}, more...)
	if space != "" {
		placed = append(placed, block.Block{HTML: space})
	}

	return append(placed, blocks[1:]...)
}

// contentsList writes the table of contents.
func contentsList(entries []markdown.Heading, headings map[string]*block.Block, lang string, ownPage, paper bool) made {
	var w contentsWriter
	title := contentsTitle(lang)

	class := "toc"
	if w.m.ownPage = ownPage; ownPage {
		class += " toc-own-page"
	}
	w.out.Open("nav", "class", class, "role", "doc-toc", "aria-label", title).Raw("\n")
	w.out.Line("p", title, "class", "toc-title")

	var open []int // the levels of the lists that are open
	for _, h := range entries {
		for len(open) > 1 && h.Level < open[len(open)-1] && h.Level <= open[len(open)-2] {
			w.out.Raw("</li>\n</ul>\n")
			open = open[:len(open)-1]
		}

		switch {
		case len(open) == 0 || h.Level > open[len(open)-1]:
			w.out.Raw("<ul>\n")
			open = append(open, h.Level)
		default:
			w.out.Raw("</li>\n")
			open[len(open)-1] = h.Level
		}

		w.entry(h.ID, h.Number, entryText(h, headings), paper)
	}
	w.out.Raw(strings.Repeat("</li>\n</ul>\n", len(open)) + "</nav>\n")

	return w.made()
}

// headingLabel is a heading as the document prints it, with its number.
func headingLabel(h markdown.Heading) string {
	if h.Number != "" {
		return h.Number + " " + h.Text
	}

	return h.Text
}

// contentsTitle is "Contents" in the language of the document.
func contentsTitle(lang string) string {
	titles := map[string]string{
		"ar":      "المحتويات",
		"bg":      "Съдържание",
		"ca":      "Índex",
		"cs":      "Obsah",
		"da":      "Indhold",
		"de":      "Inhalt",
		"el":      "Περιεχόμενα",
		"es":      "Índice",
		"et":      "Sisukord",
		"fa":      "فهرست مطالب",
		"fi":      "Sisällys",
		"fr":      "Table des matières",
		"he":      "תוכן העניינים",
		"hi":      "विषय-सूची",
		"hr":      "Sadržaj",
		"hu":      "Tartalom",
		"id":      "Daftar Isi",
		"it":      "Indice",
		"ja":      "目次",
		"ko":      "차례",
		"lt":      "Turinys",
		"lv":      "Saturs",
		"nb":      "Innhold",
		"nl":      "Inhoud",
		"nn":      "Innhald",
		"no":      "Innhold",
		"pl":      "Spis treści",
		"pt":      "Índice",
		"ro":      "Cuprins",
		"ru":      "Содержание",
		"sk":      "Obsah",
		"sl":      "Kazalo",
		"sr":      "Садржај",
		"sv":      "Innehåll",
		"th":      "สารบัญ",
		"tr":      "İçindekiler",
		"uk":      "Зміст",
		"ur":      "فہرست",
		"vi":      "Mục lục",
		"zh":      "目录",
		"zh-Hant": "目錄",
	}

	tag, err := language.Parse(lang)
	if err != nil {
		return "Contents"
	}

	base, _ := tag.Base()
	if script, _ := tag.Script(); base.String() == "zh" && script.String() == "Hant" {
		return titles["zh-Hant"]
	}

	if title, known := titles[base.String()]; known {
		return title
	}

	return "Contents"
}
