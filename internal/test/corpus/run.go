package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"presswork"
	"presswork/internal/local"
	"presswork/internal/test/printed"
)

// Report is what a corpus became.
type Report struct {
	Documents int      `json:"documents"`
	Words     int      `json:"words"`
	Bytes     int      `json:"bytes"`
	Themes    []Themed `json:"themes"`
	// Lost are words that cmark-gfm shows and our page does not, by document.
	Lost map[string][]string `json:"lost"`
	// Failures are why a document was not made into a page or a print.
	Failures map[string]string `json:"failures"`
	// Notes are forms of Markdown that are still to be read in a page.
	Notes map[string][]string `json:"notes"`
}

// Themed is what the documents are in one theme.
type Themed struct {
	Theme    string `json:"theme"`
	Printed  int    `json:"printed"`
	Failures int    `json:"failures"`
	Pages    Pages  `json:"pages"`
	// Lost counts words of the page that the print does not hold.
	Lost     int                           `json:"lost"`
	Warnings map[presswork.WarningCode]int `json:"warnings"`
	// PageTimes are the milliseconds of each document by its pages, and Times
	// those of each document, both in order of size.
	PageTimes []float64 `json:"-"`
	Times     []float64 `json:"-"`
	// MedianMS and PageMS are the medians, P95MS is of documents.
	MedianMS float64 `json:"median_ms"`
	P95MS    float64 `json:"p95_ms"`
	PageMS   float64 `json:"page_ms"`
	// Remarkable are documents that lost words in print, and pages that are slivers
	// or emptier than a third.
	Remarkable []string `json:"remarkable"`
}

// options are the flags.
type options struct {
	dir    string
	themes []string
	keep   string // the folder of the PDFs
	jobs   int
}

// find lists the Markdown files below a folder.
func find(dir string) (paths []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && slices.Contains([]string{".md", ".markdown", ".mdx", ".qmd", ".rmd"}, strings.ToLower(filepath.Ext(path))) {
			paths = append(paths, path)
		}
		return err
	})
	if err == nil && len(paths) == 0 {
		err = fmt.Errorf("%s holds no Markdown (.md, .markdown, .mdx, .qmd, .Rmd)", dir)
	}
	return paths, err
}

func run(ctx context.Context, o options) (Report, error) {
	paths, err := find(o.dir)
	if err != nil {
		return Report{}, err
	}
	r := Report{Documents: len(paths), Lost: map[string][]string{}, Failures: map[string]string{}, Notes: map[string][]string{}}
	pages, err := r.readPages(ctx, o, paths)
	if err != nil {
		return r, err
	}
	for _, theme := range o.themes {
		themed, err := r.print(ctx, o, theme, paths, pages)
		if err != nil {
			return r, err
		}
		r.Themes = append(r.Themes, themed)
	}
	return r, nil
}

// convert makes each document into an output, in its order.
func convert(ctx context.Context, o options, output presswork.Output, theme string, paths []string, each func(path string, out local.Output, err error) error) error {
	c := local.New(local.Options{Output: output, Jobs: o.jobs})
	if err := c.Start(ctx); err != nil {
		return err
	}
	defer func() { _ = c.Stop(context.WithoutCancel(ctx)) }()
	if err := c.CheckTheme(theme); err != nil {
		return err
	}
	var inputs []local.Input
	for n, path := range paths {
		inputs = append(inputs, local.Input{Path: path, Output: filepath.Join(o.keep, fmt.Sprintf("%04d-%s.%s", n, theme, output)), Theme: theme,
			Options: presswork.Options{PageSize: "A4", FooterText: new(""), HeaderText: new(""),
				Margins: presswork.Margins{Top: sheetMargin, Right: sheetMargin, Bottom: sheetMargin, Left: sheetMargin}}})
	}
	n := 0
	for out, err := range c.Batch(ctx, inputs) {
		if err := each(paths[n], out, err); err != nil {
			return err
		}
		n++
	}
	return ctx.Err()
}

// readPages makes documents into HTML, and compares their words with those that
// cmark-gfm finds. It returns those of each page.
func (r *Report) readPages(ctx context.Context, o options, paths []string) (map[string]words, error) {
	pages := map[string]words{}
	err := convert(ctx, o, presswork.HTML, "light", paths, func(path string, out local.Output, err error) error {
		if err != nil {
			r.Failures[path] = err.Error()
			return nil
		}
		page, err := os.ReadFile(out.Path)
		if err != nil {
			return err
		}
		text, err := visibleText(page)
		if err != nil {
			return err
		}
		document, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		reference, err := referenceWords(ctx, document)
		if err != nil {
			return err
		}
		pages[path] = wordsOf(text)
		r.Words += reference.total()
		r.Bytes += len(document)
		if lost := reference.lost(pages[path]); len(lost) > 0 {
			r.Lost[path] = lost
		}
		if notes := leftOver(page); len(notes) > 0 {
			r.Notes[path] = notes
		}
		return os.Remove(out.Path)
	})
	return pages, err
}

// print prints documents in a theme and looks at what came out.
func (r *Report) print(ctx context.Context, o options, theme string, paths []string, pages map[string]words) (Themed, error) {
	t := Themed{Theme: theme, Warnings: map[presswork.WarningCode]int{}}
	err := convert(ctx, o, presswork.PDF, theme, paths, func(path string, out local.Output, err error) error {
		for _, w := range out.Warnings {
			t.Warnings[w.Code]++
		}
		if err != nil {
			t.Failures++
			r.Failures[path] = err.Error()
			return nil
		}
		t.Printed++
		ms := float64(out.Times.Render+out.Times.Print) / float64(time.Millisecond)
		t.Times = append(t.Times, ms)
		t.PageTimes = append(t.PageTimes, ms/float64(out.Pages))
		return t.inspect(ctx, path, out.Path, pages[path])
	})
	slices.Sort(t.Times)
	slices.Sort(t.PageTimes)
	t.MedianMS, t.P95MS, t.PageMS = quantile(t.Times, .5), quantile(t.Times, .95), quantile(t.PageTimes, .5)
	return t, err
}

func (t *Themed) inspect(ctx context.Context, path, print string, page words) error {
	text, err := printedWords(ctx, print)
	if err != nil {
		return err
	}
	if lost := page.letters().lost(text.letters()); len(lost) > 0 {
		t.Lost += len(lost)
		t.Remarkable = append(t.Remarkable, fmt.Sprintf("%s: the print %s lacks %d words: %s", path, print, len(lost), sample(lost)))
	}
	rows, err := printed.InkedRows(ctx, print, resolution)
	if err != nil {
		return err
	}
	p, worst, emptiest := look(rows)
	t.Pages.add(p)
	if p.Slivers > 0 || p.Gap33 > 0 {
		t.Remarkable = append(t.Remarkable, fmt.Sprintf("%s: %s has %d pages, %d slivers, %d more than a third empty; page %d to %.0f %%",
			path, print, p.All, p.Slivers, p.Gap33, worst, 100*emptiest))
	}
	return nil
}

// syntax is what no reader should see outside code.
var syntax = regexp.MustCompile(`(?m)^:{3,}.*$|\[!\w+\]|\{[#.][\w-]+[^}\n]*\}|!?\[\[[^\]\n]+\]\]|^%%.*|\{%.*?%\}|^\|.*\|$|^#{1,6} .*|\*\*\S[^*\n]*\*\*|^<[A-Z]\w+`)

var (
	block = regexp.MustCompile(`(?s)<(pre|title|svg)\b.*?</(pre|title|svg)>`)
	code  = regexp.MustCompile(`(?s)<code\b.*?</code>`)
)

// leftOver are the first forms of Markdown that a page shows.
func leftOver(page []byte) []string {
	text, err := visibleText(code.ReplaceAll(block.ReplaceAll(page, []byte("<hr>")), []byte("CODE")))
	if err != nil {
		return nil
	}
	found := syntax.FindAllString(text, -1)
	for i, f := range found {
		found[i] = shortened(f)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}
