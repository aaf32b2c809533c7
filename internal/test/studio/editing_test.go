package studio_test

import (
	"testing"

	"github.com/go-rod/rod/lib/input"

	"presswork/internal/test/browsertest"
)

// setCursor puts the cursor at the end of the first line that contains text.
func setCursor(p *browsertest.Visit, text string) {
	p.Eval(`text => {
		document.querySelector(".cm-content").focus();
		const line = [...document.querySelectorAll(".cm-line")].find(l => l.textContent.includes(text));
		getSelection().selectAllChildren(line);
		getSelection().collapseToEnd();
	}`, text)
}

// checkOutline lists the headings, follows the cursor, and leads to a heading.
func checkOutline(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	pasteText(p, "text/plain", "---\ntitle: A\n# no: heading\n---\n\n# One *word*\n\ntext\n\n```\n# in code\n```\n\n"+
		"## Two [link](https://example.com/)\n\nmore\n\n# Three {#id}\n\nend\n")
	p.Click("Outline")
	p.Until("the headings are listed", `() =>
		[...document.querySelectorAll(".outline button")].map(e => e.innerText).join() === "One word,Two link,Three"`)
	setCursor(p, "more")
	p.Reads(".outline [aria-current]", "Two link")
	p.Press(".outline li:nth-child(3) button")
	p.Reads(".cm-activeLine", "# Three")
	p.Page.Keyboard.MustType('!')
	p.Reads(".outline [aria-current]", "Three {#id}!")
	p.Page.MustReload().MustWaitLoad()
	p.Reads(".outline", "One word")
}

// checkFindAndReplace replaces a word with the search panel.
func checkFindAndReplace(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	pasteText(p, "text/plain", "# Cats\n\nA cat, a cat.\n")
	p.Page.KeyActions().Press(input.ControlLeft).Type('f').MustDo()
	p.See(".cm-search [name=search]").MustInput("cat")
	p.Until("the matches are marked", `() => document.querySelectorAll(".cm-searchMatch").length === 3`)
	p.See(".cm-search [name=replace]").MustInput("dog")
	p.Click("Replace all")
	p.Until("all are replaced", `want => `+lines+` === want`, "# dogs\n\nA dog, a dog.\n")
	p.Press(".cm-search [name=close]")
	p.Until("the panel is closed", `() => !document.querySelector(".cm-search")`)
}

// checkFormatButtons presses each button with the cursor on a line.
func checkFormatButtons(t *testing.T, h *shared) {
	_, p, _ := h.open(t)

	for name, row := range map[string]struct{ text, on, want string }{
		"Bulleted list": {"a\nb", "a", "- a\nb"},
		"Numbered list": {"- a", "a", "1. a"},
		"Task list":     {"1. a", "a", "- [ ] a"},
		"Quote":         {"> a", "a", "a"},
		"Bold":          {"a ", "a", "a ****"},
		"Link":          {"a ", "a", "a [](https://)"},
		"Citation":      {"a ", "a", "a [@]"},
		"Footnote":      {"a[^1]\n\n[^1]: b\n", "a", "a[^1][^2]\n\n[^1]: b\n[^2]: Note\n"},
		"Table":         {"a", "a", "a\n\n| Column | Column |\n| ------ | ------ |\n| Cell   | Cell   |"},
	} {
		t.Run(name, func(t *testing.T) {
			pasteText(p, "text/plain", row.text)
			setCursor(p, row.on)
			p.Press(`.format [aria-label^="` + name + `"]`)
			p.Until("the text is changed", `want => `+lines+`.trimEnd() === want.trimEnd()`, row.want)
		})
	}
	pasteText(p, "text/plain", "Title\n")
	setCursor(p, "Title")
	p.See(".heading-choice").MustSelect("Heading 2")
	p.Until("the line is a heading", `() => `+lines+` === "## Title\n"`)
	p.Until("the choice follows", `() => document.querySelector(".heading-choice").value === "2"`)
	p.Page.KeyActions().Press(input.ControlLeft, input.AltLeft).Type('1').MustDo()
	p.Until("the shortcut works", `() => `+lines+` === "# Title\n"`)
}

// checkSlashMenu inserts a table with the menu at a slash, and a citation with the menu at an @.
func checkSlashMenu(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	// The menu is loaded at the first input, so these keys come before it.
	pasteText(p, "text/plain", "Text\n\n")
	p.Page.Keyboard.MustType('/', 't', 'a', 'b')
	p.Reads(".cm-tooltip-autocomplete [aria-selected]", "Table")
	p.Until("the menu accepts keys",
		`() => document.querySelector(".cm-content").getAttribute("aria-activedescendant") !== null`)
	p.Eval(`() => new Promise(done => setTimeout(done, 100))`) // the menu ignores keys for its first 75 ms
	p.Page.Keyboard.MustType(input.Enter)
	p.Until("the table is there", `want => `+lines+`.trimEnd() === want`,
		"Text\n\n| Column | Column |\n| ------ | ------ |\n| Cell   | Cell   |")
	// Inside a line, a slash is a slash.
	pasteText(p, "text/plain", "and")
	p.Page.Keyboard.MustType('/', 'o', 'r')
	p.Reads(".cm-content", "and/or")

	if p.Eval(`() => String(document.querySelector(".cm-tooltip-autocomplete"))`) != "null" {
		t.Error("a slash inside a line opens the menu, want no menu")
	}
	// After an @ the editor offers the keys of the bibliography.
	drop(p, file{"works.bib", "text/plain", []byte("@book{knuth84, title = {The TeXbook}, year = 1984}\n")})
	p.Reads(".assets", "works.bib")
	setCursor(p, "and/or")
	p.Page.Keyboard.MustType(' ', '[', '@', 'k')
	p.Reads(".cm-tooltip-autocomplete", "@knuth84", "The TeXbook")
}

// checkShortcuts opens the list of shortcuts by its keys, which type a letter in the text.
func checkShortcuts(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	p.Eval(`() => document.activeElement?.blur()`)
	p.Page.KeyActions().Press(input.ShiftLeft).Type('?').MustDo()
	p.Reads("dialog", "Keyboard shortcuts", "Ctrl+B", "Find and replace", "Ctrl+Alt+1")
	p.Page.Keyboard.MustType(input.Escape)
	p.Until("the dialog is closed", `() => !document.querySelector("dialog")`)
	// On another tab the list would be hidden, so the key does nothing.
	p.Click("Page export")
	p.See("#url")
	p.Eval(`() => document.activeElement?.blur()`)
	p.Page.Keyboard.MustType(input.F1)
	p.See("#url").MustInput("example.com")
	p.Until("the page takes input",
		`() => document.querySelector("#url").value.endsWith("example.com") && !document.querySelector("dialog")`)
	p.Page.MustNavigateBack()
	p.See(".cm-content")
	// In the text a question mark is a letter, and F1 opens the list.
	pasteText(p, "text/plain", "Why")
	p.Page.KeyActions().Press(input.ShiftLeft).Type('?').MustDo()
	p.Reads(".cm-content", "Why?")
	p.Page.Keyboard.MustType(input.F1)
	p.See(".shortcuts")
}
