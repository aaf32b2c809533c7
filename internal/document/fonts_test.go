package document_test

import (
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/chromium"
	"presswork/internal/chromium/fonts"
	"presswork/internal/document"
	"presswork/internal/fault"
	"presswork/internal/pdffile/filetest"
	"presswork/internal/test/public"
)

// withoutSystem starts a browser that has only the bundled fonts.
func withoutSystem(t *testing.T) *chromium.Browser {
	t.Helper()
	needsBrowser(t)

	whole, err := fonts.Install("")
	if err != nil {
		t.Fatal(err)
	}

	text, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	bare := filepath.Join(public.Dir(t), "fonts.conf")
	ours := regexp.MustCompile(`(?m)^<dir>(/usr|/home|/root).*</dir>\n`).ReplaceAll(text, nil)
	public.File(t, bare, string(ours))

	return printerWith(t, bare)
}

// Chromium writes the glyphs of a line as one string only if their positions equal the sums of the font's widths in
// floating point. That depends on the font size.
func TestLinesInInterAreOneString(t *testing.T) {
	t.Parallel()

	for _, theme := range []string{"light", "dark", "abyss", "lofi"} {
		t.Run(theme, func(t *testing.T) {
			r, _ := printDocument(t, document.Document{Content: []byte("minimum minimum minimum\n"), Theme: theme})
			whole := false

			for _, object := range filetest.Objects(t, r.PDF) {
				if strings.Contains(object, "/FlateDecode") {
					whole = whole ||
						regexp.MustCompile(`<[0-9A-F]{92}> Tj`).Match(filetest.Inflate(t, []byte(object))) // 23 glyphs
				}
			}

			if !whole {
				t.Error("the line of 23 characters is not one string")
			}
		})
	}
}

func TestEveryEmbeddedFamilyIsPrintedAsTrueType(t *testing.T) {
	t.Parallel()
	c := converter(t, document.Options{Printer: withoutSystem(t)})
	var b strings.Builder
	var css strings.Builder

	for i, f := range fonts.Families() {
		class := "f" + strconv.Itoa(i)
		text := "Hamburgefonstiv"

		switch f.Kind {
		case fonts.Math:
			text = "𝛼 ⊕ ∮"
		case fonts.Symbols:
			text = "✂ ☎"
		}

		for _, weight := range f.Weights {
			b.WriteString(
				`<p class="` + class + " w" + strconv.Itoa(weight) + `">` + html.EscapeString(text) + "</p>\n\n",
			)
		}

		if f.Italic {
			b.WriteString(`<p class="` + class + ` it">` + text + "</p>\n\n")
		}
		css.WriteString("." + class + "{font-family:'" + f.Name + "'}")
	}
	css.WriteString(
		".w500{font-weight:500}.w600{font-weight:600}.w700{font-weight:700}.w900{font-weight:900}.it{font-style:italic}",
	)

	r, path := convert(
		t,
		c,
		document.Document{Content: []byte(b.String()), Options: presswork.Options{CSS: css.String()}},
	)
	if len(r.Warnings) > 0 {
		t.Errorf("got warnings %v, want none", r.Warnings)
	}

	printed := poppler(t, "pdffonts", path)
	if strings.Contains(printed, "Type 3") || strings.Contains(printed, " no  ") {
		t.Errorf("want only TrueType fonts, embedded; pdffonts says\n%s", printed)
	}

	plain := regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(printed, "")
	for _, f := range fonts.Families() {
		if !strings.Contains(plain, strings.ReplaceAll(f.Name, " ", "")) {
			t.Errorf("no text is printed in %s", f.Name)
		}
	}
}

// Hinted letters would be whole pixels of 0.75 pt wide.
func TestLettersAreNotHinted(t *testing.T) {
	t.Parallel()
	_, path := printDocument(t, document.Document{
		Content: []byte("illicitly millimetre hamburger"),
		Options: presswork.Options{CSS: "body{font:11pt Inter}"},
	})

	words := regexp.MustCompile(`<word xMin="([0-9.]+)"[^>]* xMax="([0-9.]+)"`).
		FindAllStringSubmatch(poppler(t, "pdftotext", "-bbox", path, "-"), 3)
	if len(words) != 3 {
		t.Fatalf("found %d words, want 3", len(words))
	}
	whole := 0 // words as wide as whole pixels

	for _, w := range words {
		from, err1 := strconv.ParseFloat(w[1], 64)

		to, err2 := strconv.ParseFloat(w[2], 64)
		if err1 != nil || err2 != nil {
			t.Fatalf("a word is between %q and %q, want numbers", w[1], w[2])
		}

		const pixel = .75
		if rest := (to - from) / pixel; rest-float64(int(rest+.5)) < .02 && rest-float64(int(rest+.5)) > -.02 {
			whole++
		}
	}

	if whole == len(words) {
		t.Error("every word is as wide as whole pixels, want other widths")
	}
}

// manyScripts needs fonts of the system, and sequences of characters that are one glyph.
const manyScripts = "Ελληνικά, кириллица, tiếng Việt.\n\n漢字 かな 한국어 注音ㄅ。 العربية עברית ไทย हिन्दी বাংলা தமிழ் ქართული հայերեն አማርኛ\n\n" +
	"😀 👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 🇩🇪 1️⃣ ❤️ ❤︎ é x̱҉ ✓ ★ ∑ ⌘\n\n`├── 漢字 😀`\n"

func TestNoGlyphIsMissingWithFontsOfTheSystem(t *testing.T) {
	t.Parallel()

	r, path := printDocument(t, document.Document{Content: []byte(manyScripts)})
	if len(r.Warnings) > 0 {
		t.Errorf("got warnings %v, want none", r.Warnings)
	}

	printed := poppler(t, "pdffonts", path)
	for _, name := range []string{"NotoSansArabic", "NotoSansHebrew", "NotoSansThai", "NotoSansDevanagari", "NotoSansBengali", "NotoSansTamil", "NotoSansGeorgian"} {
		if !strings.Contains(printed, name) {
			t.Errorf("%s is not among the fonts:\n%s", name, printed)
		}
	}
}

func TestMissingGlyphsNameTheRemedy(t *testing.T) {
	t.Parallel()
	c := converter(t, document.Options{Printer: withoutSystem(t)})
	content := []byte(
		"---\ntitle: T\n---\n# One\n\nGreek Ελλ is there; 漢字と漢 is not,\nnor are 😀 and 👩‍👩‍👧, ไทย or \U000107ff.\n\n**漢** | 表 `漢`\n",
	)
	r, _ := convert(t, c, document.Document{Content: content})

	want := []struct {
		line  int
		parts []string
	}{
		{6, []string{"字 (U+5B57)", "漢 (U+6F22)", "fonts-noto-cjk"}},
		{7, []string{"😀 (U+1F600)", "👩‍👩‍👧 (U+1F469 U+200D U+1F469 U+200D …)", "fonts-noto-color-emoji"}},
		{7, []string{"ท (U+0E17)", "fonts-noto-core"}},
		{7, []string{"U+107FF", "nothing in Unicode"}},
	}
	if len(r.Warnings) != len(want) {
		t.Fatalf("got warnings %+v, want %d", r.Warnings, len(want))
	}

	for i, w := range r.Warnings {
		if w.Code != fault.GlyphMissing || w.Line != want[i].line {
			t.Errorf("got %+v, want %s in line %d", w, fault.GlyphMissing, want[i].line)
		}

		for _, part := range want[i].parts {
			if !strings.Contains(w.Message, part) {
				t.Errorf("got the message %q, want %q in it", w.Message, part)
			}
		}
	}

	composed, err := c.Compose(
		t.Context(),
		document.Document{Content: content, Options: presswork.Options{Strict: new(true)}},
	)
	if err != nil {
		t.Fatal(err)
	}

	r, err = c.Print(t.Context(), composed)
	if fault.CodeOf(err) != fault.StrictFindings || len(r.Warnings) != len(want) || r.PDF != nil {
		t.Errorf("strict: got %v with %d warnings and %d bytes, want %s, %d warnings and no PDF",
			err, len(r.Warnings), len(r.PDF), fault.StrictFindings, len(want))
	}
}

func TestClippedContentFailsAStrictDocument(t *testing.T) {
	t.Parallel()
	c := converter(t, document.Options{Printer: printer(t)})

	composed, err := c.Compose(t.Context(), document.Document{
		Content: []byte("```\n" + strings.Repeat("go on and ", 30) + "\n```\n"),
		Options: presswork.Options{Strict: new(true), CSS: "pre{white-space:pre!important}"},
	})
	if err != nil {
		t.Fatal(err)
	}

	r, err := c.Print(t.Context(), composed)
	if fault.AsError(err).Code != fault.StrictFindings || len(r.Warnings) != 1 ||
		r.Warnings[0].Code != fault.LineOverflow ||
		r.PDF != nil {
		t.Errorf("got %v with warnings %+v and %d bytes, want %s, one %s and no PDF",
			err, r.Warnings, len(r.PDF), fault.StrictFindings, fault.LineOverflow)
	}
}

func TestClippedContentIsReported(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("go on and ", 20) + "end"
	text := "# Wide\n\n| a | b |\n|---|---|\n| first " + long + " | second " + long + " |\n\n```\ncode " + long + "\n```\n\nText " + long + "\n"

	inspected := presswork.Options{CSS: "x{}"} // prints with a stylesheet of the caller are always inspected
	for name, test := range map[string]struct {
		content string
		options presswork.Options
		line    int
		says    string // "" for no warning
	}{
		"wrapped lines":       {content: text, options: inspected},
		"a long list":         {content: strings.Repeat("1. item\n", 120), options: inspected},
		"many columns":        {content: grid(14, 5, "Column here"), options: inspected},
		"columns":             {content: text, options: presswork.Options{CSS: "td{white-space:nowrap!important}"}, line: 5, says: "page 1: something is wider than its column and is cut off"},
		"code":                {content: text, options: presswork.Options{CSS: "pre{white-space:pre!important}"}, line: 8, says: `at "code go on`},
		"a small page":        {content: text, options: presswork.Options{PageSize: "A6"}},
		"an untagged page":    {content: text, options: presswork.Options{Tagged: new(false), CSS: "pre{white-space:pre!important}"}, line: 8, says: `at "code go on`},
		"right to left":       {content: text, options: presswork.Options{Lang: "ar"}},
		"columns to the left": {content: text, options: presswork.Options{Lang: "ar", CSS: "td{white-space:nowrap!important}"}, line: 5, says: "page 1: "},
		"a cover":             {content: text, options: presswork.Options{Cover: new(true), Title: strings.Repeat("Long ", 40)}},
		"a formula":           {content: "$$\\frac{" + strings.Repeat("x_{1}+", 80) + "1}{y}$$\n", says: "page 1: something is so wide that it is set in 2"},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := printDocument(t, document.Document{Content: []byte(test.content), Options: test.options})
			if test.says == "" {
				if len(r.Warnings) > 0 {
					t.Errorf("got warnings %+v, want none", r.Warnings)
				}

				return
			}

			if len(r.Warnings) != 1 || r.Warnings[0].Code != fault.LineOverflow || r.Warnings[0].Line != test.line ||
				!strings.Contains(r.Warnings[0].Message, test.says) {
				t.Errorf("got warnings %+v, want one in line %d: %s", r.Warnings, test.line, test.says)
			}
		})
	}
}
