package mcp

import (
	"path"
	"strconv"
	"strings"

	"presswork"
	"presswork/internal/fault"
)

// previewResolution is the resolution of previews for models, in pixels per inch: A4 has 826 × 1169 pixels.
const previewResolution = 100

// OnlyPage returns the options for a picture of one page, counted from 1. It turns strict off and drops the
// password: findings must not replace the picture, and a picture has no password.
func OnlyPage(o presswork.Options, page int) presswork.Options {
	o.PageRanges, o.Strict, o.Password = strconv.Itoa(page), new(false), ""

	if o.Resolution == nil {
		o.Resolution = new(previewResolution)
	}

	return o
}

// PictureType returns the type of the picture that a page becomes by the name of its file, "" for a PDF. Errors:
// InvalidOption.
func PictureType(p Page) (string, error) {
	switch extension := strings.ToLower(path.Ext(p.Output)); extension {
	case ".pdf":
		return "", nil
	case ".jpg", ".jpeg":
		return "jpeg", nil
	case ".png", ".webp":
		return extension[1:], nil
	default:
		return "", fault.Errorf(fault.InvalidOption, "output ends in %q; allowed: .pdf, .png, .jpg, .webp", extension)
	}
}

// PageOptions returns the options of a page under the names of the API's page export. It leaves out those that are
// not set.
func PageOptions(p Page) map[string]any {
	options := map[string]any{}
	if p.Paper != "" {
		options["format"] = p.Paper
	}

	if p.Landscape {
		options["landscape"] = true
	}

	if p.FullPage {
		options["fullPage"] = true
	}

	if p.WaitFor != "" {
		options["waitForSelector"] = p.WaitFor
	}

	return options
}

// FormatOf returns the format of a conversion: Format, or by the extension of Output. Errors: InvalidOption for
// another extension.
func FormatOf(c Conversion) (presswork.Output, error) {
	if c.Format != "" {
		return c.Format, nil
	}

	switch extension := strings.ToLower(path.Ext(c.Output)); extension {
	case "", ".pdf":
		return presswork.PDF, nil
	case ".html", ".htm":
		return presswork.HTML, nil
	case ".epub":
		return presswork.EPUB, nil
	case ".png", ".zip":
		return presswork.PNG, nil
	default:
		return "", fault.Errorf(fault.InvalidOption,
			"output ends in %q; allowed: .pdf, .html, .epub, .zip (a picture of each page), or set format", extension)
	}
}
