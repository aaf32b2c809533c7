package sections

import (
	"html"
	"net/url"
	"slices"
	"strings"

	"presswork/internal/chromium/printable"
)

// page returns the page of a section, without header and footer. Chromium writes only links whose anchor exists, and
// only anchors that have a link. So the page gets empty anchors for links to other sections. It also gets links to the
// anchors and chapters that other sections need.
func (d *division) page(s *section) printable.Page {
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

	for _, id := range d.Anchors {
		if !d.linked[id] {
			want(id)
		}
	}
	slices.Sort(standIns)
	slices.Sort(wanted)
	var out strings.Builder
	more := ""

	if s.untagged {
		more = "<style>main{visibility:hidden}</style>"
	}
	out.WriteString(d.head(s.left, more) + d.Body)

	if s.from == 0 {
		out.WriteString(d.Cover)
	}
	out.WriteString(
		"<nav hidden>" + s.asked + strings.Join(standIns, "") + strings.Join(wanted, "") + "</nav>\n<main>\n",
	)

	switch {
	case s.opens:
		out.WriteString("<div hidden></div>\n")
	case s.follows:
		out.WriteString("<p hidden></p>\n")
	}
	texts := s.held

	arranged := len(s.notes) > 0
	for n, b := range s.blocks {
		if b.PageBreak && n == len(s.blocks)-1 {
			if n > 0 && s.blocks[n-1].Breaks || n == 0 && s.from == 0 && d.Cover != "" {
				out.WriteString(strut) // the break ends an empty page
			}

			continue // the section ends the page
		}

		if b.Leaf && n == 0 && d.Cover != "" && s.from == 0 {
			b.HTML = whiteLeaf // after the cover, which is on the right
		}
		arranged = arranged || b.Arranged
		texts = b.fill(&out, texts)
	}

	if len(s.notes) > 0 {
		out.WriteString(`<div class="footnotes" role="doc-endnotes">` + "\n<hr>\n<ol>\n")

		for _, n := range s.notes {
			out.WriteString(d.notes[n].HTML)
		}
		out.WriteString("</ol>\n</div>\n")
	}
	out.WriteString("</main>\n</body>\n</html>\n")
	page := printable.Page{HTML: out.String(), Sheet: d.Sheet}

	page.Sheet.PageRanges = s.ranges
	if s.untagged {
		page.Sheet.Tagged, page.Sheet.Outline = false, false
	}

	if arranged {
		page.Prepare = d.Prepare
	}

	return page
}

// head returns the page up to the end of its head, without header and footer. left means that its first page is a
// left one. more is HTML for the end of the head.
func (d *division) head(left bool, more string) string {
	facing := d.Head.Facing
	if left {
		facing = d.Head.OtherFacing
	}

	return d.Head.Before + facing + d.Head.Banners + d.Head.After +
		"<style>" + d.NoBanners + "</style>\n" + more + "</head>\n"
}

// fill writes the block with its page numbers inserted. It takes them from the start of texts and returns the others.
func (b *Block) fill(out *strings.Builder, texts []string) (left []string) {
	from := 0
	for i, at := range b.Numbers {
		out.WriteString(b.HTML[from:at] + html.EscapeString(texts[i]))
		from = at
	}
	out.WriteString(b.HTML[from:])

	return texts[len(b.Numbers):]
}

// strut makes an empty page.
const strut = `<div style="height:1px"></div>`

// whiteLeaf is a white page. Leaves are hidden unless their page is needed.
const whiteLeaf = `<div class="leaf" style="display:block"></div>`

// whitePage returns the white page before a chapter that begins on the right.
func (d *division) whitePage() printable.Page {
	page := printable.Page{
		HTML:  d.head(false, "") + d.Body + "<main>\n" + whiteLeaf + "</main>\n</body>\n</html>\n",
		Sheet: d.Sheet,
	}
	page.Sheet.Tagged, page.Sheet.Outline = false, false

	return page
}
