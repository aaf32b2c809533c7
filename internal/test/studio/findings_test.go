package studio_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/go-rod/rod/lib/input"
	"github.com/go-rod/rod/lib/proto"

	"presswork/internal/test/browsertest"
)

// cursorLine is JavaScript for the number of the line with the cursor.
const cursorLine = `document.querySelector(".cm-activeLineGutter, .cm-activeLine") && ` +
	`[...document.querySelectorAll(".cm-lineNumbers .cm-gutterElement")].findLast(e => ` +
	`e.getBoundingClientRect().top <= document.querySelector(".cm-activeLine").getBoundingClientRect().top + 2).innerText`

// checkFindings checks that the warnings of a document are marked at their lines and listed, and disappear after a
// correction.
func checkFindings(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	pasteText(p, "text/plain", "---\nscale: 9\n---\n\n# Findings\n\nSee [there](#nowhere).\n\n![](missing.png)\n")
	waitForPreview(p, "See there")
	p.Reads(".findings summary", "4 findings")
	p.Until("three lines are marked and the words underlined", `() =>
		document.querySelectorAll(".cm-lint-marker-warning").length === 3 &&
		[...document.querySelectorAll(".cm-lintRange-warning")].some(e => e.innerText === "nowhere")`)
	p.Press(".findings summary")
	p.Reads(".findings", "Line 2", "Line 7", "Correct the name after #", "Line 9", "Drop the picture on this page")
	keepPicture(t, p, "findings")

	// F8 goes from one to the next.
	p.Press(".findings li:first-child button")
	p.Until("the first line is selected", `() => `+cursorLine+` === "2"`)
	p.Page.Keyboard.MustType(input.F8)
	p.Until("the cursor is at the second", `() => `+cursorLine+` === "7"`)

	pasteText(p, "text/plain", "# Findings\n\nNothing is wrong.\n")
	p.Until("no finding is left", `() => !document.querySelector(".findings details, .cm-lint-marker")`)

	p.Allow = []string{"400 (Bad Request)"}
	pasteText(p, "text/plain", "---\ntitle: [\n---\n\n# Findings\n")
	p.Until("the error is marked", `() => !!document.querySelector(".cm-lint-marker-error")`)
	p.Reads(".findings summary", "1 finding")
}

// checkPrintedFindings checks that warnings that only a print returns move with their line.
func checkPrintedFindings(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	pasteText(p, "text/plain", "# Wide\n\n`"+strings.Repeat("x", 300)+"`\n\nA \U000107ff without a font.\n")
	waitForPreview(p, "without a font")
	convert(p)
	p.Reads(".findings summary", "finding")
	p.Press(".findings summary")
	p.Reads(".findings", "Line 5", "no font has")
	p.Eval(`() => document.querySelector(".cm-content").focus()`)
	p.Page.KeyActions().Press(input.ControlLeft).Type(input.Home).MustDo()
	p.Page.Keyboard.MustType(input.Enter)
	p.Reads(".findings", "Line 6", "no font has")
}

// checkPageAndText clicks on elements of the page, which moves the cursor. Then it moves the cursor, which scrolls the
// page.
func checkPageAndText(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	var text strings.Builder
	text.WriteString("# Top\n\n- one\n- two\n\n| a | b |\n| - | - |\n| c | cell |\n\n")

	for i := range 60 {
		text.WriteString("Paragraph " + strconv.Itoa(i) + " is here.\n\n")
	}
	text.WriteString("## The end\n\nLast words.\n")
	pasteText(p, "text/plain", text.String())
	waitForPreview(p, "Last words")

	for _, row := range []struct{ selector, text, line string }{
		{"li", "two", "4"}, {"td", "cell", "8"}, {"p", "Paragraph 3 is", "16"}, {"h2", "The end", "130"},
	} {
		clickOnPage(p, row.selector, row.text)
		p.Until(row.text+" is on line "+row.line, `line => `+cursorLine+` === line`, row.line)
		p.Until("the place is marked", `(selector, text) => {
			const bar = `+page+`.querySelector("html > .here")?.getBoundingClientRect();
			const e = [...`+page+`.querySelectorAll(selector)].find(e => e.innerText.includes(text)).getBoundingClientRect();
			return bar && bar.top < e.bottom && bar.bottom > e.top;
		}`, row.selector, row.text)
	}

	// The page follows the cursor.
	p.Eval(`() => document.querySelector(".cm-content").focus()`)
	p.Page.KeyActions().Press(input.ControlLeft).Type(input.Home).MustDo()
	p.Until("the top of the page is in sight", `() => `+page+`.querySelector("h1").getBoundingClientRect().top >= 0`)
	p.Page.KeyActions().Press(input.ControlLeft).Type(input.End).MustDo()
	p.Until("the end of the page is in sight", `() => {
		const e = [...`+page+`.querySelectorAll("p")].at(-1).getBoundingClientRect();
		return e.top > 0 && e.bottom < `+page+`.documentElement.clientHeight;
	}`)
	keepPicture(t, p, "page-and-text")
}

// clickOnPage clicks on the first element of a selector in the preview that contains text.
func clickOnPage(p *browsertest.Visit, selector, text string) {
	p.Until("it is in sight", `(selector, text) => {
		const e = [...`+page+`.querySelectorAll(selector)].find(e => e.innerText.includes(text));
		e?.scrollIntoView({block: "center"});
		return !!e;
	}`, selector, text)
	var x, y float64
	fmt.Sscan(p.Eval(`(selector, text) => {
		const e = [...`+page+`.querySelectorAll(selector)].find(e => e.innerText.includes(text)).getBoundingClientRect();
		const frame = document.querySelector("iframe.sheet").getBoundingClientRect();
		return (frame.left + e.left + 8) + " " + (frame.top + e.top + e.height / 2);
	}`, selector, text), &x, &y)
	p.Page.Mouse.MustMoveTo(x, y)
	p.Page.Mouse.MustClick(proto.InputMouseButtonLeft)
}

// keepPicture writes a picture of the window into the folder of PRESSWORK_PICTURES, if it is set.
func keepPicture(t *testing.T, p *browsertest.Visit, name string) {
	if dir := os.Getenv("PRESSWORK_PICTURES"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".png"), p.Picture(), 0o644); err != nil {
			t.Error(err)
		}
	}
}
