package markdown

import (
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"presswork/internal/markdown/tree"
)

// slideMark stands in the HTML between two slides. No raw HTML can write it.
const slideMark = "<div data-slide></div>\n"

// Slide is what a slide has beside its content.
type Slide struct {
	// Notes are the speaker's, plain text.
	Notes string
	// Classes are those that Marp's directives name.
	Classes []string
	// Unnumbered reports that Marp's directives hide its number.
	Unnumbered bool
}

// SlideHTML is the HTML of each slide.
func (d *Document) SlideHTML() []string { return strings.Split(d.HTML, slideMark) }

// slideBreak is the place between two slides.
type slideBreak struct {
	ast.BaseBlock
	embed int
}

func (*slideBreak) Kind() ast.NodeKind { return kindSlideBreak }

func (n *slideBreak) Dump(s []byte, level int) { ast.DumpHelper(n, s, level, nil, nil) }

var kindSlideBreak = ast.NewNodeKind("SlideBreak")

type slideRenderer struct{}

func (slideRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(kindSlideBreak, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			tree.WriteEmbed(w, "div", n.(*slideBreak).embed)
			_ = w.WriteByte('\n')
		}

		return ast.WalkSkipChildren, nil
	})
}

var (
	commentForm = regexp.MustCompile(`(?s)<!--(.*?)-->`)
	directive   = regexp.MustCompile(`^\s*_?[A-Za-z]+\s*:`)
	// noteMark begins the speaker's notes as reveal.js spells it.
	noteMark  = regexp.MustCompile(`(?i)^notes?:\s*`)
	className = regexp.MustCompile(`^[a-z][a-z0-9-]{0,40}$`)
)

// directives are Marp's (https://github.com/marp-team/marp-core).
func directives() []string {
	return []string{
		"theme",
		"style",
		"headingDivider",
		"lang",
		"paginate",
		"header",
		"footer",
		"class",
		"backgroundColor",
		"backgroundImage",
		"backgroundPosition",
		"backgroundRepeat",
		"backgroundSize",
		"color",
		"size",
		"math",
		"title",
		"author",
		"description",
		"keywords",
		"url",
		"image",
		"marp",
		"transition",
		"fit",
	}
}

// takeSlides cuts the document where it has rules of its own, or, without any,
// before the headings of the first two levels; comments and what follows "Note:"
// become the notes of their slide.
func (d *draft) takeSlides(root ast.Node) {
	ruled := false
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		ruled = ruled || n.Kind() == ast.KindThematicBreak
	}
	var always Slide // what holds from here on
	current := Slide{}
	noting := false
	next := func() {
		d.slides = append(d.slides, current)
		current = Slide{Classes: slices.Clone(always.Classes), Unnumbered: always.Unnumbered}
		noting = false
	}

	for n := root.FirstChild(); n != nil; {
		following := n.NextSibling()

		heading, isHeading := n.(*ast.Heading)
		switch {
		case n.Kind() == ast.KindThematicBreak:
			tree.Replace(n, &slideBreak{embed: d.embeds.Add(strings.TrimSuffix(slideMark, "</div>\n"))})
			next()
		case !ruled && isHeading && heading.Level <= 2 && n.PreviousSibling() != nil:
			root.InsertBefore(root, n, &slideBreak{embed: d.embeds.Add(strings.TrimSuffix(slideMark, "</div>\n"))})
			next()
		case d.takeComment(n, &current, &always):
			root.RemoveChild(root, n)
		case noting || n.Kind() == ast.KindParagraph && noteMark.MatchString(tree.VisibleText(n, d.src)):
			noting = true
			current.note(noteMark.ReplaceAllString(tree.VisibleText(n, d.src), ""))
			root.RemoveChild(root, n)
		}
		n = following
	}
	next()
}

func (s *Slide) note(text string) {
	if text = strings.TrimSpace(text); text != "" {
		s.Notes = strings.TrimSpace(s.Notes + "\n\n" + text)
	}
}

// takeComment reads a block that is nothing but comments: a directive of Marp, or
// notes.
func (d *draft) takeComment(n ast.Node, current, always *Slide) bool {
	block, ok := n.(*ast.HTMLBlock)
	if !ok {
		return false
	}

	text := string(tree.BlockText(block, d.src, 0))
	if block.HasClosure() {
		text += string(block.ClosureLine.Value(d.src))
	}

	comments := commentForm.FindAllStringSubmatch(text, -1)
	if len(comments) == 0 || strings.TrimSpace(commentForm.ReplaceAllString(text, "")) != "" {
		return false
	}

	for _, c := range comments {
		if !direct(c[1], current, always) {
			current.note(c[1])
		}
	}

	return true
}

// direct follows Marp's directives; those that choose colours and pictures are
// the theme's here. It reports whether the text is made of them.
func direct(text string, current, always *Slide) bool {
	found := false

	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		key, value, _ := strings.Cut(line, ":")

		key, once := strings.CutPrefix(strings.TrimSpace(key), "_")
		if !directive.MatchString(line) || !slices.Contains(directives(), key) {
			return false
		}
		found = true

		targets := []*Slide{current}
		if !once {
			targets = append(targets, always)
		}

		for _, s := range targets {
			switch key {
			case "class":
				s.Classes = SlideClasses(value)
			case "paginate":
				s.Unnumbered = strings.Contains(value, "false") || strings.Contains(value, "skip")
			}
		}
	}

	return found
}

// SlideClasses reads the names of classes.
func SlideClasses(value string) (classes []string) {
	for _, word := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" \t\r\n,[]\"'", r) }) {
		if className.MatchString(word) {
			classes = append(classes, word)
		}
	}

	return classes
}
