package markdown

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/source"
	"presswork/internal/markdown/tree"
)

// slideMark separates slides in the HTML. The sanitiser removes it from raw HTML.
const slideMark = "<div data-slide></div>\n"

// Slide describes a slide. Document.SlideHTML has its content.
type Slide struct {
	// Notes are the speaker notes as plain text.
	Notes string
	// Classes are the classes from the directives of Marp.
	Classes []string
	// Unnumbered reports whether the directives of Marp hide the number of the slide.
	Unnumbered bool
	// Line is the line of the file on which the content begins, 0 if it is empty.
	Line int
}

var (
	// commentForm matches a comment, directive the start of a line that may be a directive of Marp.
	commentForm = lazyregexp.New(`(?s)<!--(.*?)-->`)
	directive   = lazyregexp.New(`^\s*_?[A-Za-z]+\s*:`)
	// noteMark matches the start of speaker notes in the syntax of reveal.js.
	noteMark = lazyregexp.New(`(?i)^notes?:\s*`)
	// className matches the classes that directives may set.
	className = lazyregexp.New(`^[a-z][a-z0-9-]{0,40}$`)
	// setting matches a line of a slide's front matter, such as "layout: two-cols". A capital letter, as in "Note: text",
	// begins a heading instead. slot matches Slidev's mark for a part of the layout, such as "::right::".
	setting = lazyregexp.New(`^[a-z][\w-]*:(?:\s|$)`)
	slot    = lazyregexp.New(`^::[a-z][a-z-]*::$`)
)

// directives lists the directives of Marp (https://github.com/marp-team/marp-core).
func directives() []string {
	return []string{
		"theme", "style", "headingDivider", "lang", "paginate", "header", "footer", "class",
		"backgroundColor", "backgroundImage", "backgroundPosition", "backgroundRepeat", "backgroundSize",
		"color", "size", "math", "title", "author", "description", "keywords", "url", "image", "marp",
		"transition", "fit",
	}
}

// slideCutter cuts a document into slides.
type slideCutter struct {
	src    []byte
	embeds *tree.Embeds
	lines  *source.Lines
	slides []Slide
	// current is the slide that is being read.
	current Slide
	// always has the classes and the numbering that directives set for all later slides.
	always Slide
	// inNotes reports whether the rest of the slide is speaker notes.
	inNotes bool
}

// cutSlides puts marks between the slides and returns their descriptions. Slides end at thematic breaks or, in a
// document without any, before headings of the first two levels. Comments, and the text of a slide from "Note:" on,
// become speaker notes.
func cutSlides(root ast.Node, src []byte, lines *source.Lines, embeds *tree.Embeds) []Slide {
	c := &slideCutter{src: src, lines: lines, embeds: embeds}

	ruled := false
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		ruled = ruled || n.Kind() == ast.KindThematicBreak
	}

	for n := root.FirstChild(); n != nil; {
		following := n.NextSibling()

		heading, isHeading := n.(*ast.Heading)
		switch {
		case n.Kind() == ast.KindThematicBreak:
			tree.Replace(n, c.newMark())
			c.endSlide()
		case !ruled && isHeading && heading.Level <= 2 && n.PreviousSibling() != nil:
			root.InsertBefore(root, n, c.newMark())
			c.endSlide()
		case c.takeComments(n) || n.Kind() == ast.KindParagraph && slot().Match(bytes.TrimSpace(tree.BlockText(n, src, 0))):
			root.RemoveChild(root, n)
		case c.inNotes || n.Kind() == ast.KindParagraph && noteMark().MatchString(tree.VisibleText(n, src)):
			c.inNotes = true
			c.current.addNotes(noteMark().ReplaceAllString(tree.VisibleText(n, src), ""))
			root.RemoveChild(root, n)
		}

		if c.current.Line == 0 && n.Parent() != nil {
			c.current.Line = c.lines.At(startOf(n))
		}
		n = following
	}
	c.endSlide()

	return c.slides
}

// dropSlideSettings removes the front matter of single slides, a feature of Slidev (https://sli.dev/guide/syntax).
// In a document that is not slides, it removes only front matter with a layout.
func dropSlideSettings(root ast.Node, src []byte, slides bool) {
	for n := root.FirstChild(); n != nil; {
		following := n.NextSibling()
		heading, ok := n.(*ast.Heading)
		rule := n.PreviousSibling()

		// goldmark reads the settings of a slide, between two lines of ---, as a rule and a heading that the second
		// line underlines.
		if ok && heading.Level == 2 && rule != nil && rule.Kind() == ast.KindThematicBreak &&
			isSlideSettings(heading, src, slides) {
			root.RemoveChild(root, n)
		}
		n = following
	}
}

// isSlideSettings reports whether a heading is front matter: it begins on the line below a rule, and all its lines
// are settings.
func isSlideSettings(heading *ast.Heading, src []byte, slides bool) bool {
	lines := heading.Lines()
	if lines.Len() == 0 || !bytes.HasSuffix(src[:lines.At(0).Start], []byte("---\n")) {
		return false
	}

	for i := range lines.Len() {
		segment := lines.At(i)
		line := segment.Value(src)

		if !setting().Match(line) {
			return false
		}
		slides = slides || bytes.HasPrefix(line, []byte("layout:"))
	}

	return slides
}

// newMark returns the node for slideMark. It is an embed, because the sanitiser removes the attribute.
func (c *slideCutter) newMark() ast.Node {
	return &embeddedDiv{embed: c.embeds.Add(strings.TrimSuffix(slideMark, "</div>\n"))}
}

// endSlide ends the current slide and begins another, with the settings of always.
func (c *slideCutter) endSlide() {
	c.slides = append(c.slides, c.current)
	c.current = Slide{Classes: slices.Clone(c.always.Classes), Unnumbered: c.always.Unnumbered}
	c.inNotes = false
}

// addNotes adds a paragraph to the speaker notes.
func (s *Slide) addNotes(text string) {
	if text = strings.TrimSpace(text); text != "" {
		s.Notes = strings.TrimSpace(s.Notes + "\n\n" + text)
	}
}

// takeComments reads a block that consists of comments: directives of Marp or speaker notes. It reports whether n is
// such a block, which the caller then removes.
func (c *slideCutter) takeComments(n ast.Node) bool {
	block, ok := n.(*ast.HTMLBlock)
	if !ok {
		return false
	}

	text := string(tree.HTMLText(block, c.src))

	comments := commentForm().FindAllStringSubmatch(text, -1)
	if len(comments) == 0 || strings.TrimSpace(commentForm().ReplaceAllString(text, "")) != "" {
		return false
	}

	for _, m := range comments {
		if !c.followDirectives(m[1]) {
			c.current.addNotes(m[1])
		}
	}

	return true
}

// followDirectives applies the directives of Marp in a comment and reports whether it consists of them. Only those
// for classes and numbers have an effect: themes choose colours and images. A name that begins with _ limits the
// directive to the current slide.
func (c *slideCutter) followDirectives(text string) bool {
	found := false

	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		key, value, _ := strings.Cut(line, ":")

		key, once := strings.CutPrefix(strings.TrimSpace(key), "_")
		if !directive().MatchString(line) || !slices.Contains(directives(), key) {
			return false
		}
		found = true

		c.current.set(key, value)

		if !once {
			c.always.set(key, value)
		}
	}

	return found
}

// set applies one directive of Marp.
func (s *Slide) set(key, value string) {
	switch key {
	case "class":
		s.Classes = SlideClasses(value)
	case "paginate":
		s.Unnumbered = strings.Contains(value, "false") || strings.Contains(value, "skip")
	}
}

// SlideClasses returns the valid class names in the value of Marp's class directive.
func SlideClasses(value string) (classes []string) {
	isSeparator := func(r rune) bool { return strings.ContainsRune(" \t\r\n,[]\"'", r) }
	for word := range strings.FieldsFuncSeq(value, isSeparator) {
		if className().MatchString(word) {
			classes = append(classes, word)
		}
	}

	return classes
}
