package chromium

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-rod/rod/lib/cdp"

	"presswork/internal/chromium/printable"
	"presswork/internal/fault"
)

// streamFrom is the size of HTML, in bytes, from which the PDF is read in pieces. That
// takes three more calls, but neither side holds the PDF twice.
const streamFrom = 1 << 20

// pieceBytes is the part of a streamed PDF that one call reads, in bytes.
const pieceBytes = 4 << 20

// printParams are the parameters of Page.printToPDF. rod's own type omits a false
// generateTaggedPDF, and Chromium's default is true.
type printParams struct {
	PaperWidth        float64 `json:"paperWidth"`
	PaperHeight       float64 `json:"paperHeight"`
	MarginTop         float64 `json:"marginTop"`
	MarginBottom      float64 `json:"marginBottom"`
	MarginLeft        float64 `json:"marginLeft"`
	MarginRight       float64 `json:"marginRight"`
	Scale             float64 `json:"scale"`
	PageRanges        string  `json:"pageRanges"`
	PrintBackground   bool    `json:"printBackground"`
	PreferCSSPageSize bool    `json:"preferCSSPageSize"`
	Tagged            bool    `json:"generateTaggedPDF"`
	Outline           bool    `json:"generateDocumentOutline"`
	TransferMode      string  `json:"transferMode"`
}

// The size of A4 in inches, for pages without a size.
const (
	defaultWidth  = 8.27
	defaultHeight = 11.69
)

// print loads page into the tab and returns its PDF. Errors: errTooLarge for more than
// limit bytes.
func (t *tab) print(ctx context.Context, page printable.Page, limit int64) ([]byte, error) {
	// Mark the tab first: after an error it may still hold a part of the document.
	t.dirty, t.used = true, time.Now()
	if err := t.load(ctx, page); err != nil {
		return nil, err
	}

	return t.printOnce(ctx, printParamsOf(page), limit)
}

// load puts page into the tab and runs its Prepare expression.
func (t *tab) load(ctx context.Context, page printable.Page) error {
	if err := t.setContent(ctx, page.HTML); err != nil || page.Prepare == "" {
		return err
	}

	return t.evaluate(ctx, page.Prepare)
}

// printParamsOf returns the print parameters of a page. The PDF of a large page is read in pieces.
func printParamsOf(page printable.Page) printParams {
	s := page.Sheet

	params := printParams{
		PaperWidth:        cmp.Or(s.Width, defaultWidth),
		PaperHeight:       cmp.Or(s.Height, defaultHeight),
		Scale:             cmp.Or(s.Scale, 1),
		PageRanges:        s.PageRanges,
		PrintBackground:   true,
		PreferCSSPageSize: true,
		Tagged:            s.Tagged,
		Outline:           s.Outline,
		TransferMode:      "ReturnAsBase64",
	}
	if len(page.HTML) >= streamFrom {
		params.TransferMode = "ReturnAsStream"
	}

	return params
}

// printOnce prints the document that the tab holds.
func (t *tab) printOnce(ctx context.Context, params printParams, limit int64) ([]byte, error) {
	answer, err := t.call(ctx, "Page.printToPDF", params)
	if err == nil {
		// If the page has navigated away, the PDF is of another document.
		err = context.Cause(t.life)
	}

	if err != nil {
		return nil, err
	}

	if params.TransferMode == "ReturnAsStream" {
		return t.readStream(ctx, answer, limit)
	}

	return decodeData(answer, limit)
}

// decodeData returns the PDF or the picture in {"data":"<base64>",…}, the answer of a print or a screenshot. It does
// not use encoding/json, which would copy the text of megabytes and scan it twice. Errors: errTooLarge for more than
// limit bytes.
func decodeData(answer []byte, limit int64) ([]byte, error) {
	rest, ok := bytes.CutPrefix(answer, []byte(`{"data":"`))

	end := bytes.IndexByte(rest, '"')
	if !ok || end < 0 {
		return nil, errors.New("the browser's answer contains no data")
	}

	data := rest[:end]
	if int64(base64.StdEncoding.DecodedLen(len(data))) > limit+2 { // it counts up to two bytes of padding
		return nil, errTooLarge
	}
	decoded := make([]byte, base64.StdEncoding.DecodedLen(len(data)))
	n, err := base64.StdEncoding.Decode(decoded, data)

	return decoded[:n], err
}

// readStream reads the stream that the answer of a print names. Errors: errTooLarge for more than limit bytes.
func (t *tab) readStream(ctx context.Context, answer []byte, limit int64) ([]byte, error) {
	var stream struct {
		Handle string `json:"stream"`
	}
	if err := json.Unmarshal(answer, &stream); err != nil {
		return nil, fmt.Errorf("the browser's answer names no stream: %w", err)
	}
	var pdf []byte

	for {
		answer, err := t.call(ctx, "IO.read", map[string]any{"handle": stream.Handle, "size": pieceBytes})
		if err != nil {
			return nil, err
		}

		var piece struct {
			Base64 bool   `json:"base64Encoded"`
			Data   []byte `json:"data"`
			EOF    bool   `json:"eof"`
		}
		if err := json.Unmarshal(answer, &piece); err != nil {
			return nil, fmt.Errorf("the browser's stream: %w", err)
		}

		if int64(len(pdf)+len(piece.Data)) > limit {
			return nil, errTooLarge // closing the tab ends the stream
		}

		pdf = append(pdf, piece.Data...)
		if piece.EOF {
			break
		}
	}
	_, err := t.call(ctx, "IO.close", map[string]any{"handle": stream.Handle})

	return pdf, err
}

// publicError returns the error of a failed print that the caller gets.
func (b *Browser) publicError(ctx context.Context, err error) error {
	if public, ok := errors.AsType[*fault.Error](err); ok {
		return public
	}

	refusal, refused := errors.AsType[*cdp.Error](err)
	switch {
	case errors.Is(err, errTabCrashed):
		return fault.Errorf(fault.RenderFailed,
			"the page cannot be printed: the browser's renderer crashed on it or took too much memory").WithCause(err)
	case errors.Is(err, errTabNavigated):
		return fault.Errorf(fault.RenderFailed, "the page cannot be printed: it navigates away").WithCause(err)
	case errors.Is(err, errNoFrame):
		return fault.Errorf(fault.RenderTimeout, "the browser did not draw the page in time").WithCause(err)
	case errors.Is(err, errTooLarge):
		return fault.Errorf(fault.RenderFailed, "the PDF is larger than %d MiB", b.opt.MaxPDFBytes>>20).WithCause(err)
	case errors.Is(err, errConnClosed):
		return fault.Errorf(fault.BrowserUnavailable, "the browser died while it printed").WithCause(err)
	case ctx.Err() != nil:
		return contextError(ctx)
	case refused && strings.Contains(strings.ToLower(refusal.Message), "page range"):
		return fault.Errorf(fault.InvalidOption, "page_ranges: %s", refusal.Message).
			WithParam("options.page_ranges").
			WithCause(err)
	case refused:
		return fault.Errorf(fault.RenderFailed, "the page cannot be printed: %s", refusal.Message).WithCause(err)
	}

	return fault.Errorf(fault.RenderFailed, "the page cannot be printed").WithCause(err)
}

// contextError returns the error for a context that has ended: RenderTimeout for a
// deadline, the cause of the context otherwise.
func contextError(ctx context.Context) error {
	cause := context.Cause(ctx)
	if public, ok := errors.AsType[*fault.Error](cause); ok {
		return public
	}

	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fault.Errorf(fault.RenderTimeout, "the page was not printed in time").WithCause(cause)
	}

	return cause
}
