package themes_test

import (
	"strings"
	"testing"

	"presswork/themes"
)

func TestAPageGetsTheRulesThatCouldMatch(t *testing.T) {
	t.Parallel()

	for _, c := range []struct{ name, css, page, want string }{
		{"elements", "p{a:b}h1{a:b}", "<p>x", "p{a:b}"},
		{"each selector of a list by itself", "p,h1 , li > b{a:b}", "<li><p>x", "p{a:b}"},
		{"elements of any case", "Div{a:b}", "<DIV>", "Div{a:b}"},
		{"classes", ".a{a:b}.b{a:b}p.b.a{a:b}", `<p class="x a">`, ".a{a:b}"},
		{"classes with signs", `.a\:b{a:b}`, `<p class="a:b">`, `.a\:b{a:b}`},
		{"classes with references", ".alert{a:b}", `<p class=al&#101;rt>`, ".alert{a:b}"},
		{"attributes", "[align=center i]{a:b}a[href]{a:b}[title]{a:b}", `<a align=x href=y>`, "[align=center i]{a:b}a[href]{a:b}"},
		{
			"parts of elements and states need nothing", "p::before{a:b}p:first-child{a:b}p:nth-child(2n of .x){a:b}::marker{a:b}", "<p>",
			"p::before{a:b}p:first-child{a:b}p:nth-child(2n of .x){a:b}::marker{a:b}",
		},
		{"negation", "p:not(.x){a:b}:not(pre) > code{a:b}", "<p>", "p:not(.x){a:b}"},
		{"alternatives", ":is(h1,p) + :is(ul,.x){a:b}:where(h1,h2){a:b}", "<p><ul>", ":is(h1,p) + :is(ul,.x){a:b}"},
		{"content of an element", "p:has(+ :is(ul,ol)){a:b}p:has(> img){a:b}", "<p><ol>", "p:has(+ :is(ul,ol)){a:b}"},
		{"languages", ":lang(zh){a:b}:is(:lang(th),:lang(ar)){a:b}", `<p lang="ZH-Hant">`, ":lang(zh){a:b}"},
		{"direction", "p:dir(rtl){a:b}", `<p dir=auto>`, "p:dir(rtl){a:b}"},
		{"direction of bdi", "p:dir(rtl){a:b}", `<p><bdi>`, "p:dir(rtl){a:b}"},
		{"no direction", "p:dir(rtl){a:b}p:dir(ltr){c:d}", `<p dir=ltr>`, "p:dir(ltr){c:d}"},
		{"elements that a browser adds", "tbody tr{a:b}html,head,body,colgroup{a:b}", "<tr>", "tbody tr{a:b}html,head,body,colgroup{a:b}"},
		{"an element made by its end tag", "p{a:b}", "x</p>", "p{a:b}"},
		{"groups", "@media print{p{a:b}h1{a:b}}@media screen{h1{a:b}}@supports (a:b){@media print{p{c:d}}}", "<p>", "@media print{p{a:b}}@supports (a:b){@media print{p{c:d}}}"},
		{"style queries", "@container style(--x){p{a:b}}", "<p>", "@container style(--x){p{a:b}}"},
		{"pages and properties stay", ":root{--a:b}@page cover{margin:0;@top-center{content:none}}@page{x:var(--a, 1px)}", "", ":root{--a:b;}@page cover{margin:0;@top-center{content:none}}@page{x:var(--a,1px)}"},
		{"strings and addresses", `p::after{content:"} h1{"}h1{background:url(data:;)}`, "<p>", `p::after{content:"} h1{"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := themes.ParseStylesheet(c.css).Fit(themes.NamesIn(c.page)); got != c.want {
				t.Errorf("%s: of %q, %q gets\n%q, want\n%q", c.name, c.css, c.page, got, c.want)
			}
		})
	}
}

// Themes of users may be malformed.
func TestMalformedRulesAreIgnored(t *testing.T) {
	t.Parallel()

	for css, want := range map[string]string{
		"{p:1}":                       "",
		"a[]{b:c}":                    "a[]{b:c}",
		"a{b:c}{d:e}a{f:g}":           "a{b:c}a{f:g}",
		"@media print{{p:1}a{b:c}}":   "@media print{a{b:c}}",
		"a{b:c}}a{d:e}":               "a{b:c}a{d:e}",
		"@container style(--a){{b:c}": "",
	} {
		if got := themes.ParseStylesheet(css).Fit(themes.NamesIn("<a>")); got != want {
			t.Errorf("%s: %q, want %q", css, got, want)
		}
	}
}

func TestPropertiesAreWrittenOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(
		t,
		dir,
		"mine.css",
		`:root{--primary:#123456;--base-100:#fff;--base-content:#000;--gap:calc(1em*var(--scale));--scale:2;--shade:red;--tables:striped}
.x{--shade:blue;border:var(--shade,none)}h1{color:var(--primary)}`,
	)

	theme, err := open(t, themes.Options{Dir: dir}).Get("mine")
	if err != nil {
		t.Fatal(err)
	}
	// It stays because one of them, --shade, is an element's own in places.
	const themesRoot = ":root{--primary:#123456;--base-100:#fff;--base-content:#000;--gap:calc(1em*2);--scale:2;--shade:red;--tables:striped;}"

	for _, c := range []struct{ name, css, want string }{
		{"a value", "p{color:var(--primary) url(x)}", "p{color:#123456 url(x)}"},
		{"a value with variables", "p{margin:var(--gap) 0}", "p{margin:calc(1em*2) 0}"},
		{"a value derived from a style", "p{background:var(--table-zebra)}", "p{background:" + theme.Token("--table-stripe") + "}"},
		{"a property of the document", "p{width:var(--paper)}", "p{width:9mm}"},
		{"a fallback", "p{margin:var(--none, 1px var(--gap)) 2px}", "p{margin:1px calc(1em*2) 2px}"},
		{"an empty fallback", "p{margin:var(--none,)}", "p{margin:}"},
		{"an unknown property", "p{margin:var(--none)}", "p{margin:var(--none)}"},
		{"a property that an element sets", "p{--own:1px;margin:var(--own, var(--paper))}", "p{--own:1px;margin:var(--own,9mm)}"},
		{"a property that a rule of the theme sets", "p{margin:var(--shade)}", "p{margin:var(--shade)}"},
		{"query: set", "@container style(--primary){p{a:b}}", "p{a:b}"},
		{"query: not set", "@container style(--none){p{a:b}}", ""},
		{"query: equal", "@container style(--scale: 2){p{a:b}}", "p{a:b}"},
		{"query: other", "@container style(--scale: 3){p{a:b}}", ""},
		{"query: a property that a rule sets", "@container style(--shade: blue){p{a:b}}", "@container style(--shade: blue){p{a:b}}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := theme.Fit(themes.NamesIn(`<p>`), themes.ParseStylesheet(c.css), themes.Properties{"--paper": "9mm"})

			got = strings.TrimPrefix(got, ":root{color-scheme:light;--shade:blue;}\n")
			if got, ok := strings.CutSuffix(got, themesRoot); !ok || got != c.want {
				t.Errorf("%s: %q became\n%q, want\n%q", c.name, c.css, got, c.want)
			}
		})
	}

	const want = themesRoot + ".x{--shade:blue;border:var(--shade,none)}h1{color:#123456}"

	got := theme.Fit(themes.NamesIn(`<h1 class="x">`), themes.ParseStylesheet(""), nil)
	if !strings.HasSuffix(got, want) {
		t.Errorf("the theme's own rules are\n%q, want\n%q", got, want)
	}
}

func TestCircularPropertiesAreNotExpandedForever(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(
		t,
		dir,
		"mine.css",
		`:root{--primary:#123456;--base-100:#fff;--base-content:#000;--a:1px var(--b);--b:2px var(--a)}`,
	)

	theme, err := open(t, themes.Options{Dir: dir}).Get("mine")
	if err != nil {
		t.Fatal(err)
	}

	if got := theme.Fit(themes.NamesIn(`<p>`), themes.ParseStylesheet("p{margin:var(--a)}"), nil); len(got) > 200 {
		t.Errorf("a loop became %d bytes", len(got))
	}
}

func TestTheInkSaverOfADarkThemeIsLight(t *testing.T) {
	t.Parallel()

	theme, err := open(t, themes.Options{}).Get("dracula")
	if err != nil {
		t.Fatal(err)
	}
	ink := theme.InkSaver()

	got := ink.Fit(
		themes.NamesIn(`<p class="cover">`),
		themes.ParseStylesheet("p{background:var(--base-100);color:var(--base-content)}"),
		nil,
	)
	for _, want := range []string{"p{background:#ffffff;color:#", "color-scheme:light;}\n.cover::before,.cover::after{display:none}\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}

	if at := strings.LastIndex(got, "color-scheme"); !strings.HasPrefix(got[at:], "color-scheme:light") {
		t.Errorf("the last word is %s", got[at:])
	}
}
