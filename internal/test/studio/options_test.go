package studio_test

import (
	"testing"

	"github.com/go-rod/rod/lib/input"
)

// checkOptionFields types options into the panel. An invalid one is marked before the conversion, and Ctrl+Enter converts
// also from a field.
func checkOptionFields(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	pasteText(p, "text/plain", "# A report\n")
	waitForPreview(p, "A report")
	p.See("#opt-scale").MustInput("9").MustType(input.Tab)
	p.See("#opt-scale[aria-invalid=true]")
	p.Reads("#opt-scale-problem", "scale 9 is not allowed; allowed: 0.1 to 2")

	p.See("#opt-scale").MustSelectAllText().MustInput("0.5")
	p.Eval(`() => Object.defineProperty(navigator, "pdfViewerEnabled", {value: true})`)
	p.Page.KeyActions().Press(input.ControlLeft).Type(input.Enter).MustDo()
	p.Reads(".cm-content", "scale: 0.5")
	p.See(".job[data-status=completed]")
	p.Until("the viewer shows the page in its width",
		`() => document.querySelector("iframe.pdf")?.src.endsWith("#navpanes=0&view=FitH")`)
	p.Until("nothing is marked", `() => !document.querySelector("[aria-invalid=true], .options .problem")`)

	if twice := p.Eval(`() => [...document.querySelectorAll("[id]")].map(e => e.id)
		.filter((id, i, all) => all.indexOf(id) !== i).join(" ")`); twice != "" {
		t.Errorf("several elements have the ids %s, want unique ids", twice)
	}
}
