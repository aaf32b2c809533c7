package sections

import (
	"html"
	"net/url"
	"slices"
	"strings"

	"presswork/internal/chromium/printable"
)

// page returns the page of a section, without header and footer.
func (d *division) page(s *section) printable.Page {
	var out strings.Builder
	more := ""

	if s.untagged {
		more = "<style>main{visibility:hidden}</style>"
	}
	out.WriteString(d.head(s.left, more) + d.Body)

	if s.from == 0 {
		out.WriteString(d.Cover)
	}
	out.WriteString("<nav hidden>" + s.placeLinks + d.anchorLinks(s) + "</nav>\n<main>\n")

	// Style rules for the element after another one then match the first block.
	switch {
	case s.opens:
		out.WriteString("<div hidden></div>\n")
	case s.follows:
		out.WriteString("<p hidden></p>\n")
	}
	arranged := d.writeBlocks(&out, s)

	if len(s.notes) > 0 {
		arranged = true
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

// anchorLinks returns empty anchors for links of the section to other sections, and empty links to its anchors and
// chapters that other sections need. Without them, Chromium would leave these out of the PDF: it writes only links
// whose anchor exists, and only anchors that have a link.
func (d *division) anchorLinks(s *section) string {
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

	return strings.Join(standIns, "") + strings.Join(wanted, "")
}

// writeBlocks writes the blocks of a section. It reports whether one has images or diagrams.
func (d *division) writeBlocks(out *strings.Builder, s *section) (arranged bool) {
	texts := s.held

	for n, b := range s.blocks {
		if b.PageBreak && n == len(s.blocks)-1 {
			if n > 0 && s.blocks[n-1].Breaks || n == 0 && s.from == 0 && d.Cover != "" {
				out.WriteString(strut) // the break ends an empty page
			}

			continue // the section ends the page
		}

		if b.Leaf && n == 0 && d.Cover != "" && s.from == 0 {
			b.HTML = blankLeaf // after the cover, which is on the right
		}
		arranged = arranged || b.Arranged
		texts = b.fill(out, texts)
	}

	return arranged
}

// head returns the page up to the end of its head, without header and footer. left is true if its first page is a left
// one. more is HTML for the end of the head.
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

// strut is content of almost no height, for a page that would otherwise be left out because it is empty.
const strut = `<div style="height:1px"></div>`

// blankLeaf is a blank page. The style overrides that of the class, which hides blank pages that are not needed.
const blankLeaf = `<div class="leaf" style="display:block"></div>`

// blankPage returns the blank page before a chapter that begins on the right.
func (d *division) blankPage() printable.Page {
	page := printable.Page{
		HTML:  d.head(false, "") + d.Body + "<main>\n" + blankLeaf + "</main>\n</body>\n</html>\n",
		Sheet: d.Sheet,
	}
	page.Sheet.Tagged, page.Sheet.Outline = false, false

	return page
}
