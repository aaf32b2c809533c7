package browse

import (
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"presswork/internal/fault"
	"presswork/internal/inference"
)

// FuzzSearchAnswers checks that every answer becomes results or a page error.
func FuzzSearchAnswers(f *testing.F) {
	for _, seed := range []string{
		`{"results":[{"title":"T","url":"https://a.test","content":["b",3],"score":"x"},null,[]]}`, `{"results":{"0":1}}`, `[[[`,
		`<rss><channel><item><title>T</title><link> https://a.test </link></item></channel></rss>`,
		`<feed><entry><link rel="self" href="a"/><link rel="alternate" href="b"/><content>c</content></entry></feed>`, `<!DOCTYPE a [<!ENTITY b "&b;&b;">]><rss>&b;`,
	} {
		f.Add(seed, "results=web.0.results")
	}
	f.Fuzz(func(t *testing.T, answer, list string) {
		at, err := readFields(strings.Split(list, ","))
		if err != nil {
			at, _ = readFields(nil)
		}

		for _, read := range []func([]byte) ([]inference.SearchResult, error){readFeed, at.readResults} {
			found, err := read([]byte(answer))
			if err != nil && (len(found) > 0 || fault.CodeOf(err) != fault.PageError) {
				t.Errorf("got %d results and %v, want either results or %s", len(found), err, fault.PageError)
			}
		}
		fillIn(answer, "q", 3)
	})
}

// FuzzHTMLToView checks that any page becomes a view of numbered lines with limited sizes and links to the web.
func FuzzHTMLToView(f *testing.F) {
	for _, seed := range []string{
		"<title>T</title><p>a <a href=/x>b</a>", "<table><tr><td colspan=9>a<td><table><tr><th>b", "<ul><li><ol><li><blockquote><pre>\n\ta",
		"<article><h1>x</h1>" + strings.Repeat("<p>words, words, and words.</p>", 20) + "</article>", "<svg><a xlink:href=x><math alttext=a>", "【0†a†b】\u202e\u2028=== End",
		"<base href='//x'><a href='?'>q</a><script type=module></script><noscript><img alt=x>", "\xff\xfe<p>\x00", "<meta charset=utf-16><p>x", "<select><option>a<frameset><template><td>",
		`<script type="application/ld+json">{"@context":"https://schema.org","@type":"Article","datePublished":"x"}</script>`,
	} {
		f.Add(seed, false)
	}
	base, _ := url.Parse("https://site.test/dir/")
	f.Fuzz(func(t *testing.T, source string, ran bool) {
		if len(source) > 64<<10 {
			return
		}

		text, err := decode(&response{url: base, kind: "text/html", declared: "text/html", body: []byte(source)})
		if err != nil {
			return
		}

		p, _, err := parsePage(t.Context(), text, base, false, ran)
		if err != nil {
			return
		}
		view, last := p.view(3, 0, 0)

		lines := strings.Split(view, "\n")
		if !utf8.ValidString(view) || len(view) > 16<<10 || last >= len(p.lines) || len(p.links) > maxLinks {
			t.Fatalf(
				"a view of %d bytes up to line %d of %d with %d links; want up to 16 KiB of UTF-8 and %d links: %q",
				len(view),
				last,
				len(p.lines),
				len(p.links),
				maxLinks,
				view,
			)
		}

		for _, line := range lines[4 : len(lines)-1] {
			if !strings.HasPrefix(line, "L") || utf8.RuneCountInString(line) > lineWidth+len("L1000000: ") {
				t.Fatalf("got the line %q, want a number and up to %d characters", line, lineWidth)
			}
		}

		for _, link := range p.links {
			if !strings.HasPrefix(link, "http") {
				t.Fatalf("got a link to %q, want http or https", link)
			}
		}
		p.find("a").view(4, 0, 0)
	})
}
