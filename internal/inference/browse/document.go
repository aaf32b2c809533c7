package browse

import (
	"context"
	"net/url"
	"strings"
	"unicode/utf8"

	readability "codeberg.org/readeck/go-readability"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"presswork"
)

const (
	// maxArticle is how many elements a page may have in which an article is looked
	// for: that takes about 0.1 s for as many, and the whole of it is shown else.
	maxArticle = 20000
	// scanty is the text, in characters, below which a page with scripts is taken
	// to be made by them.
	scanty = 250
	// maxMark is the longest class or id that is looked at, in bytes: readability
	// searches them with expressions, many times.
	maxMark = 512
)

// document makes a page of HTML: as it was sent or, where that has hardly any
// text, as its scripts make it.
func (f *fetcher) document(ctx context.Context, r *response) (*page, error) {
	text, err := decode(r)
	if err != nil {
		return nil, err
	}
	p, scripted, err := read(text, r.url, r.cut, false)
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
	p, _, err := read(source[:min(len(source), maxBytes)], u, cut, true)
	return p, err
}

// scanty reports that there is hardly any text.
func (p *page) scanty() bool {
	chars := 0
	for _, l := range p.lines {
		chars += utf8.RuneCountInString(l)
	}
	return chars < scanty
}

// read makes a page of HTML in UTF-8. scripted reports that it has scripts; ran
// that they did run.
func read(source string, u *url.URL, cut, ran bool) (p *page, scripted bool, err error) {
	root, err := html.ParseWithOptions(strings.NewReader(source), html.ParseOptionEnableScripting(ran))
	if err != nil { // of nesting: whatever else HTML has can be parsed
		return nil, true, presswork.Errorf(presswork.PageError, "the HTML of %s is nested too deeply to be read", name(u)).WithCause(err)
	}
	facts := look(root)
	base := u
	if b, err := u.Parse(facts.base); err == nil && b.Host != "" {
		base = b
	}
	title := facts.title
	var text string
	var links []string
	whole := root
	if facts.elements <= maxArticle && readability.CheckDocument(root) {
		if article, err := readability.FromDocument(root, base); err == nil && article.Node != nil {
			if title == "" {
				title = article.Title
			}
			whole = article.Node
		}
	}
	text, links, truncated := textOf(whole, base)
	if whole != root && utf8.RuneCountInString(text) < scanty {
		text, links, truncated = textOf(root, base)
	}
	if title == "" {
		title = u.Hostname()
	}
	if text == "" {
		text = "(The page has no text.)"
	}
	return newPage(u.String(), title, text+note(cut || truncated), links), facts.scripts, nil
}

// facts are what a first look at a page tells.
type facts struct {
	elements    int
	title, base string
	scripts     bool
}

// look collects facts, and shortens what readability would search at length.
func look(root *html.Node) (f facts) {
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		f.elements++
		switch n.DataAtom {
		case atom.Title:
			if f.title == "" && n.Parent != nil && n.Parent.DataAtom == atom.Head && n.FirstChild != nil {
				f.title = inline(n.FirstChild.Data, maxTitle)
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
