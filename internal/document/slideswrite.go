package document

import (
	"fmt"
	"html"
	"strconv"
	"strings"

	xhtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"presswork/internal/pdffile"
)

// body writes the slides. NotePages puts the notes of each on a page behind it.
func (d deck) body(notePages bool) string {
	var b strings.Builder
	if len(d.slides) > 1 {
		b.WriteString("<nav hidden>") // by these, the pages of slides are known

		for _, s := range d.slides {
			fmt.Fprintf(&b, `<a href="#slide-%d"></a>`, s.number)
		}
		b.WriteString("</nav>\n")
	}

	for _, s := range d.slides {
		d.write(&b, s)

		if notePages && s.Notes != "" {
			fmt.Fprintf(
				&b,
				`<section class="slide slide-notes"><div class="slide-head"><p>%d</p></div><div class="slide-body"><div class="slide-fit">`,
				s.number,
			)

			for paragraph := range strings.SplitSeq(s.Notes, "\n\n") {
				b.WriteString("<p>" + html.EscapeString(strings.TrimSpace(paragraph)) + "</p>\n")
			}
			b.WriteString("</div></div></section>\n")
		}
	}

	return b.String()
}

func (d deck) write(b *strings.Builder, s slide) {
	classes := append([]string{}, s.Classes...)
	if s.kind == "cover" {
		d.writeCover(b, s)
		return
	}

	if s.side != "" {
		classes = append(classes, "bg-"+s.side)
	}

	style := ""
	if s.share != "" {
		style = ` style="--bg:` + s.share + `%"`
	}
	fmt.Fprintf(
		b,
		`<section class="%s" id="slide-%d"%s>`+"\n",
		html.EscapeString(strings.Join(append([]string{"slide", "slide-" + s.kind}, classes...), " ")),
		s.number,
		style,
	)
	b.WriteString(s.bg)

	if len(s.heading) > 0 {
		b.WriteString(`<div class="slide-head">` + rendered(s.heading...) + "</div>\n")
	}

	if !s.empty() {
		var inner strings.Builder
		for c := range s.root.ChildNodes() {
			inner.WriteString(rendered(c))
		}
		b.WriteString(`<div class="slide-body"><div class="slide-fit">` + inner.String() + "</div></div>\n")
	}
	d.writeFoot(b, s)
	b.WriteString("</section>\n")
}

// writeFoot writes header or footer and the number.
func (d deck) writeFoot(b *strings.Builder, s slide) {
	o := d.page.options
	text := ""

	for _, t := range []*string{o.HeaderText, o.FooterText} {
		if t != nil && *t != "" {
			text = strings.TrimSpace(text + " " + *t)
		}
	}
	text = strings.NewReplacer("{page}", strconv.Itoa(s.number), "{total}", strconv.Itoa(len(d.slides)), "{title}", d.page.meta.Title,
		"{date}", d.page.date, "{chapter}", "").
		Replace(text)

	hidden := s.Unnumbered || d.marp.Marp == "true" && d.marp.Paginate != "true" || o.FooterText != nil
	if text == "" && hidden {
		return
	}
	b.WriteString(`<div class="slide-foot">`)

	if text != "" {
		b.WriteString("<span>" + html.EscapeString(pdffile.OneLine(text)) + "</span>")
	}

	if !hidden {
		b.WriteString("<span>" + strconv.Itoa(s.number) + "</span>")
	}
	b.WriteString("</div>\n")
}

// writeCover writes the title slide: the theme's cover.
func (d deck) writeCover(b *strings.Builder, s slide) {
	p := d.page
	heading := s.heading[0]
	class := strings.TrimSpace(attributeOf(heading, "class") + " cover-title")
	setAttribute(heading, "class", class)
	subject := textOfNode(s.root)
	fmt.Fprintf(
		b,
		`<section class="%s slide-cover" id="slide-%d" style="%s">`+"\n<div class=\"cover-head\">\n%s\n",
		coverClass(p.sheet, isTrue(p.options.InkSaver)),
		s.number,
		coverStyle(slideCover(p.sheet), textOfNode(heading), subject),
		rendered(heading),
	)

	if !s.empty() {
		var inner strings.Builder
		for c := range s.root.ChildNodes() {
			inner.WriteString(rendered(c))
		}
		b.WriteString(`<div class="cover-subject">` + inner.String() + "</div>\n")
	} else if d.head.subtitle != "" {
		b.WriteString(`<div class="cover-subject"><p>` + html.EscapeString(d.head.subtitle) + "</p></div>\n")
	}
	b.WriteString("</div>\n<div class=\"cover-foot\">\n")

	if p.meta.Author != "" {
		b.WriteString(`<p class="cover-author">` + html.EscapeString(p.meta.Author) + "</p>\n")
	}

	if d.head.date != "" {
		b.WriteString(`<p class="cover-date">` + html.EscapeString(d.head.date) + "</p>\n")
	}
	b.WriteString("</div>\n</section>\n")
}

// slideCover is the sheet whose cover has type as large as slides have.
func slideCover(s sheet) sheet {
	const larger = 1.5
	s.width, s.height = s.width*larger, s.height*larger

	return s
}

// addCover begins the deck with a title from the front matter.
func (d *deck) addCover() {
	heading := &xhtml.Node{Type: xhtml.ElementNode, Data: "h1", DataAtom: atom.H1}
	heading.AppendChild(&xhtml.Node{Type: xhtml.TextNode, Data: d.page.meta.Title})

	first := slide{
		number:  1,
		kind:    "cover",
		heading: []*xhtml.Node{heading},
		root:    &xhtml.Node{Type: xhtml.ElementNode, Data: "div", DataAtom: atom.Div},
	}
	for i := range d.slides {
		d.slides[i].number++
	}
	d.slides = append([]slide{first}, d.slides...)
}
