package chromium

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/go-rod/rod/lib/cdp"

	"presswork/internal/export"
	"presswork/internal/fault"
)

// develop makes data of the loaded page. One that has navigated since it was
// judged, or does meanwhile, is waited for again: what comes out is one document,
// and judged.
func (v *visit) develop(make develop) (data []byte, contentType string, err error) {
	for {
		v.mu.Lock()
		before, judged := v.main.loader, v.judged
		v.mu.Unlock()

		if before != judged {
			if err := v.arrived(); err != nil {
				return nil, "", err
			}
			continue // maxMoves bounds this
		}

		if v.title, err = v.readTitle(); err != nil {
			return nil, "", err
		}

		if err := v.verdict(); err != nil {
			return nil, "", err
		}
		data, contentType, err = make(v)
		_, refused := errors.AsType[*cdp.Error](err)
		v.mu.Lock()
		moved := v.main.loader != before
		v.mu.Unlock()

		if !moved || err != nil && !refused {
			return data, contentType, err
		}
	}
}

func (v *visit) readTitle() (title string, err error) {
	result, err := v.evaluate("document.title.slice(0,1000)", true)
	if _, thrown := errors.AsType[*scriptError](err); thrown {
		return "", nil
	}

	if err == nil && result.Type == "string" {
		err = json.Unmarshal(result.Value, &title)
	}

	return title, err
}

// source is the document as HTML, empty where it has none.
func (v *visit) source() (source string, err error) {
	result, err := v.evaluate(fmt.Sprintf("(document.documentElement?.outerHTML??'').slice(0,%d)", maxHTML), true)
	if _, thrown := errors.AsType[*scriptError](err); thrown {
		return "", fault.Errorf(fault.PageError, "the page has no document that can be read").WithCause(err)
	}

	if err == nil {
		err = json.Unmarshal(result.Value, &source)
	}

	return source, err
}

// pinScript puts what is fixed to the window in one place of the page: a picture
// of the whole page shows it across the text, and each sheet of paper anew.
//
//go:embed pin.js
var pinScript string

// pin runs pinScript. A style for print is left alone: what is fixed there is
// meant for each sheet.
func (v *visit) pin() error {
	_, err := v.evaluate("("+pinScript+")()", true)
	if _, thrown := errors.AsType[*scriptError](err); thrown {
		return nil // a page may break even this
	}

	return err
}

// exportTo is Page.printToPDF's parameters.
type exportTo struct {
	printTo
	Landscape           bool   `json:"landscape"`
	DisplayHeaderFooter bool   `json:"displayHeaderFooter"`
	HeaderTemplate      string `json:"headerTemplate"`
	FooterTemplate      string `json:"footerTemplate"`
}

// pdf prints the page.
func (v *visit) pdf(o export.PDFOptions, limit int64) ([]byte, string, error) {
	paper, err := export.PaperOf(o)
	if err != nil {
		return nil, "", err
	}

	params := exportTo{
		printTo: printTo{
			PaperWidth: paper.Width, PaperHeight: paper.Height,
			MarginTop: paper.Top, MarginRight: paper.Right, MarginBottom: paper.Bottom, MarginLeft: paper.Left,
			Scale: paper.Scale, PageRanges: paper.Ranges,
			PrintBackground:   o.PrintBackground == nil || *o.PrintBackground,
			PreferCSSPageSize: isTrue(o.PreferCSSPageSize),
			Tagged:            o.Tagged == nil || *o.Tagged,
			Outline:           isTrue(o.Outline),
			TransferMode:      "ReturnAsStream",
		},
		Landscape:           paper.Landscape,
		DisplayHeaderFooter: isTrue(o.DisplayHeaderFooter),
		// Chromium puts its own in the place of an empty one.
		HeaderTemplate: cmp.Or(o.HeaderTemplate, "<span></span>"),
		FooterTemplate: cmp.Or(o.FooterTemplate, "<span></span>"),
	}
	if o.MediaType == "screen" {
		if err := v.pin(); err != nil {
			return nil, "", err
		}
	}

	answer, err := v.call("Page.printToPDF", params)
	if err != nil {
		return nil, "", err
	}

	ctx, cancel := context.WithCancelCause(v.ctx)
	defer cancel(nil)

	data, err := v.tab.fetch(ctx, answer, limit)
	if errors.Is(err, errTooLarge) {
		err = fault.Errorf(fault.RenderFailed, "the PDF is larger than %d MiB", limit>>20)
	}

	return data, "application/pdf", err
}

// picture takes a screenshot.
func (v *visit) picture(o export.ScreenshotOptions) ([]byte, string, error) {
	format := cmp.Or(o.Type, "png")

	params := map[string]any{"format": format}
	if format != "png" {
		quality := 80
		if o.Quality != nil {
			quality = *o.Quality
		}
		params["quality"] = quality
	}

	if isTrue(o.FullPage) {
		if err := v.pin(); err != nil {
			return nil, "", err
		}
	}

	clip, err := v.area(o)
	if err != nil {
		return nil, "", err
	}

	if clip != nil {
		if side := math.Max(
			clip.Width,
			clip.Height,
		) * export.ViewportOf(
			o.VisitOptions,
		).DeviceScaleFactor; side > export.MaxSide {
			return nil, "", fault.Errorf(
				fault.PageError,
				"the picture would be %.0f pixels on one side, and at most %d are possible; take part of it with clip, or a PDF",
				side,
				export.MaxSide,
			)
		}

		if area := clip.Width * clip.Height * math.Pow(
			export.ViewportOf(o.VisitOptions).DeviceScaleFactor,
			2,
		); area > export.MaxPixels {
			return nil, "", fault.Errorf(
				fault.PageError,
				"the picture would have %.0f million pixels, and at most %d are possible; take part of it with clip, or a PDF",
				area/1e6,
				export.MaxPixels/1_000_000,
			)
		}
		params["clip"] = map[string]any{
			"x":      clip.X,
			"y":      clip.Y,
			"width":  clip.Width,
			"height": clip.Height,
			"scale":  1,
		}
		params["captureBeyondViewport"] = true
	}

	answer, err := v.call("Page.captureScreenshot", params)
	if errors.Is(err, errTooLarge) {
		err = fault.Errorf(
			fault.RenderFailed,
			"the picture is too large; take part of it with clip, or a type of smaller files",
		)
	}

	if err != nil {
		return nil, "", err
	}
	data, err := decodePDF(answer, v.inst.conn.limit)

	return data, "image/" + format, err
}

// area is what the options choose of the page; nil is the viewport.
func (v *visit) area(o export.ScreenshotOptions) (*export.Clip, error) {
	const whole = `(()=>{const e=document.documentElement,b=document.body;
		return {x:0,y:0,width:Math.max(e.scrollWidth,e.clientWidth),height:Math.max(e.scrollHeight,b?b.scrollHeight:0,e.clientHeight)}})()`
	const element = `(()=>{const e=document.querySelector(%s);if(!e)return null;const r=e.getBoundingClientRect();
		return {x:r.x+scrollX,y:r.y+scrollY,width:r.width,height:r.height}})()`
	var script string

	switch {
	case o.Clip != nil:
		return o.Clip, nil
	case o.Selector != "":
		script = fmt.Sprintf(element, quoteJS(o.Selector))
	case isTrue(o.FullPage):
		script = whole
	default:
		return nil, nil
	}

	result, err := v.evaluate(script, true)
	if thrown, ok := errors.AsType[*scriptError](err); ok {
		return nil, fault.Errorf(fault.InvalidOption, "selector: %s", thrown.text).WithParam("options.selector")
	}

	if err != nil {
		return nil, err
	}

	var clip *export.Clip
	if err := json.Unmarshal(result.Value, &clip); err != nil {
		return nil, err
	}

	if clip == nil || clip.Width <= 0 || clip.Height <= 0 {
		return nil, fault.Errorf(
			fault.PageError,
			"the page has no visible element for the selector %s",
			quoteJS(clipText(o.Selector)),
		)
	}

	return clip, nil
}
