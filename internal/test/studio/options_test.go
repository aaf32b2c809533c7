package studio_test

import (
	"strings"
	"testing"

	"github.com/go-rod/rod/lib/input"
)

// checkOptionFields types options into the panel, which marks an invalid value. Ctrl+Enter also converts from a field.
func checkOptionFields(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	pasteText(p, "text/plain", "# A report\n")
	waitForPreview(p, "A report")
	p.Click("Advanced")
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

// shownOptions is JavaScript for the names of the options that the panel shows, in their order.
const shownOptions = `[...document.querySelectorAll(".fields > div")]
	.filter(e => e.checkVisibility()).map(e => e.title).join(" ")`

// checkEssentialsAndFilter opens Advanced and looks for options by label and API name.
func checkEssentialsAndFilter(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	waitForPreview(p, "quiet craft")
	p.See(".options .theme-now")

	want := "page_size toc cover numbered_headings output"
	if shown := p.Eval(`() => ` + shownOptions); shown != want {
		t.Errorf("the panel shows %s at first, want %s", shown, want)
	}

	p.Click("Advanced")

	for query, found := range map[string]string{
		"PDF_a":        want + " pdf_a",
		"code colours": want + " code_theme",
		"keep nothing": want,
	} {
		p.See("input[aria-label='Find an option']").MustSelectAllText().MustInput(query)
		p.Until(query+" finds "+found, `found => `+shownOptions+` === found`, found)
	}

	p.See("input[aria-label='Find an option']").MustSelectAllText().MustInput("table of contents")
	p.Reads(".advanced [role=status]", "Above: Table of contents")
	p.See("input[aria-label='Find an option']").MustSelectAllText().MustInput("zzz")
	p.Reads(".advanced [role=status]", "No option has “zzz” in its label or API name.")
}

// checkWrongHiddenOption checks that the panel shows a hidden option if its value in the text is wrong.
func checkWrongHiddenOption(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	pasteText(p, "text/plain", "---\nscale: 9\nauthor: Ada\n---\n\n# A report\n")
	p.Reads(".advanced summary", "2 set")
	p.See("#opt-scale-problem")
}

// pressed is a JavaScript function that reports whether the front matter has all options of a preset.
const pressed = `name => [...document.querySelectorAll(".presets .chip")]
	.find(e => e.innerText === name)?.ariaPressed === "true"`

// checkPresets applies the presets of the panel and takes one back.
func checkPresets(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	pasteText(p, "text/plain", "---\ntitle: Mine\ntheme: nord\npdf_ua: true\n---\n\n# A talk\n")
	waitForPreview(p, "A talk")
	p.Click("Slides")
	p.Reads(".cm-content", "as: slides")
	p.Until("Slides is pressed", pressed, "Slides")

	p.Click("Report")
	p.Until("Report is pressed", pressed, "Report")
	p.Until("only Report is pressed", `() => document.querySelectorAll(".presets [aria-pressed=true]").length === 1`)
	p.Reads(".cm-content", "title: Mine", "theme: nord", "pdf_ua: true", "as: document", "toc: true")
	p.Until("the fields show it",
		`() => document.querySelector("#opt-cover").checked && document.querySelector("#opt-toc").value === "true"`)

	p.Click("Handout")
	p.Reads(".presets [role=status]", "Handout removed: Table of contents, Cover")
	p.Eval(`() => document.querySelector(".cm-content").focus()`)
	p.Page.KeyActions().Press(input.ControlLeft).Type('z').MustDo()
	p.Until("one step takes it back", pressed, "Report")

	p.See("#opt-page_size").MustSelect("A5")
	p.Until("Report is changed", `name => !(`+pressed+`)(name)`, "Report")
}

// checkSavedPresets saves the options of a document as a preset and uses it in another document.
func checkSavedPresets(t *testing.T, h *shared) {
	v, p, _ := h.open(t)
	pasteText(p, "text/plain", "---\nauthor: Ada\ntheme: nord\nmargins:\n  top: 3cm\nlandscape: true\n---\n\n# Mine\n")
	p.Until("the text is read", `() => document.querySelector("[aria-label='Margin top']").value === "3cm"`)
	p.Click("Save as preset")
	p.See("#preset-name").MustInput("report")
	p.Reads("#preset-hint", "Report is built in. Choose another name.")
	p.See("#preset-name").MustSelectAllText().MustInput("House style").MustType(input.Enter)
	p.Until("it is pressed", pressed, "House style")
	waitForSave(p)

	p.Page.MustReload().MustWaitLoad()
	p.Click("Documents")
	p.Click("New document")
	p.Until("it is empty", `() => document.querySelector(".cm-placeholder") !== null`)
	pasteText(p, "text/plain", "# Other\n")
	p.Click("House style")

	text := p.Reads(".cm-content", "theme: nord", "margins: { top: 3cm }", "landscape: true")
	if strings.Contains(text, "Ada") {
		t.Errorf("text %s, want the preset without the author of its document", text)
	}

	second := v.OpenAlso(p, h.client.Base+"/")
	second.Click("Delete the preset House style")
	p.Until("the other tab sees it", `() => document.querySelectorAll(".presets .chip").length === 4`)
	second.Click("Undo")
	p.Until("it is back", pressed, "House style")
}
