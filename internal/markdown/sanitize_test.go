package markdown_test

import (
	"strings"
	"testing"

	"presswork/internal/markdown"
)

// Raw HTML with an element that is removed must not remove the text after it.
func TestRawHTMLDoesNotRemoveWhatFollows(t *testing.T) {
	t.Parallel()

	for _, src := range []string{
		"use the <script> tag", "use **the <script> tag**", "[a <title> of](#b)", "| a |\n|---|\n| *b <style>* |", "# *a <textarea>*",
		"<svg>", "<svg><svg></svg>", "a <svg><svg></svg> b", "<object><object></object>", "a </svg> b\n\n<svg>c</svg>",
		"<video>\n\na\n\n</video>\n\n<svg>b</svg>", "<svg></svgx>", "<svg title='</svg>'>", "<svg><!-- </svg> -->", "<svg\n", "*<svg>* a </svg>",
		"<plaintext>a</plaintext>", "<iframe/>", "<title/>", "<svg/>", "<math></math><svg>", "<SCRIPT>a\n\nb</SCRIPT>", "<video><svg></video></svg>",
	} {
		t.Run(src, func(t *testing.T) {
			d := render(t, src+"\n\nThe end, *not* set in italics.\n", markdown.Options{})
			if !strings.HasSuffix(d.HTML, "\n<p>The end, <em>not</em> set in italics.</p>\n") ||
				strings.Count(d.HTML, "<em>") != strings.Count(d.HTML, "</em>") {
				t.Errorf("%q: %s", src, d.HTML)
			}
		})
	}

	d := render(t, "a <svg>b *c*</svg> <script>d</script> **<title>e</title>** f", markdown.Options{})
	if d.HTML != "<p>a   <strong></strong> f</p>\n" {
		t.Errorf("got %s", d.HTML)
	}
}
