package chromium

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"presswork/internal/chromium/printable"
)

// maxFinals is how often a page is printed after its draft: the texts of the
// last but one print may have moved what they speak of.
const maxFinals = 3

// PrintRevised prints a page whose text depends on its own print, such as the
// page numbers of its contents: first a quick draft of all pages without tags
// and outline, then, with the texts that revise returns filled in, the page
// itself. That is printed again, at most twice, while revise returns other
// texts for it than those it holds; page ranges are trusted unseen. Errors:
// those of Print and of revise.
func (b *Browser) PrintRevised(
	ctx context.Context,
	page printable.Page,
	revise func(printed []byte) (texts []string, err error),
) ([]byte, error) {
	return b.visit(ctx, page, func(ctx context.Context, t *tab) ([]byte, error) {
		return t.printRevised(ctx, page, revise, b.opt.MaxPDFBytes)
	})
}

func (t *tab) printRevised(
	ctx context.Context,
	page printable.Page,
	revise func([]byte) ([]string, error),
	limit int64,
) ([]byte, error) {
	t.dirty, t.used = true, time.Now()
	if err := t.hold(ctx, page); err != nil {
		return nil, err
	}
	params := paramsOf(page)
	draft := params
	draft.PageRanges, draft.Tagged, draft.Outline, draft.PrintBackground = "", false, false, false

	printed, err := t.printOnce(ctx, draft, limit)
	if err != nil {
		return nil, err
	}

	texts, err := revise(printed)
	if err != nil {
		return nil, err
	}

	for range maxFinals {
		if err := t.fill(ctx, texts); err != nil {
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

// fill writes texts into the document. The page's own scripts are off; this one
// is not the page's. It trusts no property that an element's name could shadow.
func (t *tab) fill(ctx context.Context, texts []string) error {
	list, err := json.Marshal(texts)
	if err != nil {
		return err
	}

	return t.evaluate(
		ctx,
		`(texts => Document.prototype.querySelectorAll.call(document, "[data-fill]").forEach((e, i) => { e.textContent = texts?.[i] ?? "" }))(`+string(
			list,
		)+`)`,
	)
}

// evaluate runs a script of ours in the document and waits for its end.
func (t *tab) evaluate(ctx context.Context, expression string) error {
	answer, err := t.call(ctx, "Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true})
	if err != nil {
		return err
	}

	var outcome struct {
		Exception *struct {
			Text      string `json:"text"`
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	if err := json.Unmarshal(answer, &outcome); err != nil {
		return fmt.Errorf("the browser's answer to a script: %w", err)
	}

	if e := outcome.Exception; e != nil {
		return fmt.Errorf("the page could not be changed: %s %s", e.Text, e.Exception.Description)
	}

	return nil
}
