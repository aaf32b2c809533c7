package studio_test

import (
	"strings"
	"testing"

	"presswork/internal/test/browsertest"
	"presswork/internal/test/e2e"
	"presswork/internal/test/freeport"
)

// checkHugePicture drops a picture of 200 MB, which the page rejects. The text must stay.
func checkHugePicture(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	pasteText(p, "text/plain", "# Mine\n")
	waitForSave(p)
	p.Eval(`() => {
		const data = new DataTransfer();
		data.items.add(new File([new Blob(Array(200).fill(new Uint8Array(1 << 20)))], "huge.png", {type: "image/png"}));
		document.querySelector(".convert").dispatchEvent(
			new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
	}`)
	p.Reads(".action .notice", "huge.png is too large (209.7 MB); the limit is 21.0 MB")

	if text := p.Eval(`() => ` + lines); text != "# Mine\n" {
		t.Errorf("the text is %q, want it unchanged", text)
	}
	p.Page.MustReload().MustWaitLoad()
	p.Reads(".cm-content", "# Mine")
}

// checkLongDocument writes a document of 5 MB, replaces it by a short text, and restores the long version.
func checkLongDocument(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	p.Allow = []string{"422 (", "413 ("}
	pasteText(p, "text/plain", "# Five megabytes\n\n"+strings.Repeat("Some words of one line.\n\n", 200_000))
	p.Reads(".words", "1000002 words")
	waitForSave(p)
	p.Page.MustReload().MustWaitLoad()
	p.Reads(".cm-content", "Five megabytes")
	p.Reads(".words", "1000002 words")
	pasteText(p, "text/plain", "# Short\n")
	waitForSave(p)
	p.Click("Versions")
	p.Reads(".versions li:first-child", "5,000,010 characters longer")
	p.Click("Restore this version")
	p.Until("the dialog is closed", `() => !document.querySelector("dialog")`)
	p.Reads(".words", "1000002 words")
	waitForSave(p)
}

// TestDroppedFilesAreKeptWhileTheServerIsStopped drops a text and an archive on an open page.
func TestDroppedFilesAreKeptWhileTheServerIsStopped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := map[string]string{
		"API_PORT":       freeport.Take(t),
		"DATA_DIR":       dir + "/data",
		"PDF_OUTPUT_DIR": dir + "/output",
		"THEMES_DIR":     dir + "/themes",
	}
	server := e2e.Run(t, "serve", env).Listening()
	p := browsertest.NewVisitor(t).Open("http://"+server.Address+"/", 1280, 800, false)
	p.Allow = []string{"net::ERR_", "WebSocket"}
	waitForPreview(p, "quiet craft")
	archive := zipOf(t, map[string]string{"book/one.md": "# One"})
	drop(p, file{Name: "book.zip", Data: archive})
	p.Reads("dialog .found", "one")

	server.Stop()
	p.Click("Convert into one PDF")
	p.Reads("dialog .notice", "book.zip was not converted", "The server does not answer. Try again when it is back.")
	p.Click("Open 1 document")
	p.Reads(".notice.info", "one is open as a document of its own")
	drop(p, file{"two.md", "text/markdown", []byte("# Two\n")})
	p.Reads(".cm-content", "# Two")
	waitForSave(p)

	e2e.Run(t, "serve", env).Listening()
	waitForPreview(p, "Two")
	convert(p)
	p.Click("Documents")
	p.Until("all documents are kept", `() => document.querySelectorAll("dialog li[data-id]").length === 3`)
}
