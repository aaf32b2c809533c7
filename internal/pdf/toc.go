package pdf

import (
	"html"
	"net/url"
	"strings"

	"golang.org/x/text/language"

	"presswork"
	"presswork/internal/markdown"
)

const (
	// tocHere is where a document with [[toc]] wants its contents.
	tocHere      = `<nav class="toc-here"></nav>`
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
	case strings.Contains(d.HTML, tocHere):
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

// placeContents puts the table of contents where the source has it, else behind
// the cover on pages of its own if it is long enough, else under the document's title;
// and the lists behind it.
func placeContents(body string, entries []markdown.Heading, lang string, cover bool, lists string) string {
	if len(entries) == 0 && lists == "" {
		return strings.Replace(body, tocHere, "", 1)
	}
	if len(entries) == 0 {
		return placeBefore(strings.Replace(body, tocHere, "", 1), lists, "")
	}
	texts := headingContents(body)
	if before, after, asked := strings.Cut(body, tocHere); asked {
		return before + contentsHTML(entries, texts, lang, "toc") + lists + after
	}
	if cover && len(entries) > fewEntries {
		return contentsHTML(entries, texts, lang, "toc toc-own-page") + lists + body
	}
	return placeBefore(body, contentsHTML(entries, texts, lang, "toc")+lists, entries[0].ID)
}

// placeBefore puts what stands before the text under the document's title, unless
// that is the first heading listed.
func placeBefore(body, matter, first string) string {
	if strings.HasPrefix(body, "<h1") {
		if title, after, ok := strings.Cut(body, "</h1>\n"); ok && (first == "" || !strings.Contains(title, first+`"`)) {
			return title + "</h1>\n" + matter + after
		}
	}
	return matter + body
}

// contentsHTML writes the list. The page numbers are filled in after the first
// print, into boxes of fixed width, so that they move nothing.
func contentsHTML(entries []markdown.Heading, texts map[string]string, lang, class string) string {
	var b strings.Builder
	title := html.EscapeString(contentsTitle(lang))
	b.WriteString(`<nav class="` + class + `" role="doc-toc" aria-label="` + title + "\">\n<p class=\"toc-title\">" + title + "</p>\n")
	var open []int // the levels of the lists that are open
	for _, h := range entries {
		for len(open) > 1 && h.Level < open[len(open)-1] && h.Level <= open[len(open)-2] {
			b.WriteString("</li>\n</ul>\n")
			open = open[:len(open)-1]
		}
		switch {
		case len(open) == 0 || h.Level > open[len(open)-1]:
			b.WriteString("<ul>\n")
			open = append(open, h.Level)
		default:
			b.WriteString("</li>\n")
			open[len(open)-1] = h.Level
		}
		b.WriteString(`<li><a href="#` + url.PathEscape(h.ID) + `">`)
		if h.Number != "" {
			b.WriteString(`<span class="toc-number">` + html.EscapeString(h.Number) + "</span>")
		}
		b.WriteString(`<span class="toc-text">` + entryText(h, texts) + `</span><span class="toc-leader"></span><span class="toc-page" data-fill></span></a>`)
	}
	b.WriteString(strings.Repeat("</li>\n</ul>\n", len(open)) + "</nav>\n")
	return b.String()
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
		"ar": "المحتويات", "bg": "Съдържание", "ca": "Índex", "cs": "Obsah", "da": "Indhold", "de": "Inhalt", "el": "Περιεχόμενα",
		"es": "Índice", "et": "Sisukord", "fa": "فهرست مطالب", "fi": "Sisällys", "fr": "Table des matières", "he": "תוכן העניינים",
		"hi": "विषय-सूची", "hr": "Sadržaj", "hu": "Tartalom", "id": "Daftar Isi", "it": "Indice", "ja": "目次", "ko": "차례",
		"lt": "Turinys", "lv": "Saturs", "nb": "Innhold", "nl": "Inhoud", "nn": "Innhald", "no": "Innhold", "pl": "Spis treści",
		"pt": "Índice", "ro": "Cuprins", "ru": "Содержание", "sk": "Obsah", "sl": "Kazalo", "sr": "Садржај", "sv": "Innehåll",
		"th": "สารบัญ", "tr": "İçindekiler", "uk": "Зміст", "ur": "فہرست", "vi": "Mục lục", "zh": "目录", "zh-Hant": "目錄",
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
