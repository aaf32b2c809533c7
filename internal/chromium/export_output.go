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

// produce runs make on the loaded page. It waits for the new document and starts over if the page has navigated
// since awaitArrival, or navigates meanwhile. So the output is of one document, and that document was checked.
func (v *visit) produce(make producer) (data []byte, contentType string, err error) {
	for {
		v.mu.Lock()
		before, judged := v.main.loader, v.judgedLoader
		v.mu.Unlock()

		if before != judged {
			if err := v.awaitArrival(); err != nil {
				return nil, "", err
			}
			continue // maxNavigations limits the rounds
		}

		if v.title, err = v.readTitle(); err != nil {
			return nil, "", err
		}

		if err := v.pageError(); err != nil {
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

// readTitle returns the document's title, or "" if it cannot be read. The script cuts the title, because a hostile page
// may have one of many megabytes.
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

// source returns the document as HTML, or "" for a document without elements.
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

// pinScript moves elements with a fixed position to one place of the page. Otherwise a
// picture of the whole page shows them across the text, and each sheet of paper repeats
// them.
//
//go:embed pin.js
var pinScript string

// pinFixed runs pinScript. Callers skip it for print media, where a fixed element is meant
// for each sheet.
func (v *visit) pinFixed() error {
	_, err := v.evaluate("("+pinScript+")()", true)
	if _, thrown := errors.AsType[*scriptError](err); thrown {
		return nil // the page has broken a function that pinScript needs
	}

	return err
}

// exportParams are the parameters of Page.printToPDF for a foreign page.
type exportParams struct {
	printParams
	Landscape           bool   `json:"landscape"`
	DisplayHeaderFooter bool   `json:"displayHeaderFooter"`
	HeaderTemplate      string `json:"headerTemplate"`
	FooterTemplate      string `json:"footerTemplate"`
}

// pdf prints the page. Errors: RenderFailed for a PDF of more than limit bytes.
func (v *visit) pdf(o export.PDFOptions, limit int64) ([]byte, string, error) {
	paper, err := export.PaperOf(o)
	if err != nil {
		return nil, "", err
	}

	params := exportParams{
		printParams: printParams{
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
		// Chromium replaces an empty template by its own.
		HeaderTemplate: cmp.Or(o.HeaderTemplate, "<span></span>"),
		FooterTemplate: cmp.Or(o.FooterTemplate, "<span></span>"),
	}
	// With the styles for the screen, fixed elements belong to the window and would cover the text of each sheet.
	if o.MediaType == "screen" {
		if err := v.pinFixed(); err != nil {
			return nil, "", err
		}
	}

	answer, err := v.call("Page.printToPDF", params)
	if err != nil {
		return nil, "", err
	}

	ctx, cancel := context.WithCancelCause(v.ctx)
	defer cancel(nil)

	data, err := v.tab.readStream(ctx, answer, limit)
	if errors.Is(err, errTooLarge) {
		err = fault.Errorf(fault.RenderFailed, "the PDF is larger than %d MiB", limit>>20)
	}

	return data, "application/pdf", err
}

// picture takes a screenshot and returns it with its media type. Errors: PageError for a size that Chromium cannot
// draw, RenderFailed for a file that is too large, and those of area.
func (v *visit) picture(o export.ScreenshotOptions) ([]byte, string, error) {
	format := cmp.Or(o.Type, "png")

	params := map[string]any{"format": format}
	if format != "png" {
		quality := 80 // percent
		if o.Quality != nil {
			quality = *o.Quality
		}
		params["quality"] = quality
	}

	if isTrue(o.FullPage) {
		if err := v.pinFixed(); err != nil {
			return nil, "", err
		}
	}

	clip, err := v.area(o)
	if err != nil {
		return nil, "", err
	}

	// Check the size before the picture is taken: Chromium allocates all of its pixels, and may crash.
	if clip != nil {
		density := export.ViewportOf(o.VisitOptions).DeviceScaleFactor
		if err := checkPicture(clip.Width*density, clip.Height*density); err != nil {
			return nil, "", err
		}
		params["clip"] = map[string]any{
			"x": clip.X, "y": clip.Y, "width": clip.Width, "height": clip.Height, "scale": 1,
		}
		params["captureBeyondViewport"] = true
	}

	answer, err := v.call("Page.captureScreenshot", params)
	if errors.Is(err, errTooLarge) {
		err = fault.Errorf(fault.RenderFailed,
			"the picture is too large; take part of it with clip, or a type of smaller files")
	}

	if err != nil {
		return nil, "", err
	}
	data, err := decodeData(answer, v.inst.conn.limit)

	return data, "image/" + format, err
}

// checkPicture rejects a picture that is too large for Chromium. The size is in device
// pixels.
func checkPicture(width, height float64) error {
	const advice = "take part of it with clip, or a PDF"

	if side := math.Max(width, height); side > export.MaxSide {
		return fault.Errorf(
			fault.PageError,
			"the picture would be %.0f pixels on one side, and at most %d are possible; %s",
			side,
			export.MaxSide,
			advice,
		)
	}

	if area := width * height; area > export.MaxPixels {
		return fault.Errorf(fault.PageError,
			"the picture would have %.0f million pixels, and at most %d are possible; %s",
			area/1e6, export.MaxPixels/1_000_000, advice)
	}

	return nil
}

// area returns the part of the page that the options select, in CSS pixels; nil is the viewport. Scripts of the page
// may report any size, so the caller must check it. Errors: InvalidOption for a selector that is not valid CSS,
// PageError for one without a visible element.
func (v *visit) area(o export.ScreenshotOptions) (*export.Clip, error) {
	const whole = `(()=>{const e=document.documentElement,b=document.body;
		return {x:0,y:0,width:Math.max(e.scrollWidth,e.clientWidth),
			height:Math.max(e.scrollHeight,b?b.scrollHeight:0,e.clientHeight)}})()`
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
		return nil, fault.Errorf(fault.PageError, "the page has no visible element for the selector %s",
			quoteJS(clipText(o.Selector)))
	}

	return clip, nil
}
