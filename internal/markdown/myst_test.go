package markdown_test

import (
	"strings"
	"testing"
	"time"

	"presswork/internal/fault"
	"presswork/internal/markdown"
	"presswork/internal/test/cputime"
)

// The include directives of MyST print the part of a file that they name, as text or as code with their options.
func TestDirectivesIncludeFiles(t *testing.T) {
	t.Parallel()

	files := folder(
		map[string]string{
			"a.md":     "one\n\n```{note}\n*two*\n```\n\n% START\nthree\n% END\n",
			"sub/b.py": "a = 1\nb = 2\n# ```\nc = 3\n",
		},
	)

	for source, want := range map[string]string{
		"```{include} a.md\n```":                                                    "<p>one</p>\n<div class=\"alert alert-note\">\n<p class=\"alert-title\">Note</p>\n<p><em>two</em></p>\n</div>\n<p>three</p>\n",
		"```{include} a.md\n:end-line: 2\n```":                                      "<p>one</p>\n",
		"```{include} a.md\n:start-line: -3\n:end-line: -90\n```":                   "",
		"```{include} a.md\n:start-after: START\n:end-before: END\n```\n\n% {note}": "<p>three</p>\n<p>% {note}</p>\n",
		"- x\n\n  ```{literalinclude} sub/b.py\n  :lines: 2-1,3-,1\n  :language: text\n  :caption: A \"file\" of `code`\n  ```\n": "<ul>\n<li>\n<p>x</p>\n<figure class=\"code-figure\"><figcaption class=\"code-title\">A &#39;file&#39; of code</figcaption>\n<pre class=\"chroma keep\"><code class=\"language-text\">a = 1\n# ```\nc = 3\n</code></pre>\n</figure>\n</li>\n</ul>\n",
		"```{include} sub/b.py\n:code: text\n:start-at: b =\n:end-at: '```'\n```":                                                 "<pre class=\"chroma keep\"><code class=\"language-text\">b = 2\n# ```\n</code></pre>\n",
	} {
		t.Run(source, func(t *testing.T) {
			if d := render(t, source, markdown.Options{Include: files}); d.HTML != want || len(d.Warnings) > 0 {
				t.Errorf("%q: got %q %v, want %q", source, d.HTML, d.Warnings, want)
			}
		})
	}

	for _, o := range []markdown.Options{{}, {Include: files}} { // the name of a missing file is printed
		d := render(t, "```{literalinclude} none.py\n```\n", o)
		if !strings.Contains(d.HTML, "none.py") || len(d.Warnings) == 0 {
			t.Errorf("without the file: got %q %v", d.HTML, d.Warnings)
		}
	}
}

// The fence around the file must be longer than any fence in it.
func TestAFileOfFencesIsIncludedInBoundedTime(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a\n", 200_000) + strings.Repeat("`", 200_000) + "\n"
	var d markdown.Document

	took := cputime.Of(func() {
		d = render(
			t,
			"```{literalinclude} a.txt\n```\n",
			markdown.Options{Include: folder(map[string]string{"a.txt": text})},
		)
	})
	if !strings.Contains(d.HTML, "<code class=\"language-txt\">a\na\n") || strings.Count(d.HTML, "`") != 200_000 ||
		took > 10*time.Second {
		t.Errorf("%d bytes after %s: %.100q", len(d.HTML), took, d.HTML)
	}
}

// Substitutions come from the front matter. One alone on its line may contain blocks.
func TestSubstitutionsReplaceTheirNames(t *testing.T) {
	t.Parallel()

	d := render(
		t,
		"It is {{ key }}, `{{`, {{ other }}.\n\n{{ block }}\n\n```\n{{ key }}\n```\n\n{{loop}}\n\n![](x.png)\n",
		markdown.Options{FirstLine: 12, Substitutions: map[string]string{
			"key":   "a *word*",
			"block": "```{tip}\n{{ key }}\n```\n",
			"loop":  "{{loop}} {{loop}}",
		}},
	)
	for _, want := range []string{
		"<p>It is a <em>word</em>, <code>{{</code>, {{ other }}.</p>",
		"<div class=\"alert alert-tip\">\n<p class=\"alert-title\">Tip</p>\n<p>a <em>word</em></p>\n</div>",
		"<pre class=\"chroma keep\"><code>{{ key }}\n</code></pre>",
	} {
		if !strings.Contains(d.HTML, want) {
			t.Errorf("got %q, want %q in it", d.HTML, want)
		}
	}

	if len(d.HTML) > 10_000 {
		t.Errorf("a substitution that contains itself twice became %d bytes", len(d.HTML))
	}

	if len(d.Warnings) != 2 || d.Warnings[0].Line != 22 || d.Warnings[0].Code != fault.AltMissing {
		t.Errorf("warnings %v", d.Warnings)
	}
}
