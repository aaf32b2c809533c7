package chromium

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"presswork/internal/chromium/printable"
)

// maxPrints limits the prints of a page after its layout pass. Filling in the texts can move
// the places that they refer to.
const maxPrints = 3

// PrintRevised prints a page whose text depends on its own print, such as the page numbers
// in a table of contents. revise gets a print and returns the texts for the elements with a
// data-fill attribute, in document order.
//
// The first print is a layout pass: all pages, without tags and outline. Then PrintRevised
// fills in the texts and prints the page itself. It prints again, at most twice, while
// revise returns other texts than the page holds. It does not check a print of page ranges
// again. Errors: those of Print and of revise.
func (b *Browser) PrintRevised(ctx context.Context, page printable.Page,
	revise func(printed []byte) (texts []string, err error),
) ([]byte, error) {
	return b.withTab(ctx, page, func(ctx context.Context, t *tab) ([]byte, error) {
		return t.printRevised(ctx, page, revise, b.opt.MaxPDFBytes)
	})
}

// printRevised prints the page in the tab, as PrintRevised describes. Errors: errTooLarge for more than limit bytes.
func (t *tab) printRevised(ctx context.Context, page printable.Page, revise func([]byte) ([]string, error),
	limit int64,
) ([]byte, error) {
	t.dirty, t.used = true, time.Now()
	if err := t.load(ctx, page); err != nil {
		return nil, err
	}
	params := printParamsOf(page)
	layout := params
	layout.PageRanges, layout.Tagged, layout.Outline, layout.PrintBackground = "", false, false, false

	printed, err := t.printOnce(ctx, layout, limit)
	if err != nil {
		return nil, err
	}

	texts, err := revise(printed)
	if err != nil {
		return nil, err
	}

	for range maxPrints {
		if err := t.fillTexts(ctx, texts); err != nil {
			return nil, err
		}

		if printed, err = t.printOnce(ctx, params, limit); err != nil || params.PageRanges != "" {
			return printed, err
		}

		held := texts
		if texts, err = revise(printed); err != nil || slices.Equal(texts, held) {
			return printed, err
		}
	}

	return printed, nil
}

// fillScript writes texts into the elements with a data-fill attribute. It calls
// querySelectorAll through the prototype, because an element's name can shadow the
// document's own property.
const fillScript = `(texts => Document.prototype.querySelectorAll.call(document, "[data-fill]")` +
	`.forEach((e, i) => { e.textContent = texts?.[i] ?? "" }))`

// fillTexts writes texts into the document.
func (t *tab) fillTexts(ctx context.Context, texts []string) error {
	list, err := json.Marshal(texts)
	if err != nil {
		return err
	}

	return t.evaluate(ctx, fillScript+"("+string(list)+")")
}

// evaluate runs a trusted script in the document and awaits its promise. The page's own
// scripts are off.
func (t *tab) evaluate(ctx context.Context, expression string) error {
	answer, err := t.call(ctx, "Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true})
	if err != nil {
		return err
	}

	var outcome struct {
		Exception *exception `json:"exceptionDetails"`
	}
	if err := json.Unmarshal(answer, &outcome); err != nil {
		return fmt.Errorf("the browser's answer to a script: %w", err)
	}

	if e := outcome.Exception; e != nil {
		return fmt.Errorf("the page could not be changed: %s %s", e.Text, e.Exception.Description)
	}

	return nil
}
