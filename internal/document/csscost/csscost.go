// Package csscost rejects stylesheets that would take the browser too long to apply: a few bytes of CSS can cost
// minutes. Check estimates the work from the selectors and images of the stylesheet and the number of elements.
package csscost

import (
	"errors"
	"regexp"

	"presswork/internal/fault"
	"presswork/internal/imagetype"
	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/block"
	"presswork/themes"
)

const (
	// maxSheetWork bounds one SVG image of a stylesheet, in elements drawn.
	maxSheetWork = 5000
	// maxBackgrounds bounds the elements drawn if each element of the document shows all SVG images.
	maxBackgrounds = 10_000_000
	// maxTests bounds the elements of the document times the relational selectors. For these the browser looks at more
	// than an element and its ancestors. Testing one element takes about 1 µs.
	maxTests = 2_000_000
	// nthPerTest is how many tests of :nth-…() take as long as one such test.
	nthPerTest = 4
	// maxSteps bounds the siblings that the browser passes because of ~, at about 40 ns each.
	maxSteps = 250_000_000
)

var (
	relational   = lazyregexp.New(`(?i):has\(|~[^=]`) // :has() and the combinator ~, but not the attribute operator ~=
	nthChild     = lazyregexp.New(`(?i):nth-`)
	laterSibling = lazyregexp.New(`~[^=]`)
	cssComment   = lazyregexp.New(`(?s)/\*.*?\*/`)
)

// Check returns the error ContentTooComplex if the browser would take too long to apply a stylesheet to a
// document. elements is the number of elements of the document, and body its HTML. With 0 and "" it checks the
// stylesheet alone.
func Check(css string, elements int, body string) *fault.Error {
	if err := checkImages(css, elements); err != nil {
		return err
	}

	return checkSelectors(cssComment().ReplaceAllString(css, ""), elements, body)
}

// checkImages checks the images of a stylesheet.
func checkImages(css string, elements int) *fault.Error {
	var work uint64

	for _, uri := range themes.DataURLs(css) {
		data, err := imagetype.ReadDataURI(uri)
		if err != nil {
			continue // the browser shows nothing
		}

		img, err := imagetype.Inspect(data)
		if err != nil {
			continue
		}

		drawn, failure := checkImage(data, img)
		if failure != nil {
			return failure
		}
		work += drawn
	}

	if work*uint64(elements) > maxBackgrounds {
		return fault.Errorf(fault.ContentTooComplex,
			"the SVG images of the stylesheet draw %d elements, and the document has %d that could show them; "+
				"at most %d together are allowed", work, elements, maxBackgrounds)
	}

	return nil
}

// checkImage checks one image and returns how many elements it draws.
func checkImage(data []byte, img imagetype.Info) (drawn uint64, failure *fault.Error) {
	if img.Pixels() > imagetype.MaxPixels {
		return 0, fault.Errorf(fault.ContentTooComplex,
			"an image of the stylesheet has %d × %d pixels; at most %d million are allowed",
			img.Width, img.Height, imagetype.MaxPixels/1_000_000)
	}

	if n := imagetype.Frames(data, img.ContentType); n > imagetype.MaxFrames {
		return 0, fault.Errorf(fault.ContentTooComplex,
			"an image of the stylesheet is animated in %d frames; at most %d are allowed", n, imagetype.MaxFrames)
	}

	drawn, err := imagetype.Work(data, img.ContentType, true)
	if errors.Is(err, imagetype.ErrDeep) {
		return 0, fault.Errorf(fault.ContentTooComplex,
			"an SVG image of the stylesheet nests elements or references deeper than %d levels", imagetype.MaxDepth)
	}

	if drawn > maxSheetWork {
		return 0, fault.Errorf(fault.ContentTooComplex,
			"an SVG image of the stylesheet draws %d elements once its references are followed; at most %d are allowed",
			drawn, maxSheetWork)
	}

	return drawn, nil
}

// checkSelectors checks the selectors of a stylesheet without comments.
func checkSelectors(css string, elements int, body string) *fault.Error {
	count := func(selector *regexp.Regexp) int { return len(selector.FindAllStringIndex(css, -1)) }
	if n := count(relational()) + count(nthChild())/nthPerTest; n*elements > maxTests {
		return fault.Errorf(fault.ContentTooComplex,
			"the stylesheet has %d selectors with :has() or ~ (%d with :nth-…() count as one), "+
				"and the document %d elements to try them on; at most %d together are allowed",
			n, nthPerTest, elements, maxTests)
	}

	n := count(laterSibling())
	if n == 0 || body == "" {
		return nil
	}

	if steps := block.SiblingSteps(body); n*steps > maxSteps {
		return fault.Errorf(fault.ContentTooComplex,
			"the stylesheet has %d selectors with ~, and the elements of the document have %d siblings before them "+
				"to look at; at most %d together are allowed: use classes or + instead", n, steps, maxSteps)
	}

	return nil
}
