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
	// 0.1 s. A larger page is shown whole.
	maxArticle = 20000
	// littleText is the number of characters below which the text of a page with scripts counts as incomplete.
	littleText = 250
	// maxAttribute bounds the class and the id of an element, in bytes: readability searches them many times with
	// regular expressions.
	maxAttribute = 512
	// parseTimeout bounds the time of parsing a page, because the time for 2 MB of HTML can grow with the square of its
	// size.
	parseTimeout = 5 * time.Second
)

// document returns the page of an HTML response. It runs the page's scripts only if there is little text without
// them.
func (f *fetcher) document(ctx context.Context, r *response) (*page, error) {
	text, err := decode(r)
	if err != nil {
		return nil, err
	}

	p, scripted, err := parsePage(ctx, text, r.url, r.cut, false)
	if f.render == nil || err == nil && !(scripted && p.hasLittleText()) {
		return p, err
	}

	rendered, err2 := f.rendered(ctx, r.url)
	if err2 != nil {
		f.log.InfoContext(
			ctx,
			"could not run the scripts of a page; using its text without them",
			"host",
			r.url.Host,
			"error",
			err2,
		)

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
	p, _, err := parsePage(ctx, source[:min(len(source), maxBytes)], u, cut, true)

	return p, err
}

// hasLittleText reports whether the page has less than littleText characters.
func (p *page) hasLittleText() bool {
	chars := 0
	for _, l := range p.lines {
		chars += utf8.RuneCountInString(l)
	}

	return chars < littleText
}

// htmlReader is a reader of HTML that fails when its context ends.
type htmlReader struct {
	ctx  context.Context
	text *strings.Reader
	cut  bool
}

// Read implements io.Reader.
func (s *htmlReader) Read(p []byte) (int, error) {
	if s.ctx.Err() != nil {
		s.cut = s.cut || s.text.Len() > 0
		return 0, io.EOF
	}

	return s.text.Read(p)
}

// parsePage reads a page from HTML in UTF-8. cut says that the text is the beginning of a longer one, ran that its
// scripts have run. scripted reports whether it has scripts.
func parsePage(ctx context.Context, text string, u *url.URL, cut, ran bool) (p *page, scripted bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, parseTimeout)
	defer cancel()
	in := &htmlReader{ctx, strings.NewReader(text), cut}

	root, err := html.ParseWithOptions(in, html.ParseOptionEnableScripting(ran))
	if err != nil { // the parser fails only for deep nesting
		return nil, true, fault.Errorf(fault.PageError, "the HTML of %s is nested too deeply to be read", shortName(u)).
			WithCause(err)
	}
	facts := collectFacts(root)

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
	if whole != root && utf8.RuneCountInString(text) < littleText {
		text, links, truncated = textOf(root, base)
	}
	text = cmp.Or(text, "(The page has no text.)")

	return newPage(
		u.String(),
		cmp.Or(title, u.Hostname()),
		text+truncationNote(in.cut || truncated),
		links,
	), facts.scripts, nil
}

// article returns the article of a page, or nil. It recovers from panics: hostile HTML must not end the process
// through a bug of package readability.
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

// collectFacts collects facts, and shortens attributes that readability would search for long.
func collectFacts(root *html.Node) (f facts) {
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
			if (a.Key == "class" || a.Key == "id") && len(a.Val) > maxAttribute {
				n.Attr[i].Val = a.Val[:maxAttribute]
			}
		}
	}

	return f
}
