package footnote_test

import (
	"strings"
	"testing"

	"presswork/internal/markdown/ext/footnote"
	"presswork/internal/test/rendered"
)

func TestNotes(t *testing.T) {
	t.Parallel()

	rendered.Check(t, rendered.Rows{
		"footnote": {
			"a[^x] b[^x]\n\n[^x]: c *d*",
			`<p>a<sup id="fnref:1"><a href="#fn:1" class="footnote-ref" role="doc-noteref">1</a></sup> ` +
				"b<sup id=\"fnref1:1\"><a href=\"#fn:1\" class=\"footnote-ref\" role=\"doc-noteref\">1</a></sup></p>\n" +
				"<div class=\"footnotes\" role=\"doc-endnotes\">\n" +
				"<hr>\n<ol>\n<li id=\"fn:1\">\n<p>c <em>d</em>&#160;<a href=\"#fnref:1\" class=\"footnote-backref\" " +
				"role=\"doc-backlink\">↩\ufe0e</a>&#160;<a href=\"#fnref1:1\" class=\"footnote-backref\" " +
				"role=\"doc-backlink\">↩\ufe0e</a></p>\n</li>\n</ol>\n" +
				"</div>",
		},
		"order of references": {
			"[^b] [^a]\n\n[^a]: one\n[^b]: two",
			`<p><sup id="fnref:1"><a href="#fn:1" class="footnote-ref" role="doc-noteref">1</a></sup> ` +
				"<sup id=\"fnref:2\"><a href=\"#fn:2\" class=\"footnote-ref\" role=\"doc-noteref\">2</a></sup></p>\n" +
				"<div class=\"footnotes\" role=\"doc-endnotes\">\n" +
				"<hr>\n<ol>\n<li id=\"fn:1\">\n<p>two&#160;<a href=\"#fnref:1\" class=\"footnote-backref\" " +
				"role=\"doc-backlink\">↩\ufe0e</a></p>\n</li>\n<li id=\"fn:2\">\n" +
				"<p>one&#160;<a href=\"#fnref:2\" class=\"footnote-backref\" role=\"doc-backlink\">↩\ufe0e</a></p>\n" +
				"</li>\n</ol>\n</div>",
		},
		"not referred to": {"a\n\n[^x]: b", "<p>a</p>"},
		"unknown label":   {"a[^x]", "<p>a[^x]</p>"},
		"after an exclamation mark": {
			"a![^x]\n\n[^x]: b",
			`<p>a!<sup id="fnref:1"><a href="#fn:1" class="footnote-ref" ` +
				"role=\"doc-noteref\">1</a></sup></p>\n<div class=\"footnotes\" role=\"doc-endnotes\">\n" +
				"<hr>\n<ol>\n<li id=\"fn:1\">\n<p>b&#160;<a href=\"#fnref:1\" class=\"footnote-backref\" " +
				"role=\"doc-backlink\">↩\ufe0e</a></p>\n</li>\n</ol>\n" +
				"</div>",
		},
		"inline note": {
			"a^[b *c* [d](e)] f",
			`<p>a<sup id="fnref:1"><a href="#fn:1" class="footnote-ref" role="doc-noteref">1</a></sup> ` +
				"f</p>\n<div class=\"footnotes\" role=\"doc-endnotes\">\n" +
				"<hr>\n<ol>\n<li id=\"fn:1\">\n<p>b <em>c</em> <a href=\"e\">d</a>&#160;<a href=\"#fnref:1\" " +
				"class=\"footnote-backref\" role=\"doc-backlink\">↩\ufe0e</a></p>\n" +
				"</li>\n</ol>\n</div>",
		},
		"brackets in code": {
			"a^[b `]` c] d",
			`<p>a<sup id="fnref:1"><a href="#fn:1" class="footnote-ref" role="doc-noteref">1</a></sup> ` +
				"d</p>\n<div class=\"footnotes\" role=\"doc-endnotes\">\n" +
				"<hr>\n<ol>\n<li id=\"fn:1\">\n<p>b <code>]</code> c&#160;<a href=\"#fnref:1\" " +
				"class=\"footnote-backref\" role=\"doc-backlink\">↩\ufe0e</a></p>\n" +
				"</li>\n</ol>\n</div>",
		},
		"regular expression": {"(^[a-z]+)", "<p>(^[a-z]+)</p>"},
		"raised text":        {"x^[1]^", "<p>x^[1]^</p>"},
		"empty note":         {"a^[]", "<p>a^[]</p>"},
		"never closed":       {"a^[b\n\nc]", "<p>a^[b</p>\n<p>c]</p>"},
		"too long": {
			"a^[" + strings.Repeat("b\n", 5000) + "]",
			"<p>a^[" + strings.Repeat("b\n", 5000) + "]</p>",
		},
		"note in a note": {
			"a^[b^[c d] e]",
			`<p>a<sup id="fnref:1"><a href="#fn:1" class="footnote-ref" ` +
				"role=\"doc-noteref\">1</a></sup></p>\n<div class=\"footnotes\" role=\"doc-endnotes\">\n" +
				"<hr>\n<ol>\n<li id=\"fn:1\">\n<p>b<sup id=\"fnref:2\"><a href=\"#fn:2\" class=\"footnote-ref\" " +
				`role="doc-noteref">2</a></sup> e&#160;<a href="#fnref:1" class="footnote-backref" ` +
				"role=\"doc-backlink\">↩\ufe0e</a></p>\n</li>\n<li id=\"fn:2\">\n" +
				"<p>c d&#160;<a href=\"#fnref:2\" class=\"footnote-backref\" role=\"doc-backlink\">↩\ufe0e</a></p>\n" +
				"</li>\n</ol>\n</div>",
		},
	}, nil, footnote.Extension{})
}
