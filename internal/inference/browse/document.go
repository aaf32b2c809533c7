package browse

import (
	"cmp"
	"context"
	"io"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	readability "codeberg.org/readeck/go-readability"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"presswork/internal/fault"
)

const (
	// maxArticle is the largest number of elements for which the article of a page is looked up, which takes about
	// 0.1 s. Of a larger page everything is shown.
	maxArticle = 20000
	// scanty is the number of characters below which the text of a page with scripts is taken to be incomplete.
	scanty = 250
	// maxMark bounds the class and the id of an element, in bytes: readability searches them many times with
	// regular expressions.
	maxMark = 512
	// parsing bounds the time of parsing a page, because the time for 2 MB of HTML can grow with the square of its
	// size.
	parsing = 5 * time.Second
)

// document reads a page from HTML: as it was sent, or with its scripts if it has hardly any text without them.
func (f *fetcher) document(ctx context.Context, r *response) (*page, error) {
	text, err := decode(r)
	if err != nil {
		return nil, err
	}

	p, scripted, err := read(ctx, text, r.url, r.cut, false)
	if f.render == nil || err == nil && !(scripted && p.scanty()) {
		return p, err
	}

	rendered, err2 := f.rendered(ctx, r.url)
	if err2 != nil {
		f.log.InfoContext(ctx, "a page was read without its scripts", "host", r.url.Host, "error", err2)
		return p, err
	}

	return rendered, nil
}

func (f *fetcher) rendered(ctx context.Context, u *url.URL) (*page, error) {
	source, final, err := f.render(ctx, u.String())
	if err != nil {
		return nil, err
	}

	if u, err = f.policy.CheckURL(final); err != nil {
		return nil, err
	}
	cut := len(source) > maxBytes
	p, _, err := read(ctx, source[:min(len(source), maxBytes)], u, cut, true)

	return p, err
}

// scanty reports whether there is hardly any text.
func (p *page) scanty() bool {
	chars := 0
	for _, l := range p.lines {
		chars += utf8.RuneCountInString(l)
	}

	return chars < scanty
}

// bounded is a reader of HTML that fails when its context ends.
type bounded struct {
	ctx  context.Context
	text *strings.Reader
	cut  bool
}

// Read implements io.Reader.
func (s *bounded) Read(p []byte) (int, error) {
	if s.ctx.Err() != nil {
		s.cut = s.cut || s.text.Len() > 0
		return 0, io.EOF
	}

	return s.text.Read(p)
}

// read reads a page from HTML in UTF-8. scripted reports whether it has scripts; ran means that they have run.
func read(ctx context.Context, text string, u *url.URL, cut, ran bool) (p *page, scripted bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, parsing)
	defer cancel()
	in := &bounded{ctx, strings.NewReader(text), cut}

	root, err := html.ParseWithOptions(in, html.ParseOptionEnableScripting(ran))
	if err != nil { // of nesting: whatever else HTML has can be parsed
		return nil, true, fault.Errorf(fault.PageError, "the HTML of %s is nested too deeply to be read", name(u)).
			WithCause(err)
	}
	facts := look(root)

	base := u
	if b, err := u.Parse(facts.base); err == nil && b.Host != "" {
		base = b
	}
	title := facts.title

	whole := root
	if facts.elements <= maxArticle {
		if node, name := article(root, base); node != nil {
			whole, title = node, cmp.Or(title, name)
		}
	}

	text, links, truncated := textOf(whole, base)
	if whole != root && utf8.RuneCountInString(text) < scanty {
		text, links, truncated = textOf(root, base)
	}
	text = cmp.Or(text, "(The page has no text.)")

	return newPage(u.String(), cmp.Or(title, u.Hostname()), text+note(in.cut || truncated), links), facts.scripts, nil
}

// article returns the article of a page, or nil. It recovers from panics: hostile HTML must not bring down the
// process through the rules of readability.
func article(root *html.Node, base *url.URL) (node *html.Node, title string) {
	defer func() {
		if recover() != nil {
			node = nil
		}
	}()

	if !readability.CheckDocument(root) {
		return nil, ""
	}

	found, err := readability.FromDocument(root, base)
	if err != nil {
		return nil, ""
	}

	return found.Node, found.Title
}

// facts are collected in a first pass over a page.
type facts struct {
	elements    int
	title, base string
	scripts     bool
}

// look collects facts, and shortens attributes that readability would search for long.
func look(root *html.Node) (f facts) {
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		f.elements++

		switch n.DataAtom {
		case atom.Title:
			if n.FirstChild == nil {
				continue
			}

			n.FirstChild.Data = inline(n.FirstChild.Data, maxTitle)
			if f.title == "" && n.Parent != nil && n.Parent.DataAtom == atom.Head {
				f.title = n.FirstChild.Data
			}
		case atom.Base:
			if f.base == "" {
				f.base = attr(n, "href")
			}
		case atom.Script:
			kind := attr(n, "type")
			f.scripts = f.scripts || kind == "" || strings.Contains(kind, "javascript") || kind == "module"
		}

		for i, a := range n.Attr {
			if (a.Key == "class" || a.Key == "id") && len(a.Val) > maxMark {
				n.Attr[i].Val = a.Val[:maxMark]
			}
		}
	}

	return f
}
