package pdf

import (
	"errors"
	"regexp"
	"strings"

	"presswork"
	"presswork/internal/imagetype"
	"presswork/themes"
)

const (
	// maxSheetWork bounds the SVG images of a stylesheet, in elements drawn, and
	// maxBackgrounds what they are when each element of the document shows them.
	maxSheetWork   = 5000
	maxBackgrounds = 10_000_000
	// maxLooks bounds how often the browser looks around an element because of a
	// selector: selectors that have it do so times elements.
	maxLooks = 2_000_000
)

var (
	// looking are the selectors for which a browser looks at more than an
	// element and what it lies in.
	looking    = regexp.MustCompile(`(?i):has\(|~[^=]`)
	cssComment = regexp.MustCompile(`(?s)/\*.*?\*/`)
)

// checkSheet refuses a stylesheet that takes the browser too long to apply to so
// many elements.
func checkSheet(css string, elements int) *presswork.Error {
	var work uint64
	for _, uri := range themes.DataURLs(css) {
		data, err := imagetype.ReadDataURI(uri)
		if err != nil {
			continue // nothing is shown
		}
		img, err := imagetype.Inspect(data)
		if err != nil {
			continue
		}
		if img.Pixels() > imagetype.MaxPixels {
			return presswork.Errorf(presswork.ContentTooComplex, "an image of the stylesheet has %d × %d pixels; at most %d million are allowed",
				img.Width, img.Height, imagetype.MaxPixels/1_000_000)
		}
		n, err := imagetype.Work(data, img.ContentType, true)
		if errors.Is(err, imagetype.ErrDeep) {
			return presswork.Errorf(presswork.ContentTooComplex, "an SVG image of the stylesheet nests elements or references deeper than %d levels", imagetype.MaxDepth)
		}
		if n > maxSheetWork {
			return presswork.Errorf(presswork.ContentTooComplex, "an SVG image of the stylesheet draws %d elements once its references are followed; at most %d are allowed", n, maxSheetWork)
		}
		work += n
	}
	if n := work * uint64(elements); n > maxBackgrounds {
		return presswork.Errorf(presswork.ContentTooComplex, "the SVG images of the stylesheet draw %d elements, and the document has %d that could show them; at most %d together are allowed", work, elements, maxBackgrounds)
	}
	if n := len(looking.FindAllStringIndex(cssComment.ReplaceAllString(css, ""), -1)); n*elements > maxLooks {
		return presswork.Errorf(presswork.ContentTooComplex, "the stylesheet has %d selectors with :has() or ~, and the document %d elements to try them on; at most %d together are allowed", n, elements, maxLooks)
	}
	return nil
}

// checkSheets refuses the caller's stylesheet, and that of an operator's theme,
// for a body.
func checkSheets(o presswork.Options, theme themes.Theme, body string) error {
	elements := strings.Count(body, "<") / 2
	if o.CSS != "" {
		if err := checkSheet(o.CSS, elements); err != nil {
			return err.WithParam("options.css")
		}
	}
	if theme.Custom {
		if err := checkSheet(theme.CSS(), elements); err != nil {
			return presswork.Errorf(err.Code, "theme %s: %s", theme.Name, err.Message)
		}
	}
	return nil
}
