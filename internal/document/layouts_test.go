package document_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/document"
	"presswork/internal/fault"
	"presswork/internal/test/golden"
)

// example returns the Markdown of testdata/layouts/NAME.md.
func example(t *testing.T, name string) []byte {
	t.Helper()

	content, err := os.ReadFile(filepath.Join("testdata", "layouts", name+".md"))
	if err != nil {
		t.Fatal(err)
	}

	return content
}

// bodyOf returns a page from its <body> tag on.
func bodyOf(html string) string { return html[strings.Index(html, "<body"):] }

func TestLayoutsGolden(t *testing.T) {
	t.Parallel()

	for _, name := range []string{"letter", "letter-us", "cv", "recipe", "minutes"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := compose(t, document.Document{Content: example(t, name)})
			if len(c.Warnings) > 0 {
				t.Errorf("warnings: %v", c.Warnings)
			}
			golden.Check(t, filepath.Join("layouts", name+".html"), []byte(bodyOf(c.Page.HTML)))
		})
	}

	t.Run("paper", func(t *testing.T) {
		t.Parallel()
		content := "---\nas: paper\ntitle: T\nauthor: [{name: A, affiliation: I}]\nabstract: Short.\ncolumns: 2\n---\n\n" +
			"## One\n\nText $x$.[^1]\n\n| " + strings.Repeat(
			"a long head | ",
			12,
		) + "\n" + strings.Repeat(
			"|---",
			12,
		) + "|\n\n[^1]: Note.\n"
		c := compose(t, document.Document{Content: []byte(content)})
		golden.Check(t, filepath.Join("layouts", "paper.html"), []byte(bodyOf(c.Page.HTML)))
	})
}

// The places of DIN 5008 are in millimetres from the upper edge: the window of the envelope, and the subject.
func TestTheAddressOfALetterIsInTheWindow(t *testing.T) {
	t.Parallel()
	const mm = 72 / 25.4

	for name, test := range map[string]struct {
		form            string
		margins         presswork.Margins
		window, subject float64
	}{
		"form B":        {"B", presswork.Margins{}, 45, 98.5},
		"form A":        {"A", presswork.Margins{}, 27, 80.5},
		"other margins": {"B", presswork.Margins{Top: "15mm", Left: "30mm"}, 45, 98.5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content := strings.Replace(string(example(t, "letter")), "as: letter", "as: letter\nform: "+test.form, 1)
			_, path := printDocument(t, document.Document{
				Content: []byte(content), Theme: "nord", Options: presswork.Options{Margins: test.margins},
			})
			words := wordsIn(t, path)

			for _, begin := range []string{"Frau", "26721"} {
				w := wordWith(t, words, begin)
				if left, top := w.left/mm, w.top/mm; left < 24.5 || left > 26 || top < test.window+17 ||
					w.bottom/mm > test.window+45 {
					t.Errorf("%s is %.1f mm from the left and %.1f mm from the top, want it in the window", begin,
						left, top)
				}
			}

			if subject := wordWith(t, words, "Leihgabe").top / mm; math.Abs(subject-test.subject) > 2 {
				t.Errorf("the subject is at %.1f mm, want %.1f", subject, test.subject)
			}

			if place := wordWith(t, words, "NL-2026-114"); place.left/mm < 125 {
				t.Errorf("the reference is %.1f mm from the left, want at least 125", place.left/mm)
			}
		})
	}
}

// Each of these documents takes one page.
func TestLayoutsPlaceTheirFields(t *testing.T) {
	t.Parallel()

	for name, check := range map[string]func(t *testing.T, words []printedWord){
		"recipe": func(t *testing.T, words []printedWord) {
			t.Helper()

			last, step := wordWith(t, words, "walnuts,"), wordWith(t, words, "Heat")
			if step.left < last.right || step.top > last.top {
				t.Errorf("the first step is at %+v, want it right of the last ingredient at %+v", step, last)
			}

			if note := wordWith(t, words, "Notes"); note.left < last.right {
				t.Errorf("the text below the steps is at %+v, want it right of the ingredients", note)
			}
		},
		"cv": func(t *testing.T, words []printedWord) {
			t.Helper()

			what, when := wordWith(t, words, "Head"), wordWith(t, words, "2019")
			if when.left < 400 || math.Abs(what.bottom-when.bottom) > 4 {
				t.Errorf("the date %+v is not at the end of the line of %+v", when, what)
			}
		},
		"minutes": func(t *testing.T, words []printedWord) {
			t.Helper()

			if task, text := wordWith(t, words, "Order"), wordWith(t, words, "Ann"); task.top < text.top {
				t.Error("the actions are above the people, want them below")
			}
		},
		"letter-us": func(t *testing.T, words []printedWord) {
			t.Helper()

			if from, to := wordWith(t, words, "Northlight"), wordWith(t, words, "Museum"); math.Abs(from.left-to.left) > 1 {
				t.Errorf("the sender begins at %.1f pt, the recipient at %.1f, want both at one edge", from.left, to.left)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			made, path := printDocument(t, document.Document{Content: example(t, name), Theme: "dark"})
			if made.Pages != 1 {
				t.Errorf("%d pages, want 1", made.Pages)
			}
			check(t, wordsIn(t, path))
		})
	}
}

func TestAutoChoosesTheLayoutByFrontMatter(t *testing.T) {
	t.Parallel()

	for name, class := range map[string]string{
		"letter": "letter", "cv": "cv", "recipe": "recipe", "minutes": "minutes",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content := strings.Replace(string(example(t, name)), "as: "+name, "as: auto", 1)

			if got := bodyOf(compose(t, document.Document{Content: []byte(content)}).Page.HTML); !strings.HasPrefix(
				got, fmt.Sprintf(`<body class=%q>`, class)) {
				t.Errorf("got %.60s, want %s", got, class)
			}
		})
	}

	t.Run("recipe without the option", func(t *testing.T) {
		t.Parallel()
		content := "---\ntitle: Bread\ningredients: [\"3 bananas\"]\ndirections: [Mash., Bake.]\n---\nFrom Angie's mom\n"

		body := bodyOf(compose(t, document.Document{Content: []byte(content)}).Page.HTML)
		for _, want := range []string{`<body class="recipe">`, "<li>3 bananas</li>", "<li>Bake.</li>", "From Angie"} {
			if !strings.Contains(body, want) {
				t.Errorf("the body lacks %s: %s", want, body)
			}
		}

		plain := strings.Replace(content, "---", "---\nas: document", 1)

		body = bodyOf(compose(t, document.Document{Content: []byte(plain)}).Page.HTML)
		if strings.Contains(body, "bananas") {
			t.Errorf("as: document prints the ingredients: %s", body)
		}
	})

	html := compose(t, document.Document{
		Content: []byte("# Release notes\n\n- Fixed a bug.\n- Added `--flag`.\n"),
		Options: presswork.Options{As: "auto"},
	}).Page.HTML
	if body := bodyOf(html); !strings.HasPrefix(body, "<body>") {
		t.Errorf("release notes have %.60s, want no layout", body)
	}
}

func TestLettersAreRejectedAsEPUB(t *testing.T) {
	t.Parallel()
	c := converter(t, document.Options{})

	for name, test := range map[string]struct {
		d    document.Document
		code fault.Code
	}{
		"front matter": {document.Document{Content: example(t, "letter")}, fault.FrontMatterInvalid},
		"option": {
			document.Document{Content: []byte("Text"), Options: presswork.Options{As: "letter"}}, fault.InvalidOption,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.d.Output = presswork.EPUB

			_, err := c.Compose(t.Context(), test.d)
			if e := fault.AsError(err); e == nil || e.Code != test.code ||
				!strings.Contains(e.Message, "pdf, html and png") {
				t.Errorf("got %v, want the code %s", err, test.code)
			}
		})
	}
}
