package liquid_test

import (
	"strings"
	"testing"

	"presswork/internal/fault"
	"presswork/internal/markdown/dialect/liquid"
	"presswork/internal/markdown/source"
)

func TestRewriteReplacesTemplateTags(t *testing.T) {
	t.Parallel()

	for name, row := range map[string]struct{ text, want string }{
		"admonition":          {"{% note %}\nx\n{% endnote %}", ":::note\nx\n:::"},
		"shortcode":           {"{{< warning >}}\nx\n{{< /warning >}}", ":::warning\nx\n:::"},
		"title":               {"{{% callout type=\"tip\" title=\"A b\" %}}\nx\n{{% /callout %}}", ":::tip A b\nx\n:::"},
		"tab":                 {"{% tab title=\"A\" %}\nx\n{% endtab %}", ":::tab A\nx\n:::"},
		"code":                {"{% highlight go linenos %}\nx\n{% endhighlight %}", "~~~~~~go\nx\n~~~~~~"},
		"code with a fence":   {"{{< highlight >}}\n```go\nx\n```\n{{< /highlight >}}", "\n```go\nx\n```\n"},
		"settings in TOML":    {"{{< code-toggle file=hugo >}}\n[a.b]\nc = 1\n{{< /code-toggle >}}", "~~~~~~toml\n[a.b]\nc = 1\n~~~~~~"},
		"settings in YAML":    {"{{< code-toggle >}}\nc: 1\n{{< /code-toggle >}}", "~~~~~~yaml\nc: 1\n~~~~~~"},
		"version":             {"a: {{< since 2.18 >}} and {{< new-in 0.1 />}}", "a: since 2.18 and new in 0.1"},
		"picture":             {"{{< figure src=\"a.png\" caption=\"C\" >}}", "![C](<a.png> \"C\")"},
		"note within a text":  {"a{% include sidenote.html text=\"b\" %} c", "a^[b] c"},
		"unbalanced note":     {"a{% include sidenote.html text=\"b]\" %} c", "a (b]) c"},
		"comment":             {"a {% comment %}\nb\n{% endcomment %} c", "a \n\n c"},
		"unknown tag":         {"{% odd %}\nx\n{% endodd %}", "\nx\n"},
		"tag within a text":   {"the tag {% odd %} is odd", "the tag {% odd %} is odd"},
		"variable in a link":  {"[a]({{ site.baseurl }}/b)", "[a](/b)"},
		"string in a link":    {"[a]({{ \"/b\" | relative_url }})", "[a](/b)"},
		"escaped shortcode":   {"{{</* note */>}}", "{{< note >}}"},
		"page break":          {"{{< pagebreak >}}", `\newpage`},
		"tag over two lines":  {"{{< figure\n  src=\"a.png\" >}}\nb", "![](<a.png>)\n\nb"},
		"tag in code":         {"`{% note %}`\n\n```\n{% note %}\n```\n", "`{% note %}`\n\n```\n{% note %}\n```\n"},
		"language with marks": {"{% highlight `a %}\nx\n{% endhighlight %}", "~~~~~~\nx\n~~~~~~"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := source.New([]byte(row.text), 1)
			liquid.Rewrite(s)

			if got := string(s.Text()); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func TestDroppedTagsHaveOneWarningForEachName(t *testing.T) {
	t.Parallel()
	s := source.New([]byte("{{< odd >}}\n{{< odd >}}\n{{< other >}}\n"), 5)
	warnings := liquid.Rewrite(s)

	if len(warnings) != 2 || warnings[1] != (fault.Warning{
		Code: fault.SyntaxDropped, Line: 7, Message: "the template tag other is left out",
	}) {
		t.Errorf("warnings %v", warnings)
	}

	if got := strings.TrimSpace(string(s.Text())); got != "" {
		t.Errorf("%q is left", got)
	}
}
