// Package export defines the options of page export. It checks them and computes the paper and the viewport from
// them. It does not depend on a browser.
package export

import (
	"net/url"
	"strings"
	"time"

	"presswork/internal/input"
	"presswork/internal/pdffile/pdfa"
)

// CheckPDF returns an error if an option has an invalid value. page is the page's address, as guard.Policy.CheckURL
// returns it. Errors: InvalidOption with the Param "options.NAME".
func CheckPDF(page *url.URL, o PDFOptions) error {
	if err := checkVisit(page, o.VisitOptions); err != nil {
		return err
	}

	if _, err := PaperOf(o); err != nil {
		return err
	}

	for name, text := range map[string]string{"headerTemplate": o.HeaderTemplate, "footerTemplate": o.FooterTemplate} {
		if len(text) > maxTemplate {
			return input.Invalid(name, "%s is larger than %d KB", name, maxTemplate>>10)
		}
	}

	if isTrue(o.Outline) && o.Tagged != nil && !*o.Tagged {
		return input.Invalid("outline",
			"outline needs tagged: bookmarks are made from the tags; leave tagged true or set outline to false")
	}

	if o.PDFA != nil {
		if err := oneOf("pdf_a", string(*o.PDFA), pdfa.Levels()...); err != nil {
			return err
		}
	}

	return nil
}

// CheckScreenshot returns an error if an option has an invalid value; see CheckPDF.
func CheckScreenshot(page *url.URL, o ScreenshotOptions) error {
	if err := checkVisit(page, o.VisitOptions); err != nil {
		return err
	}

	if err := oneOf("type", o.Type, "png", "jpeg", "webp"); err != nil {
		return err
	}

	if o.Quality != nil {
		if o.Type == "" || o.Type == "png" {
			return input.Invalid("quality", "quality is for the types jpeg and webp; png has none")
		}

		if *o.Quality < 0 || *o.Quality > 100 {
			return input.Invalid("quality", "quality %d is not allowed; allowed: 0 to 100", *o.Quality)
		}
	}
	var areas []string

	for _, area := range []struct {
		name  string
		given bool
	}{{"fullPage", isTrue(o.FullPage)}, {"clip", o.Clip != nil}, {"selector", o.Selector != ""}} {
		if area.given {
			areas = append(areas, area.name)
		}
	}

	if len(areas) > 1 {
		return input.Invalid(areas[1], "set only one of fullPage, clip and selector")
	}

	if len(o.Selector) > maxScript {
		return input.Invalid("selector", "selector is longer than %d KB", maxScript>>10)
	}

	// The comparison is negated, so that NaN is rejected as well.
	if c := o.Clip; c != nil &&
		!(c.X >= 0 && c.X <= maxOffset && c.Y >= 0 && c.Y <= maxOffset &&
			c.Width >= 1 && c.Width <= MaxSide && c.Height >= 1 && c.Height <= MaxSide) {
		return input.Invalid("clip", "clip needs x and y of 0 or more, and width and height from 1 to %d", MaxSide)
	}

	return nil
}

// Limits on sizes and positions.
const (
	// MaxSide is the longest side of a picture, in device pixels. Chromium does not paint more in one piece.
	MaxSide = 16384
	// MaxPixels is the largest area of a picture or a viewport, in device pixels.
	MaxPixels = 64 << 20

	maxOffset    = 1_000_000 // CSS pixels
	maxWindow    = 8192      // CSS pixels of one side of a viewport
	maxTemplate  = 64 << 10  // bytes, as the following
	maxScript    = 16 << 10
	maxUserAgent = 1 << 10
	maxFilename  = 255
)

// Limits on the time of an export.
const (
	DefaultTimeout = 30 * time.Second
	MaxTimeout     = 120 * time.Second
)

// TimeoutOf returns the time limit of the whole export, DefaultTimeout if the options have none.
func TimeoutOf(o VisitOptions) time.Duration {
	if o.Timeout == nil {
		return DefaultTimeout
	}

	return time.Duration(*o.Timeout) * time.Millisecond
}

// Fails reports whether a page with this HTTP status counts as failed.
func Fails(o VisitOptions, status int) bool {
	ranges := o.FailOnHTTPStatusCodes
	if ranges == nil {
		ranges = []StatusRange{{From: 400, To: 599}}
	}

	for _, r := range ranges {
		if r.From <= status && status <= r.To {
			return true
		}
	}

	return false
}

// ViewportOf returns the window for the page's layout, with the defaults filled in.
func ViewportOf(o VisitOptions) Viewport {
	if o.Viewport == nil {
		return Viewport{Width: 800, Height: 600, DeviceScaleFactor: 1}
	}

	v := *o.Viewport
	if v.DeviceScaleFactor == 0 {
		v.DeviceScaleFactor = 1
	}

	return v
}

// oneOf returns an error for the option name unless value is empty or one of allowed.
func oneOf(name, value string, allowed ...string) error {
	for _, a := range allowed {
		if value == a || value == "" {
			return nil
		}
	}

	return input.Invalid(name, "%s %q is not allowed%s; allowed: %s",
		name, input.Short(value), input.DidYouMean(value, allowed), strings.Join(allowed, ", "))
}

// isTrue reports whether an option is set and true.
func isTrue(b *bool) bool { return b != nil && *b }
