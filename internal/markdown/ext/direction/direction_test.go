package direction_test

import (
	"testing"

	"github.com/yuin/goldmark/ast"

	"presswork/internal/markdown/ext/direction"
	"presswork/internal/test/rendered"
)

func TestBlocksHaveTheirDirection(t *testing.T) {
	t.Parallel()

	rendered.Check(t, rendered.Rows{
		"paragraph in Hebrew": {"שלום a\n\nb", "<p dir=\"rtl\">שלום a</p>\n<p>b</p>"},
		"foreign name first":  {"Presswork הוא כלי להדפסה", "<p>Presswork הוא כלי להדפסה</p>"},
		"list": {
			"- שלום\n- a b c",
			"<ul dir=\"rtl\">\n<li>שלום</li>\n<li><span dir=\"ltr\">a b c</span></li>\n</ul>",
		},
		"item of a list": {
			"- a b c\n- שלום שלום",
			"<ul>\n<li>a b c</li>\n<li><span dir=\"rtl\">שלום שלום</span></li>\n</ul>",
		},
		"table": {
			"|שם|a|\n|-|-|\n|a|b|",
			"<table dir=\"rtl\">\n<thead>\n<tr>\n<th>שם</th>\n" +
				"<th dir=\"ltr\">a</th>\n</tr>\n</thead>\n<tbody>\n" +
				"<tr>\n<td dir=\"ltr\">a</td>\n<td dir=\"ltr\">b</td>\n" +
				"</tr>\n</tbody>\n</table>",
		},
		"quote": {
			"> שלום\n>\n> a",
			"<blockquote dir=\"rtl\"><p>שלום</p>\n<p dir=\"ltr\">a</p>\n</blockquote>",
		},
		"element that gives one": {
			"<div dir=\"rtl\">\n\n# A\n\n</div>\n\nשלום",
			"<div dir=\"rtl\">\n<h1>A</h1>\n</div>\n<p dir=\"rtl\">שלום</p>",
		},
		"element that gives the other one": {
			"<div dir=\"ltr\">\n\n- שלום\n\n</div>",
			"<div dir=\"ltr\">\n<ul>\n<li>שלום</li>\n</ul>\n</div>",
		},
		"own direction":            {`<p dir="rtl">a</p>`, `<p dir="rtl">a</p>`},
		"emphasis without italics": {"*日本* *a*", `<p><em class="upright">日本</em> <em>a</em></p>`},
		"code":                     {"`שלום` a", "<p><code>שלום</code> a</p>"},
	}, func(root ast.Node, src []byte) { direction.Set(root, src, "en") })
}

func TestDirectionOfLanguages(t *testing.T) {
	t.Parallel()

	for lang, want := range map[string]string{
		"": "ltr", "en": "ltr", "he": "rtl", "ur": "rtl",
		"AR-eg": "rtl", "az-Arab": "rtl", "ku-Latn": "ltr", "ar-Latn": "ltr",
	} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()

			if got := direction.Of(lang); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestLettersIn(t *testing.T) {
	t.Parallel()

	for name, row := range map[string]struct {
		text    string
		want    direction.Letters
		upright bool
	}{
		"Latin":             {text: "aé–"},
		"soft hyphen":       {text: "a\u00adb", want: direction.Letters{SoftHyphens: true}},
		"Arabic":            {text: "سلام", want: direction.Letters{Arabic: true, RightToLeft: true}, upright: true},
		"Hebrew":            {text: "שלום", want: direction.Letters{RightToLeft: true}, upright: true},
		"override of order": {text: "a\u202eb", want: direction.Letters{RightToLeft: true}},
		"Han":               {text: "日本", upright: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := direction.LettersIn(row.text); got != row.want {
				t.Errorf("letters %+v, want %+v", got, row.want)
			}

			if got := direction.HasRTL(row.text); got != row.want.RightToLeft {
				t.Errorf("from right to left: %v, want %v", got, row.want.RightToLeft)
			}

			if got := direction.HasUpright([]byte(row.text)); got != row.upright {
				t.Errorf("without italics: %v, want %v", got, row.upright)
			}
		})
	}
}
