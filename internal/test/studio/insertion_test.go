package studio_test

import (
	"testing"

	"presswork/internal/test/browsertest"
)

// lines is JavaScript for the text in the editor. The editor draws only visible lines, so the text must be short.
const lines = `[...document.querySelectorAll(".cm-line")].map(l => l.textContent).join("\n")`

// dropOn drops a file on the first line of the editor that contains the text of line.
func dropOn(p *browsertest.Visit, line string, f file) {
	p.Eval(`(text, file) => {
		const line = [...document.querySelectorAll(".cm-line")].find(l => l.textContent.includes(text));
		const { left, top, height } = line.getBoundingClientRect();
		line.dispatchEvent(new DragEvent("drop", {dataTransfer: `+transfer+`([file]), bubbles: true, cancelable: true,
			clientX: left + 40, clientY: top + height / 2}));
	}`, line, f)
}

// checkPicturePlacement drops a picture on each kind of block. It must be inserted between blocks.
func checkPicturePlacement(t *testing.T, h *shared) {
	for name, row := range map[string]struct{ text, on, want string }{
		"front matter":  {"---\ntitle: A\n---\n# A\n", "title", "---\ntitle: A\n---\n\n![a](a.png)\n\n# A\n"},
		"ended by dots": {"---\ntitle: A\n...\n\n# A\n", "title", "---\ntitle: A\n...\n\n![a](a.png)\n\n# A\n"},
		"code":          {"```\nline\n```\n\nend\n", "line", "```\nline\n```\n\n![a](a.png)\n\nend\n"},
		"open code":     {"begin\n\n```\nline\n", "line", "begin\n\n![a](a.png)\n\n```\nline\n"},
		"a table":       {"| a |\n| - |\n| 1 |\n", "a", "| a |\n| - |\n| 1 |\n\n![a](a.png)\n"},
		"a paragraph":   {"some words\nand more\n\nend", "words", "some words\nand more\n\n![a](a.png)\n\nend"},
	} {
		t.Run(name, func(t *testing.T) {
			_, p, _ := h.open(t)
			pasteText(p, "text/plain", row.text)
			dropOn(p, row.on, file{"a.png", "image/png", picture(t)})
			p.Until("the picture is its own block", `want => `+lines+` === want`, row.want)
			p.Until("the picture is in the preview", `() => [...`+page+`.images].some(i => i.naturalWidth === 1)`)
		})
	}
}

// checkPastedPagePlacement checks that pasted HTML goes below the front matter.
func checkPastedPagePlacement(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	p.Allow = []string{"Blocked script execution in"}
	waitForPreview(p, "quiet craft")
	pasteText(p, "text/plain", "---\ntitle: A\n---\n\nText\n")
	p.Eval(`() => {
		getSelection().collapse(document.querySelector(".cm-line"), 0);
		const data = new DataTransfer();
		data.setData("text/html", "<h2>Taken</h2><p>from <b>a page</b></p>");
		document.querySelector(".cm-content").dispatchEvent(
			new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
	}`)
	p.Until("the pasted text follows the front matter", `want => `+lines+` === want`,
		"---\ntitle: A\n---\n\n## Taken\n\nfrom **a page**\n\nText\n")
}
