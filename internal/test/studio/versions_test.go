package studio_test

import (
	"strings"
	"testing"

	"github.com/go-rod/rod/lib/input"
)

// checkVersions restores an earlier text, and undoes that.
func checkVersions(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	first := "# Report\n\nThe first paragraph stays.\n\n" + strings.Repeat("A sentence that goes. ", 30) +
		"\n\nThe end.\n"
	pasteText(p, "text/plain", first)
	waitForSave(p)
	p.Click("Versions")
	p.Reads(".versions", "Today", "Changes since this version")
	p.Click("Close")

	pasteText(p, "text/plain", "# Report\n\nThe first paragraph stays.\n\nA new one.\n\nThe end.\n")
	waitForSave(p)
	p.Click("Versions")
	p.Until("both earlier texts are kept", `() => document.querySelectorAll(".versions li").length === 2`)
	p.Reads(".versions .cm-deletedChunk", "A sentence that goes.")
	p.Reads(".versions .cm-changedLine", "A new one.")
	p.Click("Restore this version")
	p.Until("the dialog is closed", `() => !document.querySelector("dialog")`)
	p.Reads(".cm-content", "A sentence that goes.")
	p.Reads(".notice.info", "The version of Today, ", "is restored")
	waitForSave(p)
	p.Click("Undo")
	p.Reads(".cm-content", "A new one.")
	p.Eval(`() => document.querySelector(".cm-content").focus()`)
	p.Page.KeyActions().Press(input.ControlLeft).Type('z').MustDo()
	p.Reads(".cm-content", "A sentence that goes.")
	waitForSave(p)
	p.Page.KeyActions().Press(input.ControlLeft).Type('z').MustDo()
	p.Reads(".cm-content", "A new one.")
	waitForSave(p)

	// After a reload the versions still exist. One of them is the restored text.
	p.Page.MustReload().MustWaitLoad()
	p.Reads(".cm-content", "A new one.")
	p.Click("Versions")
	p.Until("the replaced texts are kept", `() => document.querySelectorAll(".versions li").length >= 3`)
	p.Click("Open as a copy")
	p.Reads(".document", "Report (Today ")
	p.Click("Documents")
	p.Until("the copy is a document of its own", `() => document.querySelectorAll("dialog li[data-id]").length === 2`)
}
