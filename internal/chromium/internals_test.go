package chromium

import (
	"context"

	"presswork/internal/chromium/printable"
)

// Raw gives access to the running browser without its supervisor. Benchmarks compare Print with bare commands in a warm
// tab.
type Raw struct {
	inst *instance
}

// RawTab is a tab that prints with two bare commands.
type RawTab struct {
	tab *tab
}

// Raw returns the running browser.
func (b *Browser) Raw(ctx context.Context) (*Raw, error) {
	inst, err := b.current(ctx)
	return &Raw{inst}, err
}

// Tab opens a new tab.
func (r *Raw) Tab(ctx context.Context) (*RawTab, error) {
	t, err := r.inst.openTab(ctx)
	return &RawTab{t}, err
}

// Print sends the two commands and decodes the PDF.
func (t *RawTab) Print(ctx context.Context, page printable.Page) ([]byte, error) {
	_, err := t.tab.conn.Call(ctx, t.tab.session, "Page.setDocumentContent",
		map[string]any{"frameId": t.tab.target, "html": page.HTML})
	if err != nil {
		return nil, err
	}

	answer, err := t.tab.conn.Call(ctx, t.tab.session, "Page.printToPDF", map[string]any{
		"paperWidth": defaultWidth, "paperHeight": defaultHeight,
		"marginTop": 0, "marginBottom": 0, "marginLeft": 0, "marginRight": 0,
		"printBackground": true, "preferCSSPageSize": true,
		"generateTaggedPDF": page.Sheet.Tagged, "generateDocumentOutline": page.Sheet.Outline,
	})
	if err != nil {
		return nil, err
	}

	return decodeData(answer, 1<<30)
}
