package document

import (
	"errors"
	"regexp"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/imagetype"
	"presswork/internal/markdown"
	"presswork/internal/markdown/block"
	"presswork/themes"
)

const (
	// maxSheetWork bounds the SVG images of a stylesheet, in elements drawn, and
	// maxBackgrounds what they are when each element of the document shows them.
	maxSheetWork   = 5000
	maxBackgrounds = 10_000_000
	// maxLooks bounds how often the browser looks around an element because of a
	// selector: selectors that have it do so times elements. A look takes about 1 µs,
	// nthLooks of :nth-child() as long.
	maxLooks, nthLooks = 2_000_000, 4
	// maxSteps bounds how many siblings it passes because of ~, each in about 40 ns.
	maxSteps = 250_000_000
)

var (
	// looking are the selectors for which a browser looks at more than an
	// element and what it lies in.
	looking    = regexp.MustCompile(`(?i):has\(|~[^=]`)
	counting   = regexp.MustCompile(`(?i):nth-`)
	sibling    = regexp.MustCompile(`~[^=]`)
	cssComment = regexp.MustCompile(`(?s)/\*.*?\*/`)
)

// maxEntries bounds the contents: the browser prints them in a time that grows with the
// square of their number. 16 000 headings on 8500 pages take 38 s on two idle cores.
const maxEntries = 20_000

// checkContents refuses contents that take the browser too long.
func checkContents(entries []markdown.Heading) error {
	if n := len(entries); n > maxEntries {
		return fault.Errorf(fault.ContentTooComplex, "the contents have %d entries; at most %d are allowed: list fewer levels with the option toc, turn it off, or split the document", n, maxEntries).
			WithParam("options.toc")
	}

	return nil
}

// checkSheet refuses a stylesheet that takes the browser too long to apply to so
// many elements, or to the elements of a body if it is not "".
func checkSheet(css string, elements int, body string) *fault.Error {
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
			return fault.Errorf(
				fault.ContentTooComplex,
				"an image of the stylesheet has %d × %d pixels; at most %d million are allowed",
				img.Width,
				img.Height,
				imagetype.MaxPixels/1_000_000,
			)
		}

		if n := imagetype.Frames(data, img.ContentType); n > imagetype.MaxFrames {
			return fault.Errorf(
				fault.ContentTooComplex,
				"an image of the stylesheet is animated in %d frames; at most %d are allowed",
				n,
				imagetype.MaxFrames,
			)
		}

		n, err := imagetype.Work(data, img.ContentType, true)
		if errors.Is(err, imagetype.ErrDeep) {
			return fault.Errorf(
				fault.ContentTooComplex,
				"an SVG image of the stylesheet nests elements or references deeper than %d levels",
				imagetype.MaxDepth,
			)
		}

		if n > maxSheetWork {
			return fault.Errorf(
				fault.ContentTooComplex,
				"an SVG image of the stylesheet draws %d elements once its references are followed; at most %d are allowed",
				n,
				maxSheetWork,
			)
		}
		work += n
	}

	if n := work * uint64(elements); n > maxBackgrounds {
		return fault.Errorf(
			fault.ContentTooComplex,
			"the SVG images of the stylesheet draw %d elements, and the document has %d that could show them; at most %d together are allowed",
			work,
			elements,
			maxBackgrounds,
		)
	}
	css = cssComment.ReplaceAllString(css, "")

	count := func(selector *regexp.Regexp) int { return len(selector.FindAllStringIndex(css, -1)) }
	if n := count(looking) + count(counting)/nthLooks; n*elements > maxLooks {
		return fault.Errorf(
			fault.ContentTooComplex,
			"the stylesheet has %d selectors with :has() or ~ (%d with :nth-…() count as one), and the document %d elements to try them on; at most %d together are allowed",
			n,
			nthLooks,
			elements,
			maxLooks,
		)
	}

	if n := count(sibling); n > 0 && body != "" {
		if steps := block.SiblingSteps(body); n*steps > maxSteps {
			return fault.Errorf(
				fault.ContentTooComplex,
				"the stylesheet has %d selectors with ~, and the elements of the document have %d siblings before them to look at; at most %d together are allowed: use classes or + instead",
				n,
				steps,
				maxSteps,
			)
		}
	}

	return nil
}

// checkSheets refuses the caller's stylesheet, and that of an operator's theme,
// for a body.
func checkSheets(o presswork.Options, theme themes.Theme, body markdown.Document) error {
	elements := body.Elements()
	if o.CSS != "" {
		if err := checkSheet(o.CSS, elements, body.HTML); err != nil {
			return err.WithParam("options.css")
		}
	}

	if theme.Custom {
		if err := checkSheet(theme.CSS(), elements, body.HTML); err != nil {
			return fault.Errorf(err.Code, "theme %s: %s", theme.Name, err.Message)
		}
	}

	return nil
}
