package markdown_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"presswork/internal/markdown"
	"presswork/internal/markdown/dialect"
)

// hostile lists HTML that runs scripts or loads something.
func hostile() []string {
	return []string{
		`<script src="http://x/"></script>`,
		`<img src=x onerror=alert(1)>`,
		`<img src="http://127.0.0.1/x">`,
		`<img src=http://169.254.169.254/>`,
		`<iframe src="file:///etc/passwd"></iframe>`,
		`<meta http-equiv="refresh" content="0;url=http://x/">`,
		`<base href="http://x/">`,
		`<link rel=stylesheet href="http://x/a.css">`,
		`<style>@import "http://x/";body{background:url(http://x/)}</style>`,
		`<div style="background:url(http://x/)">a</div>`,
		`<svg><image href="http://x/"/><script>x</script></svg>`,
		`<object data="http://x/"></object>`,
		`<video src="http://x/" poster="http://x/"></video>`,
		`<audio src="http://x/">`,
		`<embed src="http://x/">`,
		`<input type=image src="http://x/">`,
		`<form action="http://x/"><button>a</button></form>`,
		`<table background="http://x/"><tr><td background="http://x/">a`,
		`<body background="http://x/">`,
		`<img srcset="http://x/ 2x" src="data:text/html,x">`,
		`<picture><source srcset="http://x/"><img src="http://x/"></picture>`,
		`![a](http://x/%zz)`,
		`![a](//x/y.png)`,
		`![a](\\x\y.png)`,
		`![a](file:///etc/passwd)`,
		`![a](../../etc/passwd)`,
		`![a](javascript:x)`,
		`[a](javascript:alert(1))`,
		`[a](JaVaScRiPt&#58;alert(1))`,
		`<a href="&#106;avascript:x">a</a>`,
		`<a href="x" ping="http://x/" target=_blank>a</a>`,
		`<a href=data:text/html,x>a</a>`,
		`![a](data:image/svg+xml,<svg onload="x()"/>)`,
		`![a](data:text/html;base64,PHNjcmlwdD4=)`,
		"```\"><script>x</script>\nx\n```",
		"``` x onclick=alert(1)\nx\n```",
		`<x onclick=1>`,
		`<a name="x" id="y z">`,
		`<!--[if IE]><script>x</script><![endif]-->`,
		`<![CDATA[<script>x</script>]]>`,
		`<?php echo 1 ?>`,
		`<math><mi xlink:href="javascript:x">a</mi></math>`,
		`<p title="` + "`" + `<script>">x`,
		`<details ontoggle=x open>a`,
		`<template><script>x</script></template>`,
		`[a]{onclick=x style="background:url(http://x/)" src=http://x/ .x}`,
		`![a](pixel.png){onerror=x src=http://x/ srcset=http://x/ width=url(x)}`,
		`# a {#"><script>x</script> .b}`,
		"```go title=\"<script>x</script>\" {onclick=x .a\"><script>}\nx\n```",
		"```{.a\"><script>x</script>}\nx\n```",
		":::note <script>x</script>\n<script>y</script>\n:::",
		"!!! note \"<img src=x onerror=y>\"\n    x",
		"*[a]: \"><script>x</script>\n\na",
		`![a](http://x/ "<script>x</script>")`,
		`![a](http://x/ =100x100){.b}`,
		"|a|\n|-|\n\nTable: <img src=http://x/> {style=x #y}",
		`<p class="cover"onclick=x class='toc"x'>a</p>`,
		`==<b onclick=x>== ~<x^`,
		`<noscript><p title="</noscript><img src=x onerror=alert(1)>">`,
		`<svg></p><style><a id="</style><img src=1 onerror=alert(1)>">`,
		`<textarea><img src=x onerror=y></textarea>`,
	}
}

// checkLoadsNothing fails if HTML has an element or attribute that can load or run something.
func checkLoadsNothing(t *testing.T, source, out string) {
	t.Helper()

	root, err := html.Parse(strings.NewReader("<!DOCTYPE html><body>" + out))
	if err != nil {
		t.Fatalf("%q: %v", source, err)
	}
	linkForm := regexp.MustCompile(`(?i)^(#|https?://|mailto:|tel:)`)
	allowed := map[string]bool{
		"class":        true,
		"id":           true,
		"lang":         true,
		"dir":          true,
		"title":        true,
		"role":         true,
		"align":        true,
		"valign":       true,
		"name":         true,
		"alt":          true,
		"width":        true,
		"height":       true,
		"colspan":      true,
		"rowspan":      true,
		"span":         true,
		"scope":        true,
		"start":        true,
		"value":        true,
		"type":         true,
		"reversed":     true,
		"open":         true,
		"datetime":     true,
		"cite":         true,
		"checked":      true,
		"disabled":     true,
		"color":        true,
		"data-start":   true,
		"data-columns": true,
	}

	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}

		switch n.Data {
		case "script",
			"style",
			"iframe",
			"object",
			"embed",
			"link",
			"meta",
			"base",
			"svg",
			"video",
			"audio",
			"source",
			"form",
			"button",
			"template",
			"frame":
			t.Errorf("%q: <%s> got through: %s", source, n.Data, out)
		}

		for _, a := range n.Attr {
			switch {
			case n.Data == "img" && a.Key == "src" && strings.HasPrefix(a.Val, "data:image/"):
			case n.Data == "a" && a.Key == "href" && linkForm.MatchString(a.Val):
			case a.Key == "style" && !strings.Contains(strings.ToLower(a.Val), "url") && !strings.Contains(a.Val, "\\"):
			case allowed[a.Key]:
			case a.Key == "aria-label" && (n.Data == "span" || n.Data == "div"),
				mathOf(n) && harmless.MatchString(a.Key):
			default:
				t.Errorf("%q: attribute %s=%q on <%s> got through", source, a.Key, a.Val, n.Data)
			}
		}
	}
}

// harmless matches the attributes of MathML, which only describe the layout.
var harmless = regexp.MustCompile(
	`^(alttext|display|math[a-z]+|[a-z]+(align|space|spacing|size|lines|thickness|style)|fence|form|separator|stretchy|symmetric|accent|accentunder|movablelimits|largeop|lspace|rspace|depth|voffset|notation|xmlns)$`,
)

// mathOf reports whether an element is part of a formula. It cannot be from raw HTML, whose MathML is dropped.
func mathOf(n *html.Node) bool { return n.Namespace == "math" }

func TestHostileHTMLLoadsNothing(t *testing.T) {
	t.Parallel()

	for _, src := range append(hostile(), strings.Join(hostile(), "\n\n"), strings.Join(hostile(), " ")) {
		for _, escape := range []bool{false, true} {
			checkLoadsNothing(t, src, render(t, src, markdown.Options{EscapeHTML: escape}).HTML)
		}
	}
}

func FuzzRender(f *testing.F) {
	for _, src := range hostile() {
		f.Add(src, false)
	}
	f.Add("> [!NOTE]\n> x\n\n\\newpage\n\n# h\n[^1]: x\n", true)
	f.Add(
		"![[a.png|<b>|9]] [[a|<script>]] [[#<i>]] %%<b%%\n\n{++<b>++} {~~a~><i>~~}\n\n(@\"a) b\n\n> [!a\"]- <b>\n",
		false,
	)
	f.Add("+---+--+\n| <b| - |\n+===+  |\n| a |  |\n+---+--+\n\n| <b>\n|  c\n", false)
	f.Add("+--+\n|é界|\n+==+\n|- |\n+--+\n: d\n", true)
	f.Add("{{#include a}}\n```{.include}\n<b>\n```\n!include <c>\n![[d#<e>]]\n", false)
	f.Add("import a from 'b'\n\n{/* <b> */}\n\n<A b={c}/>\n\na. b\nb. <c\n\n::: {.column width=\"9%\"}\n", true)
	f.Add(
		"```{note} <b>\n:name: a\n% c\n:::{figure} <a>\n---\nalt: |\n  <i>\n---\n{ref}`a` [](#a)\n:::\n```\n(b)=\n- ```{list-table}\n  * - <b>\n    - c\n  ```\n",
		false,
	)
	f.Add(
		"````{exercise-start}\n:label: e\n````\n{{s}}\n```{include} a\n:literal:\n```\n> ```{csv-table} <b>\n> \"a\", <i>|\n> ```\n```{solution} e\n```{index} pair: a; <b>\n",
		true,
	)
	r := markdown.New()
	dialects := append(dialect.Names(), "")
	f.Fuzz(func(t *testing.T, src string, escape bool) {
		d, err := r.Parse(
			context.Background(),
			[]byte(src),
			markdown.Options{
				Dialect:        dialects[len(src)%len(dialects)],
				EscapeHTML:     escape,
				LineNumbers:    escape,
				NumberHeadings: !escape,
				Asset:          assets,
				Substitutions:  map[string]string{"s": "a\n{{s}} {{s}}"},
				Include:        folder(map[string]string{"a": "<b>{{#include a}}"}),
			},
		)
		if err != nil {
			return
		}
		checkLoadsNothing(t, src, d.HTML)
	})
}
