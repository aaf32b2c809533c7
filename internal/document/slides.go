package document

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"

	xhtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"presswork"
	"presswork/internal/document/markup"
	"presswork/internal/document/metadata"
	"presswork/internal/imagetype"
	"presswork/internal/lazyregexp"
	"presswork/internal/markdown"
	"presswork/internal/pdffile/pack"
	"presswork/themes"
)

var (
	//go:embed slides.css
	slidesCSS string
	// slidesWebCSS is for slides that are read in a browser.
	//go:embed slidesweb.css
	slidesWebCSS string
)

// slideSheet returns the stylesheet of slides on paper.
var slideSheet = sync.OnceValue(func() *themes.Stylesheet {
	return themes.ParseStylesheet(printCSS + paperCSS + syntaxCSS + slidesCSS)
})

// slideWebSheet returns the stylesheet of slides in HTML.
var slideWebSheet = sync.OnceValue(func() *themes.Stylesheet {
	return themes.ParseStylesheet(printCSS + paperCSS + syntaxCSS + webCSS + slidesCSS + slidesWebCSS)
})

// fitSlides makes the text of a crowded slide a little smaller. It moves content that still does not fit to further
// slides with the same heading.
//
//go:embed slides.js
var fitSlides string

// The two common sizes of slides: 13.333 × 7.5 and 10 × 7.5 inches.
const (
	wideSlide   = "338.667mm x 190.5mm"
	narrowSlide = "254mm x 190.5mm"
)

// asSlides reports whether a document is a deck of slides.
func asSlides(o presswork.Options) bool { return o.As == "slides" }

// deckOptions returns the options of a document that may be a deck. A deck for Marp gets the options of its front
// matter, and every deck the size of slides.
func deckOptions(o presswork.Options, deck metadata.Deck) presswork.Options {
	if o.As == "" && deck.Marp == "true" {
		o.As = "slides"
	}

	if !asSlides(o) {
		return o
	}

	if o.PageSize == "" && o.Landscape == nil {
		o.PageSize = wideSlide
		if deck.Size == "4:3" {
			o.PageSize = narrowSlide
		}
	}

	o.MarginPreset, o.Margins, o.Scale = "none", presswork.Margins{}, nil
	if deck.Marp == "true" {
		// Marp knows no placeholders, so braces in its header and footer are text.
		if o.HeaderText == nil && deck.Header != "" {
			o.HeaderText = new(strings.NewReplacer("{", "(", "}", ")").Replace(deck.Header))
		}

		if o.FooterText == nil && deck.Footer != "" {
			o.FooterText = new(strings.NewReplacer("{", "(", "}", ")").Replace(deck.Footer))
		}
	}

	return o
}

// slide is one slide while its kind and content are determined.
type slide struct {
	markdown.Slide
	number  int
	root    *xhtml.Node // its content
	heading []*xhtml.Node
	kind    string // cover, section, full, image, statement, code, table or content
	bg      string // the background pictures as HTML, "" for none
	side    string // the side of the slide that they take: left or right, "" for the whole slide
	share   string // the part of the width that they take, in percent; "" for the default of the stylesheet
}

// deck is a document as slides.
type deck struct {
	page   page
	head   titleBlock    // the title block, for the cover
	marp   metadata.Deck // the settings of Marp
	slides []slide
}

// deckOf cuts a rendered document into slides. It leaves out slides without content, picture and notes.
func deckOf(p page, head titleBlock, marp metadata.Deck, body markdown.Document) deck {
	d := deck{page: p, head: head, marp: marp}

	for i, part := range body.SlideHTML() {
		s := slide{root: &xhtml.Node{Type: xhtml.ElementNode, Data: "div", DataAtom: atom.Div}}
		if i < len(body.Slides) {
			s.Slide = body.Slides[i]
		}

		if len(s.Classes) == 0 {
			s.Classes = markdown.SlideClasses(marp.Class)
		}
		body := &xhtml.Node{Type: xhtml.ElementNode, Data: "body", DataAtom: atom.Body}

		nodes, _ := xhtml.ParseFragment(strings.NewReader(part), body) // content that has been rendered can be parsed
		for _, n := range nodes {
			s.root.AppendChild(n)
		}
		s.takePictures()

		if s.bg == "" && s.empty() && s.Notes == "" {
			continue
		}
		s.number = len(d.slides) + 1
		s.classify(s.number == 1)
		d.slides = append(d.slides, s)
	}

	return d
}

// empty reports whether the slide has no content besides its heading.
func (s *slide) empty() bool { return len(blocksOf(s.root)) == 0 }

// blocksOf returns the elements of a slide's content.
func blocksOf(root *xhtml.Node) (blocks []*xhtml.Node) {
	for c := range root.ChildNodes() {
		if c.Type == xhtml.ElementNode {
			blocks = append(blocks, c)
		}
	}

	return blocks
}

var (
	// pictureShare and pictureSize match words in the alternative text of Marp's images: left:33%, w:300.
	pictureShare = lazyregexp.New(`^(left|right)(?::([1-9][0-9]?)%)?$`)
	pictureSize  = lazyregexp.New(`^(w|width|h|height):([0-9]{1,4})(?:px)?$`)
)

// takePictures evaluates Marp's keywords in the descriptions of images. bg makes an image the background of the slide
// or of one side; w:300 and h:200 are its size in pixels.
func (s *slide) takePictures() {
	var behind []*xhtml.Node
	fit := ""

	for n := range s.root.Descendants() {
		if n.DataAtom != atom.Img {
			continue
		}
		setSize(n)
		words := strings.Fields(attributeOf(n, "alt"))
		var rest []string
		bg := false

		for _, w := range words {
			side, size := pictureShare().FindStringSubmatch(w), pictureSize().FindStringSubmatch(w)
			switch {
			case w == "bg":
				bg = true
			case bg && side != nil:
				s.side, s.share = side[1], side[2]
			case bg && (w == "fit" || w == "contain"):
				fit = " contain"
			case bg && (w == "cover" || w == "auto" || w == "vertical"):
			case size != nil && size[1][0] == 'w':
				setAttribute(n, "width", size[2])
				dropAttribute(n, "height")
			case size != nil:
				setAttribute(n, "height", size[2])
				dropAttribute(n, "width")
			default:
				rest = append(rest, w)
			}
		}
		setAttribute(n, "alt", strings.Join(rest, " "))

		if bg {
			behind = append(behind, n)
		}
	}

	for _, n := range behind {
		parent := n.Parent
		parent.RemoveChild(n)

		// Remove the elements around it that are empty now.
		for parent != s.root && parent.FirstChild == nil {
			up := parent.Parent
			up.RemoveChild(parent)
			parent = up
		}
		s.bg += rendered(n)
	}

	if s.bg != "" {
		var w markup.Writer
		w.Open("div", "class", "slide-bg"+fit+" "+s.side, "style", s.shareStyle()).Raw(s.bg).Close("div")
		s.bg = w.String()
	}
}

// shareStyle returns the style of a slide whose background pictures take a share of its width, otherwise "".
func (s slide) shareStyle() string {
	if s.share == "" {
		return ""
	}

	return "--bg:" + s.share + "%"
}

// setSize sets the size of an embedded image from its bytes, because the text is measured before the image is decoded.
func setSize(n *xhtml.Node) {
	src := attributeOf(n, "src")
	if attributeOf(n, "width") != "" || attributeOf(n, "height") != "" || !strings.HasPrefix(src, "data:") {
		return
	}

	data, err := imagetype.ReadDataURI(src)
	if err != nil {
		return
	}

	if info, err := imagetype.Inspect(data); err == nil && info.Width > 0 && info.Height > 0 {
		setAttribute(n, "width", strconv.FormatUint(info.Width, 10))
		setAttribute(n, "height", strconv.FormatUint(info.Height, 10))
	}
}

// classify determines the kind of the slide by its content, and moves its leading heading from the content to heading.
func (s *slide) classify(first bool) {
	blocks := blocksOf(s.root)
	for len(blocks) > 0 && isHeadingNode(blocks[0]) && len(s.heading) == 0 {
		s.heading = append(s.heading, blocks[0])
		s.root.RemoveChild(blocks[0])
		blocks = blocks[1:]
	}
	short := func(n *xhtml.Node, characters int) bool { return len([]rune(textOfNode(n))) <= characters }

	onlyText := true
	for _, b := range blocks {
		onlyText = onlyText && (b.DataAtom == atom.P || isHeadingNode(b)) && !holdsImage(b)
	}

	switch {
	// The first slide is a cover if it has one heading of level 1, at most four blocks of text and no picture.
	case first && len(s.heading) == 1 && s.heading[0].DataAtom == atom.H1 && onlyText && len(blocks) <= 4 && s.bg == "":
		s.kind = "cover"
	// A heading alone begins a section; so does one of level 1 with a short text.
	case len(s.heading) == 1 && s.bg == "" &&
		(len(blocks) == 0 ||
			len(blocks) == 1 && onlyText && s.heading[0].DataAtom == atom.H1 && short(blocks[0], 140)):
		s.kind = "section"
	// A picture without a heading and a caption fills the slide.
	case len(blocks) == 1 && holdsImage(blocks[0]) && strings.TrimSpace(captionless(blocks[0])) == "" &&
		len(s.heading) == 0 && s.bg == "":
		s.kind = "full"
	case len(blocks) == 1 && (hasClassOf(blocks[0], "diagram") ||
		holdsImage(blocks[0]) && strings.TrimSpace(captionless(blocks[0])) == ""):
		s.kind = "image"
	// A short paragraph or quotation without a heading is a statement.
	case len(blocks) == 1 && len(s.heading) == 0 &&
		(blocks[0].DataAtom == atom.Blockquote || blocks[0].DataAtom == atom.P) &&
		short(blocks[0], 260) && !holdsImage(blocks[0]):
		s.kind = "statement"
	case len(blocks) == 1 && (blocks[0].DataAtom == atom.Pre || hasClassOf(blocks[0], "code-figure")):
		s.kind = "code"
	case len(blocks) == 1 && blocks[0].DataAtom == atom.Table:
		s.kind = "table"
	default:
		s.kind = "content"
	}
}

// holdsImage reports whether n is or contains an image.
func holdsImage(n *xhtml.Node) bool {
	for d := range n.Descendants() {
		if d.DataAtom == atom.Img {
			return true
		}
	}

	return n.DataAtom == atom.Img
}

// captionless returns the text of a block without its caption.
func captionless(n *xhtml.Node) string {
	var b strings.Builder

	for c := range n.ChildNodes() {
		if c.DataAtom != atom.Figcaption {
			b.WriteString(textOfNode(c))

			if c.Type == xhtml.TextNode {
				b.WriteString(c.Data)
			}
		}
	}

	return b.String()
}

// notes returns the speaker notes, which become comments on the pages of their slides.
func (d deck) notes() (notes []pack.Note) {
	for _, s := range d.slides {
		if s.Notes != "" {
			notes = append(notes, pack.Note{Anchor: s.id(), Text: s.Notes})
		}
	}

	return notes
}
