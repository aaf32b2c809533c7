package local

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"presswork/internal/analysis/finding"
	"presswork/internal/chromium"
	"presswork/internal/chromium/printable"
	"presswork/internal/fault"
	"presswork/internal/pdffile/pack"
	"presswork/themes"
)

// Gallery requests a document that shows themes side by side.
type Gallery struct {
	// Document is a file or Std; its first page is shown. "": the sample.
	Document string
	// Themes are their names. Default: all.
	Themes []string
	// Choose analyses the document and puts the suitable themes first. Without a document, it shows those that
	// suit Options.Preference. With Themes, it only adds the analysis.
	Choose bool
	// Output is a file or Std. A name that ends in .html gives one self-contained page, any other a PDF.
	Output string
	// Progress is called for each theme, with how many are done. Default: no call.
	Progress func(theme string, done, of int)
}

// entry is one theme of a gallery.
type entry struct {
	themes.Theme
	Picture template.URL
	// Named reports whether the name differs from the label.
	Named bool
	// OtherTags are the tags except for the scheme.
	OtherTags []string
	// Families are the first families of the theme's font stacks, without duplicates.
	Families []string
	Swatches []swatch
	// Standing is "chosen", "alternative" or "".
	Standing string
}

// swatch is one of the theme's colours.
type swatch struct{ Name, Color string }

//go:embed gallery.html
var galleryHTML string

// A page of the PDF is A4. Its size is in inches.
const sheetWidth, sheetHeight = 210 / 25.4, 297 / 25.4

// MakeGallery takes a picture of the document's first page in each theme and writes them into one document.
// Errors: those of Convert, ThemeNotFound.
func (c *Converter) MakeGallery(ctx context.Context, g Gallery) (Output, error) {
	begun := time.Now()
	out := Output{Input: g.Document, Path: g.Output, Warnings: []fault.Warning{}, Sources: Snapshot{}}
	first := func(ctx context.Context, theme string) (printable.Page, error) {
		return c.engine.PreviewSheet(ctx, theme)
	}
	name := "The sample"
	var text []byte

	if g.Document != "" {
		doc, closeFiles, err := c.document(ctx, Input{Path: g.Document}, out.Sources)
		defer closeFiles()

		if err != nil {
			return out, err
		}
		text = doc.Text()
		first = func(ctx context.Context, theme string) (printable.Page, error) {
			d := doc
			d.Theme = theme

			return c.engine.FirstSheet(ctx, d)
		}

		if name = "Standard input"; g.Document != Std {
			name = filepath.Base(g.Document)
		}
	}

	names := g.Themes
	if g.Choose {
		ranked, err := c.rankThemes(ctx, text, &out)
		if err != nil {
			return out, err
		}

		if len(names) == 0 {
			names = ranked
		}
	}

	shown, err := c.selectThemes(names)
	if err != nil {
		return out, err
	}

	entries, err := c.entries(ctx, shown, first, g)
	if err != nil {
		return out, err
	}
	mark(entries, out.Analysis)

	data, pages, err := c.render(ctx,
		galleryView{Document: name, Entries: entries, Analysis: out.Analysis, Read: text != nil}, isHTML(g.Output))
	if err == nil {
		err = c.WriteResult(ctx, g.Output, data)
	}

	if err != nil {
		return out, err
	}
	out.Pages, out.Bytes, out.Elapsed = pages, len(data), time.Since(begun)

	return out, nil
}

// isHTML reports whether a file has the extension of a web page.
func isHTML(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return ext == ".html" || ext == ".htm"
}

// selectThemes returns the named themes, or all.
func (c *Converter) selectThemes(names []string) ([]themes.Theme, error) {
	if len(names) == 0 {
		return c.catalogue.List(), nil
	}

	list := make([]themes.Theme, 0, len(names))
	for _, name := range names {
		t, err := c.catalogue.Get(name)
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}

	return list, nil
}

// entries takes the pictures, as many at a time as the browser has tabs.
func (c *Converter) entries(
	ctx context.Context, shown []themes.Theme, first func(context.Context, string) (printable.Page, error), g Gallery,
) ([]entry, error) {
	list := make([]entry, len(shown))
	done := make(chan string)
	reported := make(chan struct{})

	// One goroutine calls Progress, so that it need not be safe for concurrent use.
	go func() {
		defer close(reported)

		n := 0
		for theme := range done {
			if n++; g.Progress != nil {
				g.Progress(theme, n, len(shown))
			}
		}
	}()
	// A PDF can contain JPEG unchanged. WebP is smaller, and every browser shows it.
	shot := chromium.ScreenshotOptions{Format: "jpeg", Quality: 88, Density: 1.25}
	if isHTML(g.Output) {
		shot = chromium.ScreenshotOptions{Format: "webp", Quality: 82, Density: 1.25}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(c.workers(len(shown)))

	for i, t := range shown {
		group.Go(func() error {
			page, err := first(ctx, t.Name)
			if err != nil {
				return err
			}

			picture, err := c.browser.Screenshot(ctx, page, shot)
			if err != nil {
				return err
			}
			list[i] = newEntry(t, shot.Format, picture)
			done <- t.Name

			return nil
		})
	}
	err := group.Wait()
	close(done)
	<-reported

	return list, err
}

// newEntry returns what the gallery shows of a theme: its picture, fonts and colours.
func newEntry(t themes.Theme, format string, picture []byte) entry {
	e := entry{
		Theme:   t,
		Picture: template.URL("data:image/" + format + ";base64," + base64.StdEncoding.EncodeToString(picture)),
	}
	e.Named = !strings.EqualFold(t.Name, t.Label)

	// The scheme is shown by itself.
	e.OtherTags = slices.DeleteFunc(slices.Clone(t.Tags), func(tag string) bool { return tag == t.Scheme })
	for _, stack := range []string{t.Fonts.Heading, t.Fonts.Body, t.Fonts.Mono} {
		family, _, _ := strings.Cut(stack, ",")
		if family = strings.Trim(family, ` "'`); family != "" && !slices.Contains(e.Families, family) {
			e.Families = append(e.Families, family)
		}
	}

	for _, name := range []string{"base_100", "base_content", "primary", "secondary", "accent", "neutral"} {
		if color := t.Colors[name]; color != "" {
			e.Swatches = append(e.Swatches, swatch{strings.ReplaceAll(name, "_", "-"), color})
		}
	}

	return e
}

// galleryView is the data for the template of a gallery.
type galleryView struct {
	Title, Document string
	Entries         []entry
	Default         string
	// Screen reports whether it is an HTML page.
	Screen bool
	// Analysis is set when themes were chosen, and Read when a document was read for that.
	Analysis *finding.Analysis
	Read     bool
}

// render returns the gallery as HTML, or as a PDF with its number of pages.
func (c *Converter) render(ctx context.Context, v galleryView, asHTML bool) (data []byte, pages int, err error) {
	t, err := template.New("gallery").Parse(galleryHTML)
	if err != nil {
		return nil, 0, fmt.Errorf("the gallery's template: %w", err)
	}
	v.Default, v.Screen = themes.Default, asHTML

	v.Title = fmt.Sprintf("%s in %d themes", v.Document, len(v.Entries))
	if len(v.Entries) == 1 {
		v.Title = fmt.Sprintf("%s in %s", v.Document, v.Entries[0].Label)
	}

	var b bytes.Buffer
	if err := t.Execute(&b, v); err != nil {
		return nil, 0, fmt.Errorf("the gallery: %w", err)
	}

	if asHTML {
		return b.Bytes(), 0, nil
	}
	page := printable.Page{
		HTML:  b.String(),
		Sheet: printable.Sheet{Width: sheetWidth, Height: sheetHeight, Tagged: true, Outline: true},
	}
	printed, err := c.engine.PrintPage(ctx, page, pack.Meta{Title: v.Title, Subject: "Themes of Presswork"})

	return printed.PDF, printed.Pages, err
}
