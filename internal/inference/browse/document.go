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
	// maxArticleElements is the largest number of elements for which the article of a page is looked up, which takes
	// about 0.1 s. A larger page is shown whole.
	maxArticleElements = 20000
	// minText is the number of characters below which the text of a page with scripts counts as incomplete.
	minText = 250
	// maxAttribute bounds the class and the id of an element, in bytes: readability searches them many times with
	// regular expressions.
	maxAttribute = 512
	// parseTimeout bounds the time of parsing a page, because it can grow with the square of the size of the HTML.
	parseTimeout = 5 * time.Second
)

// document returns the page of an HTML response. It runs the scripts of the page only if there is little text
// without them, or if the HTML cannot be parsed.
func (f *fetcher) document(ctx context.Context, r *response) (*page, error) {
	text, err := decode(r)
	if err != nil {
		return nil, err
	}

	p, scripted, err := parsePage(ctx, text, r.url, r.cut, false)
	if f.render == nil || err == nil && !(scripted && p.hasLittleText()) {
		return p, err
	}

	rendered, renderErr := f.rendered(ctx, r.url)
	if renderErr != nil {
		f.log.InfoContext(
			ctx,
			"could not run the scripts of a page; using its text without them",
			"host",
			r.url.Host,
			"error",
			renderErr,
		)

		return p, err
	}

	return rendered, nil
}

// rendered returns the page after its scripts have run.
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

// hasLittleText reports whether the page has less than minText characters.
func (p *page) hasLittleText() bool {
	chars := 0
	for _, l := range p.lines {
		chars += utf8.RuneCountInString(l)
	}

	return chars < minText
}

// htmlReader reads HTML and returns io.EOF when ctx ends. cut reports whether text is missing.
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

// parsePage reads a page from HTML in UTF-8. cut reports that the text is the beginning of a longer one, and
// scriptsRan that its scripts have run. The result scripted reports whether it has scripts. Errors: PageError.
func parsePage(ctx context.Context, text string, u *url.URL, cut, scriptsRan bool) (p *page, scripted bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, parseTimeout)
	defer cancel()
	in := &htmlReader{ctx, strings.NewReader(text), cut}

	// The content of <noscript> is part of the page only if no scripts have run. The option decides how it is parsed.
	root, err := html.ParseWithOptions(in, html.ParseOptionEnableScripting(scriptsRan))
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

	shown := root
	if facts.elements <= maxArticleElements {
		if node, name := findArticle(root, base); node != nil {
			shown, title = node, cmp.Or(title, name)
		}
	}

	text, links, truncated := textOf(shown, base)
	// Readability may pick a caption or a teaser, so a short article is replaced by the whole page.
	if shown != root && utf8.RuneCountInString(text) < minText {
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

// findArticle returns the article of a page and its title, or nil if it finds none. It recovers from panics:
// hostile HTML must not end the process through a bug of package readability.
func findArticle(root *html.Node, base *url.URL) (node *html.Node, title string) {
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

// facts are the properties of a page that its conversion to text depends on.
type facts struct {
	elements    int
	title, base string
	scripts     bool
}

// collectFacts collects facts, and shortens attributes that readability would take long to search.
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
			// The first <base> counts, as in browsers.
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
