package chromium_test

import (
	"strings"
	"testing"

	"presswork/internal/chromium"
	"presswork/internal/document"
	"presswork/internal/test/browsertest"
	"presswork/themes"
)

// Blocks without footnotes must not add to the cost of footnotes. An earlier version computed the styles again for
// each block.
func TestBlocksWithoutNotesComputeNoStyles(t *testing.T) {
	t.Parallel()
	const blocks = 1000
	paragraphs := strings.Repeat(
		"Words that fill a line or more of a page, which may or may not end after them.\n\n",
		blocks,
	)
	browser := browsertest.Start(t, chromium.Options{Tabs: 1})

	raw, err := browser.Raw(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	composed, err := document.New(document.Options{Printer: browser, Themes: themes.Open(themes.Options{})}).
		Compose(t.Context(),
			document.Document{
				Content: []byte("Marked[^1].\n\n" + paragraphs + "Marked[^2].\n\n[^1]: Noted.\n\n[^2]: Noted, too.\n"),
			})
	if err != nil {
		t.Fatal(err)
	}

	events, err := raw.Trace(t.Context(), func() error {
		_, err := browser.Print(t.Context(), composed.Page)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	styled := 0

	for _, e := range events {
		if e.Name == "Document::recalcStyle" {
			styled++
		}
	}

	if styled == 0 || styled > blocks/4 {
		t.Errorf("styles were computed %d times for %d blocks without notes, want 1 to %d", styled, blocks, blocks/4)
	}
}
