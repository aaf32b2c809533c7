package document_test

import (
	"context"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"presswork"
	"presswork/internal/chromium/printable"
	"presswork/internal/document"
	"presswork/internal/fault"
	"presswork/internal/test/cputime"
	"presswork/internal/test/golden"
	"presswork/themes"
)

// blank is a Printer for tests that print nothing.
type blank struct{ version string }

func (blank) Print(context.Context, printable.Page) ([]byte, error) {
	return nil, errors.New("not a printer")
}

func (blank) PrintRevised(context.Context, printable.Page, func([]byte) ([]string, error)) ([]byte, error) {
	return nil, errors.New("not a printer")
}

func (b blank) Version() string { return b.version }

// converter returns a Converter with the options. By default it has the built-in themes, prints nothing, and its day
// is 20 November 2026.
func converter(t testing.TB, o document.Options) *document.Converter {
	t.Helper()

	if o.Themes == nil {
		o.Themes = catalogue(t)
	}

	if o.Printer == nil {
		o.Printer = blank{"test/1"}
	}

	if o.Now == nil {
		o.Now = func() time.Time { return time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC) }
	}

	return document.New(o)
}

// compose composes a document with a default converter.
func compose(t *testing.T, d document.Document) document.Composed {
	t.Helper()

	c, err := converter(t, document.Options{}).Compose(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}

	return c
}

// The golden page shows the order of all parts. It leaves out the stylesheets, which have tests of their own.
func TestComposeGolden(t *testing.T) {
	t.Parallel()
	c := compose(t, document.Document{
		Content: []byte("---\ntitle: From <front> matter\nauthor: A\nsubject: S\nlang: de\n---\n# Heading\n\nText.\n"),
		Theme:   "nord",
		Options: presswork.Options{
			Cover:      new(true),
			HeaderText: new(`{title} "x" \ </style>`),
			CSS:        "p{color:red;background:url(http://x/)}",
			PageSize:   "A5",
			Landscape:  new(true),
		},
	})
	html := []byte(c.Page.HTML)

	for _, sheet := range []struct{ form, name string }{
		{`(?s)<style>\n\*,\*::before.*?</style>`, "<style>(the shared sheets)</style>"},
		{`:root\{color-scheme:light;[^}]*\}`, "(the theme's tokens)"},
		{`(?s)<style>\n:root \{\ncolor-scheme: light;.*?</style>`, "<style>(the theme)</style>"},
	} {
		t.Run(sheet.name, func(t *testing.T) {
			form := regexp.MustCompile(sheet.form)
			if !form.Match(html) {
				t.Errorf("the page has no match of %s", sheet.form)
			}
			html = form.ReplaceAll(html, []byte(sheet.name))
		})
	}
	golden.Check(t, "compose.html", html)
}

func TestSheetFollowsTheOptions(t *testing.T) {
	t.Parallel()
	c := compose(t, document.Document{
		Content: []byte("x"),
		Options: presswork.Options{
			PageSize:   "Letter",
			Landscape:  new(true),
			Scale:      new(0.5),
			PageRanges: "1 - 2",
			Tagged:     new(false),
		},
	})

	want := printable.Sheet{Width: 11, Height: 8.5, Scale: 0.5, PageRanges: "1-2"}
	if c.Page.Sheet != want {
		t.Errorf("got %+v, want %+v", c.Page.Sheet, want)
	}

	wide := compose(t, document.Document{
		Content: []byte("x"),
		Options: presswork.Options{PageSize: "11in x 8.5in", Landscape: new(true)},
	}).Page.Sheet
	if wide.Width != 11 || wide.Height != 8.5 {
		t.Errorf("landscape with a wide size: got %v by %v in, want 11 by 8.5", wide.Width, wide.Height)
	}

	if c := compose(t, document.Document{Content: []byte("x")}); !c.Page.Sheet.Tagged || !c.Page.Sheet.Outline {
		t.Errorf("got %+v, want tags and outline by default", c.Page.Sheet)
	}
}

func TestTheRequestWinsOverFrontMatter(t *testing.T) {
	t.Parallel()
	content := []byte("---\ntheme: retro\ntitle: Front\nauthor: Front\n---\n# First heading\n")

	c := compose(t, document.Document{Content: content, Theme: "nord", Options: presswork.Options{Title: "Request"}})
	if c.Theme != "nord" || c.Meta.Title != "Request" || c.Meta.Author != "Front" {
		t.Errorf("got theme %s, meta %+v", c.Theme, c.Meta)
	}

	if c := compose(t, document.Document{Content: content}); c.Theme != "retro" {
		t.Errorf("got the theme %s, want retro, as in the front matter", c.Theme)
	}

	if c := compose(t, document.Document{Content: []byte("x")}); c.Theme != themes.Default {
		t.Errorf("got the theme %s, want the default %s", c.Theme, themes.Default)
	}
}

func TestTitleComesFromFrontMatterHeadingOrFileName(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ content, filename, want string }{
		"front matter":       {"---\ntitle: Front\n---\n# Heading", "file.md", "Front"},
		"heading":            {"text\n\n# Head *ing*", "file.md", "Head ing"},
		"file name":          {"text", "a/annual-report.pdf", "annual-report"},
		"file of Windows":    {"text", `c:\x\notes.md`, "notes"},
		"default":            {"text", "", "Document"},
		"control characters": {"---\ntitle: \"a\\nb\\u0000c\"\n---\nx", "", "a b c"},
	} {
		t.Run(name, func(t *testing.T) {
			got := compose(t, document.Document{Content: []byte(c.content), Filename: c.filename}).Meta.Title
			if got != c.want {
				t.Errorf("%q, %q: got %q, want %q", c.content, c.filename, got, c.want)
			}
		})
	}
}

func TestBlankKeywordsAreLeftOut(t *testing.T) {
	t.Parallel()

	d := document.Document{
		Content: []byte("x"),
		Options: presswork.Options{Keywords: presswork.Keywords{"", "a\tb", " \n"}},
	}
	if got := compose(t, d).Meta.Keywords; !slices.Equal(got, []string{"a b"}) {
		t.Errorf("got keywords %q, want a b", got)
	}
}

func TestLongAndLeadParagraphsAreMarked(t *testing.T) {
	t.Parallel()

	words := func(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) }
	for content, want := range map[string]string{
		words(50):                       "<p>word",
		words(70):                       "<p data-long>word",
		words(20) + " *so:*":            "<p data-lead>word",
		words(20) + "：":                 "<p data-lead>word",
		"**" + words(3) + "**":          "<p data-lead><strong>word",
		"**a** and **b**":               "<p><strong>a",
		"**" + words(70) + "** {.lead}": `<p data-long data-lead class="lead"><strong>word`,
		strings.Repeat("[a](https://example.com/a/long/way) ", 20): `<p><a href`,
		strings.Repeat("字", 180):                                   "<p data-long>字",
		"<p>" + words(40) + "<p>" + words(70):                      "<p>word",
		"<p>" + words(70) + "</p>":                                 "<p data-long>word",
	} {
		t.Run(content, func(t *testing.T) {
			html := compose(t, document.Document{Content: []byte(content + "\n")}).Page.HTML
			if _, body, _ := strings.Cut(html, "<main>\n"); !strings.HasPrefix(body, want) {
				t.Errorf("%.80s, want %s", body, want)
			}
		})
	}
}

// Composing takes linear time. Each of these patterns once took minutes.
func TestHostilePatternsAreComposedInLinearTime(t *testing.T) {
	t.Parallel()
	const limit = 30 * time.Second // of processor time

	const times = 33_000 // just below the limit of elements
	for name, content := range map[string]string{
		"lines that end in a colon": strings.Repeat("a:\n\n", times) + grid(15, 1, "1,234.5 kg"),
		"paragraphs not closed":     strings.Repeat("<p>", times),
		"headings not closed":       "[[toc]]\n\n# One\n\n" + strings.Repeat("<h1 id=a>", times) + "\n\n# Two\n",
	} {
		t.Run(name, func(t *testing.T) {
			if took := cputime.Of(func() { compose(t, document.Document{Content: []byte(content)}) }); took > limit {
				t.Errorf("took %s of processor time, want at most %s", took, limit)
			}
		})
	}
}

func TestKeyDependsOnlyOnWhatIsPrinted(t *testing.T) {
	t.Parallel()

	sample, err := os.ReadFile("testdata/sample.md")
	if err != nil {
		t.Fatal(err)
	}
	base := document.Document{Content: sample, Theme: "nord"}

	key := compose(t, base).Key
	for range 5 {
		if again := compose(t, base).Key; again != key {
			t.Fatalf("composing again: key %s, want %s", again, key)
		}
	}
	keys := map[string]string{key: "base"}

	for name, d := range map[string]document.Document{
		"content":  {Content: append(slices.Clip(sample), "x"...), Theme: "nord"},
		"theme":    {Content: sample, Theme: "dark"},
		"size":     {Content: sample, Theme: "nord", Options: presswork.Options{PageSize: "A5"}},
		"scale":    {Content: sample, Theme: "nord", Options: presswork.Options{Scale: new(0.9)}},
		"keywords": {Content: sample, Theme: "nord", Options: presswork.Options{Keywords: presswork.Keywords{"x"}}},
		"css":      {Content: sample, Theme: "nord", Options: presswork.Options{CSS: "p{}"}},
	} {
		t.Run(name, func(t *testing.T) {
			k := compose(t, d).Key
			if other, taken := keys[k]; taken {
				t.Errorf("%s has the key of %s", name, other)
			}
			keys[k] = name
		})
	}

	newer, err := converter(t, document.Options{Printer: blank{"test/2"}}).Compose(t.Context(), base)
	if err != nil || newer.Key == key {
		t.Errorf("another browser version has the same key (%v)", err)
	}
	// A file name that is not shown anywhere changes nothing.
	base.Filename = "other.md"
	if compose(t, base).Key != key {
		t.Error("another file name gives another key, want the same: the name is shown nowhere")
	}
}

func TestComposedPageFetchesNothing(t *testing.T) {
	t.Parallel()

	c := compose(t, document.Document{
		Content: []byte(
			"---\nheader_text: '</style><script>x</script>'\ncss: '@import \"http://x/\"; p{background:url(http://x/)}</style><script>'\n---\n" +
				"![a](http://x/a.png) <img src=http://x/> <style>p{background:url(http://x/)}</style>\n\n<link rel=stylesheet href=http://x/>\n",
		),
		Options: presswork.Options{Title: `</title><script src="http://x/">`},
	})
	for _, bad := range []string{"<script", "<link", "@import", "url(http", `src="http`, "srcset", "http-equiv=\"refresh\""} {
		if strings.Contains(c.Page.HTML, bad) {
			t.Errorf("the page has %q, want nothing that loads or runs", bad)
		}
	}

	const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:;`
	if !strings.Contains(c.Standalone(), policy) {
		t.Errorf("the standalone page lacks the policy %s", policy)
	}
	// The printer has a policy of its own: one in each document would slow down its tabs.
	if strings.Contains(c.Page.HTML, policy) {
		t.Error("the printed page has a content security policy, want none")
	}
}

func TestStrictTurnsWarningsIntoAnError(t *testing.T) {
	t.Parallel()

	content := []byte("# A\n\n### C\n\n[x](#y)\n")
	if c := compose(t, document.Document{Content: content}); len(c.Warnings) != 2 {
		t.Errorf("got warnings %v, want two", c.Warnings)
	}

	_, err := converter(t, document.Options{}).Compose(
		t.Context(),
		document.Document{Content: content, Options: presswork.Options{Strict: new(true)}},
	)
	if fault.CodeOf(err) != fault.StrictFindings || !strings.Contains(err.Error(), "line 3: heading") {
		t.Errorf("got %v, want %s with the warning of line 3", err, fault.StrictFindings)
	}
}

func TestRemoteImagesNeedPermission(t *testing.T) {
	t.Parallel()
	fetches := 0
	c := converter(t, document.Options{Fetch: func(context.Context, string) ([]byte, string, error) {
		fetches++
		return nil, "", errors.New("no")
	}})

	for _, allowed := range []bool{true, false} {
		fetches = 0

		got, err := c.Compose(t.Context(), document.Document{
			Content: []byte("![a](http://x/)"),
			Options: presswork.Options{RemoteImages: new(allowed)},
		})
		if err != nil || len(got.Warnings) != 1 || (fetches == 1) != allowed {
			t.Errorf("allowed %v: %d fetches, warnings %v, error %v; want one warning, and a fetch if allowed",
				allowed, fetches, got.Warnings, err)
		}
	}
}

func TestUnknownThemeIsRejected(t *testing.T) {
	t.Parallel()

	_, err := converter(t, document.Options{}).Compose(
		t.Context(),
		document.Document{Content: []byte("x"), Theme: "nrod"},
	)
	if fault.CodeOf(err) != fault.ThemeNotFound {
		t.Errorf("got %v, want %s", err, fault.ThemeNotFound)
	}
}

// A stylesheet of the caller may read any custom property, so the page defines all of them. Other pages have the
// values in place of the properties.
func TestOnlyPagesWithForeignStylesheetsDefineProperties(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()

	css := ":root{--primary:#123456;--base-100:#fff;--base-content:#000}@media print{:root{--link:red}}"
	if err := os.WriteFile(dir+"/mine.css", []byte(css), 0o600); err != nil {
		t.Fatal(err)
	}
	themes := themes.Open(themes.Options{Dir: dir})
	c := converter(t, document.Options{Themes: themes})

	for name, d := range map[string]struct {
		document.Document
		all bool // the page defines all properties
	}{
		"theme of the caller": {document.Document{Theme: "mine"}, true},
		"css option": {
			document.Document{Theme: "nord", Options: presswork.Options{CSS: "a{color:var(--primary)}"}}, true,
		},
		"built-in theme": {document.Document{Theme: "nord"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			d.Content = []byte("[a](https://example.com/)")

			got, err := c.Compose(t.Context(), d.Document)
			if err != nil {
				t.Fatal(err)
			}

			for _, part := range []string{"a[href]{color: var(--link)", ";--primary:#", "--sheet-width:210mm"} {
				if strings.Contains(got.Page.HTML, part) != d.all {
					t.Errorf("the page has %q: %v, want %v", part, !d.all, d.all)
				}
			}
		})
	}
}
