package chromium_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"presswork/internal/chromium"
	"presswork/internal/chromium/printable"
	"presswork/internal/fault"
	"presswork/internal/test/browsertest"
	"presswork/internal/test/public"
	"presswork/internal/test/wait"
)

func TestPrintedTextIsThatOfThePage(t *testing.T) {
	t.Parallel()

	b := browsertest.Start(t, chromium.Options{Tabs: 1})

	got, want := text(t, mustPrint(t, b, page("<h1>Hello</h1><p>Grüße, 世界 &amp; κόσμε"))), "Hello Grüße, 世界 & κόσμε"
	if got != want {
		t.Errorf("text %q, want %q", got, want)
	}

	if v := b.Version(); !strings.Contains(v, "Chrome/") {
		t.Errorf("Version() = %q, want one with Chrome/", v)
	}
}

func TestPrintsFollowTheirSheet(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t, chromium.Options{Tabs: 2})

	pages := "<p>one<p style='break-before:page'>two<p style='break-before:page'>three"
	for name, c := range map[string]struct {
		html  string
		sheet printable.Sheet
		key   string
		want  string
	}{
		"default A4":       {"<p>x", printable.Sheet{}, "Page size", "595.92 x 841.92 pts (A4)"},
		"sheet size":       {"<p>x", printable.Sheet{Width: 8.5, Height: 11}, "Page size", "612 x 792 pts (letter)"},
		"@page wins":       {"<style>@page{size:100mm 50mm}</style><p>x", printable.Sheet{Width: 8.5, Height: 11}, "Page size", "282.96 x 142.08 pts"},
		"untagged":         {"<p>x", printable.Sheet{}, "Tagged", "no"},
		"tagged":           {"<p>x", printable.Sheet{Tagged: true}, "Tagged", "yes"},
		"all pages":        {pages, printable.Sheet{}, "Pages", "3"},
		"page ranges":      {pages, printable.Sheet{PageRanges: "1,3"}, "Pages", "2"},
		"streamed (large)": {"<!--" + strings.Repeat("x", 2<<20) + "-->" + pages, printable.Sheet{}, "Pages", "3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := page(c.html)

			p.Sheet = c.sheet
			if got := info(t, mustPrint(t, b, p), c.key); got != c.want {
				t.Errorf("%s: %s, want %s", c.key, got, c.want)
			}
		})
	}
	t.Run("outline", func(t *testing.T) {
		t.Parallel()

		for _, want := range []bool{true, false} {
			p := page("<h1>Chapter</h1>")

			p.Sheet = printable.Sheet{Tagged: true, Outline: want}
			if got := bytes.Contains(mustPrint(t, b, p), []byte("/Outlines")); got != want {
				t.Errorf("the PDF has an outline: %v, want %v", got, want)
			}
		}
	})
	t.Run("invalid ranges", func(t *testing.T) {
		t.Parallel()

		for _, ranges := range []string{"abc", "3-1", "0", "9"} {
			t.Run(ranges, func(t *testing.T) {
				p := page(pages)
				p.Sheet.PageRanges = ranges
				_, err := b.Print(t.Context(), p)

				e, _ := errors.AsType[*fault.Error](err)
				if e == nil || e.Code != fault.InvalidOption || e.Param != "options.page_ranges" {
					t.Errorf("ranges %q: error %v, want invalid_option of options.page_ranges", ranges, err)
				}
			})
		}
	})
}

// printToPDF waits for the content of data: URLs, so Print need not.
func TestPrintsDataImagesAndFonts(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t, chromium.Options{Tabs: 1})

	png := "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	for name, html := range map[string]string{
		"img":      "<img width=50 height=50 src=" + png + ">",
		"lazy img": "<div style='height:9000px'></div><img loading=lazy width=50 height=50 src=" + png + ">",
		"css":      "<div style='width:50px;height:50px;background:url(" + png + ")'></div>",
		"svg img":  "<img width=50 src=\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><image width='9' height='9' href='" + png + "'/></svg>\">",
	} {
		t.Run(name, func(t *testing.T) {
			for range 5 {
				if out := mustPrint(t, b, page(html)); !bytes.Contains(out, []byte("/Subtype /Image")) {
					t.Errorf("%s: the PDF has no image, want one", name)
				}
			}
		})
	}
}

func TestWaitingPrintsGetTheirOwnText(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t, chromium.Options{Tabs: 2, QueueLimit: 200})

	var wg sync.WaitGroup
	for n := range 200 {
		wg.Go(func() {
			out, err := b.Print(t.Context(), page(fmt.Sprintf("<p>document %d", n)))
			if err != nil {
				t.Errorf("print %d: error %v, want nil", n, err)
				return
			}

			if got, want := text(t, out), fmt.Sprintf("document %d", n); got != want {
				t.Errorf("text %q, want %q", got, want)
			}
		})
	}
	wg.Wait()
	wait.Until(t, "no tab is in use",
		func() bool { return b.Stats().Busy == 0 }) // the browser empties idle tabs from time to time

	if s := b.Stats(); s.Prints != 200 || s.Launches != 1 || s.Waiting != 0 {
		t.Errorf("stats %+v, want 200 prints of one browser", s)
	}
}

func TestMalformedHTMLIsPrinted(t *testing.T) {
	t.Parallel()

	b := browsertest.Start(t, chromium.Options{Tabs: 1})
	for html, want := range map[string]string{
		"":                               "",
		"a\x00b \xff\xfe c":              "ab \ufffd\ufffd c",
		"</script>\"\\\u2028 \x7f&#0; d": "",
		"<p>deep" + strings.Repeat("<blockquote>", 10000):    "",
		"<!--" + strings.Repeat("<é", 6<<20) + "--><p>18 MB": "18 MB",
	} {
		t.Run(fmt.Sprintf("%.20q", html), func(t *testing.T) {
			out, err := b.Print(t.Context(), printable.Page{HTML: html})
			if err != nil {
				t.Errorf("%.20q: error %v, want nil", html, err)
				return
			}

			if got := text(t, out); want != "" && got != want {
				t.Errorf("%.20q: text %q, want %q", html, got, want)
			}
		})
	}

	if s := b.Stats(); s.Launches != 1 || s.TabsLost != 0 {
		t.Errorf("stats %+v, want one launch and no lost tab", s)
	}
}

func TestFontsComeFromFontConfig(t *testing.T) {
	t.Parallel()
	dir := public.Dir(t)
	conf := filepath.Join(dir, "fonts.conf")
	public.File(t, conf, `<?xml version="1.0"?><fontconfig><dir>/usr/share/fonts/truetype/dejavu</dir></fontconfig>`)
	b := browsertest.Start(t, chromium.Options{Tabs: 1, FontConfig: conf})

	out := mustPrint(t, b, page("<p style='font-family:Liberation Serif,Noto Serif,serif'>text"))

	fonts := runTool(t, out, "pdffonts", "-")
	if !strings.Contains(fonts, "DejaVu") || strings.Contains(fonts, "Liberation") {
		t.Errorf("fonts:\n%s\nwant DejaVu only", fonts)
	}
}

func TestErrorNamesADirectoryThatTheBrowserCannotReach(t *testing.T) {
	t.Parallel()

	if os.Getuid() != 0 {
		t.Skip("needs root: otherwise the browser runs as the user of the test")
	}

	if testing.Short() {
		t.Skip("needs Chromium; `make test` runs this test")
	}
	b := browsertest.Start(t, chromium.Options{Tabs: 1, Dir: t.TempDir()})

	_, err := b.Print(t.Context(), page("x"))
	if fault.CodeOf(err) != fault.BrowserUnavailable || !strings.Contains(err.Error(), "must be able to reach") {
		t.Errorf("error %v, want browser_unavailable because of the directory", err)
	}
}
