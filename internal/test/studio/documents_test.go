package studio_test

import (
	"fmt"
	"strings"
	"testing"

	"presswork/internal/test/browsertest"
	"presswork/internal/test/e2e"
)

// file is a file to drop. Type is its media type, or "" if the system does not know it.
type file struct {
	Name, Type string
	Data       []byte // JSON has it in base64
}

// transfer is a JavaScript function that puts files into a DataTransfer.
const transfer = `(files => {
	const data = new DataTransfer();
	for (const {Name, Type, Data} of files)
		data.items.add(new File([Uint8Array.from(atob(Data), c => c.charCodeAt(0))], Name, {type: Type}));
	return data;
})`

// drop drops files on the page.
func drop(p *browsertest.Visit, files ...file) {
	p.Eval(`files => document.querySelector(".convert").dispatchEvent(
		new DragEvent("drop", {dataTransfer: `+transfer+`(files), bubbles: true, cancelable: true}))`, files)
}

// waitForSave waits until the browser has stored the newest text.
func waitForSave(p *browsertest.Visit) { p.Reads(".document", "saved") }

// checkPicturesAfterReload drops a picture without a media type, and reloads the page.
func checkPicturesAfterReload(t *testing.T, h *shared) {
	_, p, c := h.open(t)
	pasteText(p, "text/plain", "# With a picture\n\nThe end.\n")
	dropOn(p, "The end.", file{Name: "dot.png", Data: picture(t)})
	p.Reads(".cm-content", "![dot](dot.png)")
	waitForSave(p)
	p.Page.MustReload().MustWaitLoad()
	p.Reads(".cm-content", "![dot](dot.png)")
	p.Reads(".assets", "dot.png")
	p.Until("the picture is on the page", `() => [...`+page+`.images].some(i => i.naturalWidth === 1)`)
	convert(p)
	checkLastJobHasNoWarnings(t, p, c)
}

// checkUnsavedTextAfterReload reloads the page before a change is stored in the database.
func checkUnsavedTextAfterReload(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	waitForSave(p)
	p.Eval(`() => { IDBObjectStore.prototype.put = () => { throw new Error("too late") } }`)
	pasteText(p, "text/plain", "# Written at the last moment\n")
	p.Page.MustReload().MustWaitLoad()
	p.Reads(".cm-content", "Written at the last moment")
	waitForSave(p)
}

// checkDroppedTexts drops two documents and a picture of one of them, and undoes the drop.
func checkDroppedTexts(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	pasteText(p, "text/plain", "# Mine\n")
	waitForSave(p)
	drop(p,
		file{"one.md", "text/markdown", []byte("# First\n\n![](a.png)\n")},
		file{"two.md", "text/markdown", []byte("# Second\n")},
		file{"a.png", "image/png", []byte("no picture")})
	p.Reads(".notice.info", "2 files are open as documents of their own", "Mine is kept")
	p.Reads(".cm-content", "First")
	p.Reads(".assets", "a.png")
	p.Click("Documents")
	p.Until("all three are listed", `() => document.querySelectorAll("dialog li[data-id]").length === 3`)
	p.Click("two")
	p.Reads(".cm-content", "Second")

	p.Click("Undo")
	p.Reads(".cm-content", "Mine")
	p.Click("Documents")
	p.Until("one document is left", `() => document.querySelectorAll("dialog li[data-id]").length === 1`)
}

// checkDocumentList adds, renames, deletes and restores documents.
func checkDocumentList(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	pasteText(p, "text/plain", "# Mine\n")
	p.Click("Documents")
	p.Click("New document")
	p.Until("the editor is empty", `() => document.querySelector(".cm-placeholder") !== null`)
	pasteText(p, "text/plain", "# Other\n")
	p.Click("Documents")
	p.Click("Rename Other")
	p.See("dialog input[aria-label=Name]").MustSelectAllText().MustInput("Letter").MustType('\r')
	p.Click("Delete Letter")
	p.Reads(".cm-content", "Mine")
	p.Until("one document is left", `() => document.querySelectorAll("dialog li[data-id]").length === 1`)
	p.Click("Undo")
	p.Click("Letter")
	p.Reads(".cm-content", "Other")
	p.Reads(".document", "Letter")
	p.Page.MustReload().MustWaitLoad()
	p.Reads(".cm-content", "Other")
}

// checkSecondTab edits one document in two tabs.
func checkSecondTab(t *testing.T, h *shared) {
	v, first, _ := h.open(t)
	pasteText(first, "text/plain", "# Of both\n")
	waitForSave(first)
	second := v.OpenAlso(first, h.client.Base+"/")
	second.Reads(".cm-content", "Of both")

	pasteText(first, "text/plain", "# Of the first\n")
	second.Reads(".notice.error", "Another tab has changed or deleted this document")
	pasteText(second, "text/plain", "# Of the second\n")
	second.Click("Keep this text as a copy")
	second.Reads(".document", "Of the first (copy)")
	second.Until("the error is gone", `() => !document.querySelector(".notice.error")`)
	waitForSave(second)
	first.Reads(".cm-content", "Of the first")
	first.Page.MustReload().MustWaitLoad()
	first.Reads(".cm-content", "Of the first")

	// Both tabs show the copy. Now the second tab reloads the text of the first.
	first.Click("Documents")
	first.Click("Of the first (copy)")
	first.Reads(".cm-content", "Of the second")
	pasteText(first, "text/plain", "# Newest\n")
	second.Click("Reload it")
	second.Reads(".cm-content", "Newest")

	// Without a choice, the text becomes its own document.
	pasteText(first, "text/plain", "# Newer\n")
	second.Reads(".notice.error", "Another tab has changed")
	pasteText(second, "text/plain", "# Not lost\n")
	second.Page.MustReload().MustWaitLoad()
	second.Reads(".cm-content", "Newer")
	second.Click("Documents")
	second.Click("Of the first (copy) (unsaved text)")
	second.Reads(".cm-content", "Not lost")
}

// checkFullStorage writes while the database of the browser reports that it has no space, and after that.
func checkFullStorage(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	pasteText(p, "text/plain", "# Mine\n")
	waitForSave(p)
	p.Eval(`() => {
		window.full = true;
		for (const name of ["add", "put"]) {
			const real = IDBObjectStore.prototype[name];
			IDBObjectStore.prototype[name] = function (...args) {
				if (window.full) throw new DOMException("no space", "QuotaExceededError");
				return real.apply(this, args);
			};
		}
	}`)
	drop(p, file{"big.md", "text/markdown", []byte("# Large\n")})
	p.Reads(".notice.error", "big could not be opened: the browser has no space left")
	pasteText(p, "text/plain", "# Mine, longer\n")
	p.Reads(".write > .notice.error", "no space left", "Delete documents or files")
	p.Reads(".document", "saving")

	p.Eval(`() => { window.full = false; document.querySelector(".cm-content").focus() }`)
	p.Page.Keyboard.MustType('x')
	waitForSave(p)
	p.Until("the error is gone", `() => !document.querySelector(".write > .notice.error")`)
}

// checkManyFilesOffline drops 500 texts and an archive without a network.
func checkManyFilesOffline(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	p.Allow = []string{"ERR_INTERNET_DISCONNECTED"}
	waitForPreview(p, "quiet craft")
	archive := zipOf(t, map[string]string{"book/one.md": "# One"})
	drop(p, file{Name: "book.zip", Data: archive})
	p.Reads("dialog .found", "one")
	p.Click("Close")
	offline(t, p, true)

	var many []file
	for i := range 500 {
		many = append(many, file{fmt.Sprintf("note-%03d.md", i), "text/markdown", fmt.Appendf(nil, "# Note %d\n", i)})
	}
	drop(p, many...)
	p.Reads(".notice.info", "500 files are open as documents of their own", "The quiet craft of printing is kept")

	// The dialog of an archive stays open until the server is back.
	drop(p, file{Name: "book.zip", Data: archive})
	p.Reads("dialog .found", "one")
	p.Click("Convert into one PDF")
	p.Reads("dialog .notice", "book.zip was not converted", "Try again when it is back")

	offline(t, p, false)
	waitForPreview(p, "Note 0")
	p.Click("Convert into one PDF")
	p.See(".job[data-status=completed]")
	p.Page.MustReload().MustWaitLoad()
	p.Click("Documents")
	p.Until("all documents are listed", `() => document.querySelectorAll("dialog li[data-id]").length === 501`)
}

// TestLimitsAreCheckedBeforeConvert uses a server with small limits.
func TestLimitsAreCheckedBeforeConvert(t *testing.T) {
	t.Parallel()
	_, c := e2e.Serve(t, map[string]string{"MAX_CONTENT_BYTES": "2000", "MAX_UPLOAD_BYTES": "3000"})
	p := browsertest.NewVisitor(t).Open(c.Base+"/", 1280, 800, false)
	p.Allow = []string{"413 ("}
	p.Until("the limits are known", `() => document.querySelector(".theme-now .more")?.innerText !== "All "`)
	pasteText(p, "text/plain", strings.Repeat("word ", 500))
	p.Click("Convert Ctrl")
	p.Reads(".action .notice", "has 3 kB; this server converts at most 2 kB")
	drop(p, file{"large.png", "image/png", make([]byte, 4000)})
	p.Reads(".action .notice", "large.png is too large (4 kB); the limit is 3 kB")

	for _, r := range p.Requests() {
		if strings.HasPrefix(r, "POST") && strings.HasSuffix(r, "/api/conversion") {
			t.Errorf("the page sent %s, want no conversion", r)
		}
	}
	// The message lists the first files and counts the others.
	many := make([]file, 500)
	for i := range many {
		many[i] = file{strings.Repeat("a", i%20+1) + ".exe", "application/x-msdownload", []byte("MZ")}
	}
	drop(p, many...)
	p.Reads(".action .notice", "497 more files were not added")
}
