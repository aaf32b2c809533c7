package document_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/document"
)

// figurePNG returns the data URI of a square of 200 pixels: a cross of one colour on another.
func figurePNG(t *testing.T, ink, ground color.Color) string {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, 200, 200))

	for x := range 200 {
		for y := range 200 {
			m.Set(x, y, ground)

			if x/20 == 5 || y/20 == 5 {
				m.Set(x, y, ink)
			}
		}
	}

	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}

	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())
}

// luminance returns the brightness of a colour, 0 to 255.
func luminance(c color.Color) uint8 { return color.GrayModel.Convert(c).(color.Gray).Y }

// A plate is a white area behind a figure. Without plates, a dark page has no white areas larger than letters.
func TestDarkFiguresGetAPlateOnDarkPages(t *testing.T) {
	t.Parallel()
	c := converter(t, document.Options{Printer: printer(t)})
	black := figurePNG(t, color.Black, color.Transparent)

	svg := "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(
		`<svg xmlns="http://www.w3.org/2000/svg" width="200" height="200"><path d="M100 0v200M0 100h200" stroke="#000" stroke-width="20"/></svg>`,
	))
	for name, doc := range map[string]struct {
		content, theme string
		ink            *bool
		plate          bool
	}{
		"alone":           {content: "![cross](" + black + ")", theme: "dracula", plate: true},
		"a figure":        {content: "![cross](" + black + ` "Caption")`, theme: "night", plate: true},
		"in a table":      {content: "| a |\n|---|\n| ![cross](" + black + "){width=150} |", theme: "dracula", plate: true},
		"in a line":       {content: "text ![cross](" + black + "){width=60} text", theme: "dracula", plate: true},
		"an SVG":          {content: "![cross](" + svg + ")", theme: "dracula", plate: true},
		"a colour":        {content: "![cross](" + figurePNG(t, color.NRGBA{R: 0xff, G: 0x80, A: 0xff}, color.Transparent) + ")", theme: "dracula"},
		"saving ink":      {content: "![cross](" + black + ")", theme: "dracula", ink: new(true)},
		"on a light page": {content: "![cross](" + black + ")", theme: "cupcake"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := document.Document{
				Content: []byte(doc.content + "\n"),
				Theme:   doc.theme,
				Options: presswork.Options{InkSaver: doc.ink},
			}

			composed, err := c.Compose(t.Context(), d)
			if err != nil {
				t.Fatal(err)
			}

			if marked := strings.Contains(composed.Page.HTML, ` class="image-plate"`); marked != doc.plate {
				t.Errorf("the figure has the class of a plate: %v, want %v", marked, doc.plate)
			}
			_, path := convert(t, c, d)

			page := pictures(t, path)[0]
			if dark := luminance(page.At(3, 3)) < 50; dark != (doc.ink == nil && doc.theme != "cupcake") {
				t.Fatalf("the page is dark: %v, want %v", dark, !dark)
			} else if !dark {
				return
			}
			white := 0

			for x := range page.Bounds().Dx() - 1 { // the page covers only a part of the last pixels
				for y := range page.Bounds().Dy() - 1 {
					if luminance(page.At(x, y)) == 255 {
						white++
					}
				}
			}

			if got := white > 20; got != doc.plate {
				t.Errorf("the page has %d white pixels, want a plate: %v", white, doc.plate)
			}
		})
	}
}
