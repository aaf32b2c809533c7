package pdf

import (
	"html"
	"net/url"
	"slices"
	"strings"

	"presswork"
)

// page is a section's page, without header and footer. Links to anchors elsewhere
// lead to stand-ins that have no place: Chromium makes none that lead nowhere. Anchors that others link
// to are linked, as are the chapters: it writes no others.
func (d *division) page(s *section) presswork.Page {
	var standIns, wanted []string
	for id := range s.links {
		if !s.ids[id] && d.exists[id] {
			standIns = append(standIns, `<a id="`+html.EscapeString(id)+`"></a>`)
		}
	}
	want := func(id string) {
		if s.ids[id] && !s.links[id] {
			wanted = append(wanted, `<a href="#`+url.PathEscape(id)+`"></a>`)
		}
	}
	for id := range s.ids {
		if d.linked[id] {
			want(id)
		}
	}
	for _, h := range d.headings {
		if !d.linked[h.ID] {
			want(h.ID)
		}
	}
	slices.Sort(standIns)
	slices.Sort(wanted)
	var out strings.Builder
	head := d.head
	if s.left {
		head = otherSides.Replace(head)
	}
	out.WriteString(head + "<style>" + noBanners + "</style>\n</head>\n" + d.body + "\n")
	if s.from == 0 {
		out.WriteString(d.cover)
	}
	out.WriteString("<nav hidden>" + strings.Join(standIns, "") + strings.Join(wanted, "") + "</nav>\n<main>\n")
	switch {
	case s.opens:
		out.WriteString("<div hidden></div>\n")
	case s.follows:
		out.WriteString("<p hidden></p>\n")
	}
	texts := s.held
	arranged := len(s.notes) > 0
	for n, b := range s.blocks {
		if b.breaks && n == len(s.blocks)-1 && strings.HasPrefix(b.html, `<div class="page-break">`) {
			continue // the section ends the page
		}
		if b.leaf && n == 0 && d.cover != "" && s.from == 0 {
			b.html = whiteLeaf // behind the cover, which is on the right
		}
		arranged = arranged || strings.Contains(b.html, "<img ") || strings.Contains(b.html, `<div class="diagram">`)
		texts = fill(&out, b.html, texts)
	}
	if len(s.notes) > 0 {
		out.WriteString(`<div class="footnotes" role="doc-endnotes">` + "\n<hr>\n<ol>\n")
		for _, n := range s.notes {
			out.WriteString(d.notes[n].html)
		}
		out.WriteString("</ol>\n</div>\n")
	}
	out.WriteString("</main>\n</body>\n</html>\n")
	page := presswork.Page{HTML: out.String(), Sheet: d.sheet}
	page.Sheet.PageRanges = s.ranges
	if s.draft {
		page.Sheet.Tagged, page.Sheet.Outline = false, false
	}
	if arranged {
		page.Prepare = d.prepare
	}
	return page
}

// fill writes HTML with texts in its places for some, and returns those that are left.
func fill(out *strings.Builder, block string, texts []string) (left []string) {
	for {
		before, after, ok := strings.Cut(block, placeForText)
		out.WriteString(before)
		if !ok {
			return texts
		}
		out.WriteString(" data-fill>" + html.EscapeString(texts[0]) + "</")
		texts, block = texts[1:], after
	}
}

// otherSides makes the rules of right pages those of left ones.
var otherSides = strings.NewReplacer("@page:right{", "@page:left{", "@page:left{", "@page:right{")

// whiteLeaf is a leaf that is shown.
const whiteLeaf = `<div class="leaf" style="display:block"></div>`

// whitePage is a white page before a chapter that begins on the right.
func (d *division) whitePage() presswork.Page {
	page := presswork.Page{HTML: d.head + "<style>" + noBanners + "</style>\n</head>\n" + d.body + "\n<main>\n" + whiteLeaf + "</main>\n</body>\n</html>\n", Sheet: d.sheet}
	page.Sheet.Tagged, page.Sheet.Outline = false, false
	return page
}
