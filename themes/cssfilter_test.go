package themes_test

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"presswork/themes"
)

func TestFilterKeepsStyles(t *testing.T) {
	t.Parallel()

	for i, css := range []string{
		":root { --primary: #fff; --x: calc(1px + 2em) }\n", `a::before { content: "a\"b" }`, "@media print { p { color: red } }", "@page { margin: 2cm }",
		"a > b + c ~ d:not(.e)[f=\"g\"] { top: -1.5e3px }", "p{width:calc(100% - 2px);color:#abc!important}", "@media (width >= 10px) {}", `.\31 0 { color: red }`,
	} {
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			want := strings.ReplaceAll(css, `"a\"b"`, `"a\22 b"`)
			if got, dropped := themes.FilterCSS(css); got != want || len(dropped) > 0 {
				t.Errorf("%q became %q (dropped %q)", css, got, dropped)
			}
		})
	}

	data := `p{background:url(data:image/png;base64,iVBO)}`
	if got, dropped := themes.FilterCSS(data); got != `p{background:url("data:image/png;base64,iVBO")}` ||
		len(dropped) > 0 {
		t.Errorf("a data image became %q (dropped %q)", got, dropped)
	}
}

// hostileCSS lists CSS that loads something.
func hostileCSS() []string {
	return []string{
		`@import "http://x/";p{color:red}`,
		`@import url(http://x/) screen;`,
		`@IMPORT 'http://x/'`,
		`@\69mport "http://x/";`,
		`p{background:url(http://x/)}`,
		`p{background:URL( "http://x/" )}`,
		`p{background:\75rl(http://x/)}`,
		`p{background:\75\72\6c ("http://x/")}`,
		`p{background:u\72l(http://x/)}`,
		`p{background:url(/**/http://x/)}`,
		`p{background:url(http://x/`,
		`p{background:url("http://x/`,
		`p{background:url(http://x/"bad")}`,
		`p{background:image-set("http://x/" 1x)}`,
		`p{background:-webkit-image-set(url(http://x/) 1x)}`,
		`p{background:src("http://x/")}`,
		`@font-face{font-family:x;src:url(//x/f.woff)}`,
		`@font-face{src:local("x"),url(f.woff)}`,
		`p{background:url(data:text/html,<script>)}`,
		`p{content:"</style><img src=http://x/>"}`,
		`</style><img src=http://x/>`,
		`p{color:red}<!--</style>-->`,
		`p{--a:</style>}`,
		`a{b:c\</style>}`,
		`/* unclosed url(http://x/)`,
		`p{content:"unclosed` + "\n" + `}q{background:url(http://x/)}`,
		`@namespace url(http://x/);`,
		`p{background:url(\`,
		`p{a:"\`,
		`@media{@import "http://x/";}`,
		`@import{url(http://x/)}p{color:red}`,
		`p{background:image("http://x/")}`,
		`p{cursor:url(http://x/),auto}`,
		"p{background:url(\nhttp://x/\n)}",
		"p{background:u\x00rl(http://x/)}",
		`p{filter:url(http://x/#f)}`,
		`@property --x{syntax:"<image>";initial-value:url(http://x/)}`,
		`p{background:url(java\script:x)}`,
		`@document url(http://x/){p{color:red}}`,
		`@charset "utf-7";`,
		`p{background:uRl(hTtP://x/)}`,
		`<\/style>`,
		`p{a:<` + "/*x*/" + `/style>}`,
	}
}

// outside reports what a browser could still fetch from a filtered sheet, read
// by a second, cruder scan than the filter's own.
func outside(css string) string {
	lower := strings.ToLower(css)
	for _, bad := range []string{"@import", "image-set(", "src(", "image(", "</", "<!--"} {
		if i := strings.Index(lower, bad); i >= 0 {
			return lower[i:]
		}
	}

	for rest := lower; ; {
		i := strings.Index(rest, "url(")
		if i < 0 {
			return ""
		}

		if rest = rest[i+4:]; !strings.HasPrefix(rest, `"data:`) {
			return rest
		}
	}
}

func TestFilterDropsEveryReference(t *testing.T) {
	t.Parallel()

	for _, css := range hostileCSS() {
		got, _ := themes.FilterCSS(css)
		if bad := outside(got); bad != "" {
			t.Errorf("%q became %q, which still has %q", css, got, bad)
		}
	}
}

func FuzzThemeCSS(f *testing.F) {
	for _, css := range hostileCSS() {
		f.Add(css)
	}
	f.Fuzz(func(t *testing.T, css string) {
		got, _ := themes.FilterCSS(css)

		again, dropped := themes.FilterCSS(got)
		if len(dropped) > 0 {
			t.Errorf("%q became %q, of which a second pass drops %q", css, got, dropped)
		}

		if third, _ := themes.FilterCSS(again); third != again {
			t.Errorf("%q: filtering does not settle: %q, %q", css, again, third)
		}
		// The style element must end where we end it.
		z := html.NewTokenizer(strings.NewReader("<style>" + got + "</style><b>"))
		var seen []string

		for z.Next() != html.ErrorToken {
			if token := z.Token(); token.Type != html.TextToken {
				seen = append(seen, token.String())
			}
		}

		if strings.Join(seen, "") != "<style></style><b>" {
			t.Errorf("%q became %q, which ends the style element: %q", css, got, seen)
		}
	})
}
