package studio_test

import (
	"testing"

	"presswork/internal/test/browsertest"
)

// dot is a picture of one pixel: PNG in base64.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="

// lines is the text of the editor, if it is short enough to be drawn whole.
const lines = `[...document.querySelectorAll(".cm-line")].map(l => l.textContent).join("\n")`

// dropOn drops a file on the line of the editor that has a text.
func dropOn(p *browsertest.Visit, line, name, kind, base64 string) {
	p.Eval(`(text, name, type, b64) => {
		const line = [...document.querySelectorAll(".cm-line")].find(l => l.textContent.includes(text));
		const { left, top, height } = line.getBoundingClientRect();
		const data = new DataTransfer();
		data.items.add(new File([Uint8Array.from(atob(b64), c => c.charCodeAt(0))], name, {type}));
		line.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true,
			clientX: left + 40, clientY: top + height / 2}));
	}`, line, name, kind, base64)
}

func picturesStandBetweenBlocks(t *testing.T, h *shared) {
	for name, row := range map[string]struct{ text, on, want string }{
		"front matter": {"---\ntitle: A\n---\n# A\n", "title", "---\ntitle: A\n---\n\n![a](a.png)\n\n# A\n"},
		"dots end it":  {"---\ntitle: A\n...\n\n# A\n", "title", "---\ntitle: A\n...\n\n![a](a.png)\n\n# A\n"},
		"code":         {"```\nline\n```\n\nend\n", "line", "```\nline\n```\n\n![a](a.png)\n\nend\n"},
		"open code":    {"begin\n\n```\nline\n", "line", "begin\n\n![a](a.png)\n\n```\nline\n"},
		"a table":      {"| a |\n| - |\n| 1 |\n", "a", "| a |\n| - |\n| 1 |\n\n![a](a.png)\n"},
		"a paragraph":  {"some words\nand more\n\nend", "words", "some words\nand more\n\n![a](a.png)\n\nend"},
	} {
		t.Run(name, func(t *testing.T) {
			_, p, _ := h.open(t)
			write(p, "text/plain", row.text)
			dropOn(p, row.on, "a.png", "image/png", dot)
			p.Until("the picture stands on its own", `want => `+lines+` === want`, row.want)
			p.Until("it is on the page", `() => [...`+page+`.images].some(i => i.naturalWidth === 1)`)
		})
	}
}

func aPastedPageStandsBetweenBlocks(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	p.Allow = []string{"Blocked script execution in"}
	shows(p, "quiet craft")
	write(p, "text/plain", "---\ntitle: A\n---\n\nText\n")
	p.Eval(`() => {
		getSelection().collapse(document.querySelector(".cm-line"), 0);
		const data = new DataTransfer();
		data.setData("text/html", "<h2>Taken</h2><p>from <b>a page</b></p>");
		document.querySelector(".cm-content").dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
	}`)
	p.Until("it follows the front matter", `want => `+lines+` === want`,
		"---\ntitle: A\n---\n\n## Taken\n\nfrom **a page**\n\nText\n")
}
