package main

import (
	"cmp"
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
	"presswork/internal/fault"
	"presswork/internal/local"
	"presswork/internal/test/printed"
)

// Report is the result of a corpus.
type Report struct {
	Documents int `json:"documents"`
	Words     int `json:"words"`
	Bytes     int `json:"bytes"`
	// Lost lists, by document, the words that cmark-gfm shows and our page does not.
	Lost map[string][]string `json:"lost"`
	// Notes lists Markdown syntax that a page shows as text.
	Notes map[string][]string `json:"notes"`
	// Failures lists the documents that could not be converted.
	Failures map[string]string `json:"failures"`
	Prints   []Print           `json:"prints"`
}

// Print is a document in a theme.
type Print struct {
	Path   string `json:"path"`
	Folder string `json:"folder"` // the first one below the corpus
	Theme  string `json:"theme"`
	PDF    string `json:"pdf"`
	// Failure is the reason why there is no print; "" after success.
	Failure string  `json:"failure,omitempty"`
	MS      float64 `json:"ms"`
	Pages   Pages   `json:"pages"`
	// Worst is the number of the page with the most empty space at its end, and Empty is that share of the page.
	Worst int     `json:"worst,omitempty"`
	Empty float64 `json:"empty,omitempty"`
	// Lost lists the words of the web page that the print lacks. Outside lists those in its left or right margin or
	// beyond the sheet.
	Lost     []string                  `json:"lost,omitempty"`
	Outside  []string                  `json:"outside,omitempty"`
	Warnings map[fault.WarningCode]int `json:"warnings,omitempty"`
}

// options are the flags.
type options struct {
	dir    string
	themes []string
	keep   string // the folder of the PDFs
	jobs   int
	rotate int // number of themes for each document; 0 for all
}

// find lists the Markdown files below a folder.
func find(dir string) (paths []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() &&
			slices.Contains([]string{".md", ".markdown", ".mdx", ".qmd", ".rmd"}, strings.ToLower(filepath.Ext(path))) {
			paths = append(paths, path)
		}

		return err
	})
	if err == nil && len(paths) == 0 {
		err = fmt.Errorf("%s has no Markdown (.md, .markdown, .mdx, .qmd, .Rmd)", dir)
	}

	return paths, err
}

// run converts every document to HTML and prints it in its themes.
func run(ctx context.Context, o options) (Report, error) {
	paths, err := find(o.dir)
	if err != nil {
		return Report{}, err
	}
	r := Report{
		Documents: len(paths),
		Lost:      map[string][]string{},
		Failures:  map[string]string{},
		Notes:     map[string][]string{},
	}

	pages, err := r.readPages(ctx, o, paths)
	if err != nil {
		return r, err
	}

	for n, theme := range o.themes {
		if err := r.print(ctx, o, theme, o.documentsOf(n, paths), pages); err != nil {
			return r, err
		}
	}

	return r, nil
}

// documentsOf returns the documents to print in a theme: all of them, or a share if rotate is set.
func (o options) documentsOf(theme int, paths []string) (out []string) {
	for n, path := range paths {
		if k := len(o.themes); o.rotate == 0 || (theme-n*o.rotate%k+k)%k < o.rotate {
			out = append(out, path)
		}
	}

	return out
}

// convert converts documents with a theme, and calls each with every result in the order of paths.
func convert(
	ctx context.Context,
	o options,
	output presswork.Output,
	theme string,
	paths []string,
	each func(path string, out local.Output, err error) error,
) error {
	c := local.New(local.Options{Output: output, Jobs: o.jobs})
	if err := c.Start(ctx); err != nil {
		return err
	}
	defer func() { _ = c.Close() }()

	if err := c.CheckTheme(theme); err != nil {
		return err
	}

	var inputs []local.Input
	for n, path := range paths {
		inputs = append(inputs, local.Input{
			Path: path, Output: filepath.Join(o.keep, fmt.Sprintf("%04d-%s.%s", n, theme, output)), Theme: theme,
			Options: presswork.Options{
				PageSize:   "A4",
				FooterText: new(""),
				HeaderText: new(""),
				Margins: presswork.Margins{
					Top: sheetMargin, Right: sheetMargin, Bottom: sheetMargin, Left: sheetMargin,
				},
			},
		})
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

// readPages converts documents to HTML, and compares their words with those of cmark-gfm. It returns the words of each
// page.
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

		if notes := visibleSyntax(page); len(notes) > 0 {
			r.Notes[path] = notes
		}

		return os.Remove(out.Path)
	})

	return pages, err
}

// print prints documents in a theme and examines the pages.
func (r *Report) print(ctx context.Context, o options, theme string, paths []string, pages map[string]words) error {
	return convert(ctx, o, presswork.PDF, theme, paths, func(path string, out local.Output, err error) error {
		below, _ := filepath.Rel(o.dir, path)
		folder, _, _ := strings.Cut(filepath.ToSlash(below), "/")

		p := Print{Path: path, Folder: folder, Theme: theme, PDF: out.Path, Warnings: map[fault.WarningCode]int{}}
		for _, w := range out.Warnings {
			p.Warnings[w.Code]++
		}

		if err != nil {
			p.Failure, err = err.Error(), nil
		} else {
			p.MS = float64(out.Times.Render+out.Times.Print) / float64(time.Millisecond)
			err = p.inspect(ctx, pages[path])
		}
		r.Prints = append(r.Prints, p)

		return cmp.Or(ctx.Err(), err)
	})
}

// inspect looks for lost words, words outside the margins and empty space in a PDF. page has the words of the document.
func (p *Print) inspect(ctx context.Context, page words) error {
	text, err := poppler(ctx, "pdftotext", "-raw", p.PDF, "-")
	if err != nil {
		return err
	}
	p.Lost = page.letters().lost(wordsOf(text).letters())

	boxes, err := poppler(ctx, "pdftotext", "-bbox", p.PDF, "-")
	if err != nil {
		return err
	}
	p.Outside = outsideMargins(boxes)
	rows, err := printed.InkedRows(ctx, p.PDF, resolution)
	p.Pages, p.Worst, p.Empty = countPages(rows)

	return err
}

// syntax matches Markdown syntax that readers should not see outside code.
var syntax = regexp.MustCompile(
	`(?m)^:{3,}.*$|\[!\w+\]|\{[#.][\w-]+[^}\n]*\}|!?\[\[[^\]\n]+\]\]|^%%.*|\{%.*?%\}|^\|.*\|$|^#{1,6} .*` +
		`|\*\*\S[^*\n]*\*\*|^<[A-Z]\w+`,
)

var (
	block = regexp.MustCompile(`(?s)<(pre|title|svg)\b.*?</(pre|title|svg)>`)
	code  = regexp.MustCompile(`(?s)<code\b.*?</code>`)
)

// visibleSyntax returns the Markdown syntax that a page shows as text, sorted and each once.
func visibleSyntax(page []byte) []string {
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

// quantile returns the q-quantile of sorted values.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}

	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}
