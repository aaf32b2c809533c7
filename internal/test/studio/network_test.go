package studio_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-rod/rod/lib/input"
	"github.com/go-rod/rod/lib/proto"

	"presswork/internal/test/browsertest"
)

// checkKeyboardUse uses the studio without a mouse.
func checkKeyboardUse(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	tabTo := func(label string) {
		t.Helper()

		for range 60 {
			p.Page.Keyboard.MustType(input.Tab)

			focused := p.Eval(`() => {
				const e = document.activeElement;
				return e?.getAttribute("aria-label") ?? e?.innerText ?? "";
			}`)
			if focused == label {
				return
			}
		}
		t.Fatalf("the focus is not on %q after 60 times Tab", label)
	}
	tabTo("Convert")
	p.Page.Keyboard.MustType(input.ArrowRight)
	p.See("#url")
	p.Page.Keyboard.MustType(input.ArrowLeft)
	tabTo("Markdown")
	p.Page.KeyActions().Press(input.ControlLeft).Type(input.Enter).MustDo()
	p.See(".job[data-status=completed]")
	// In the editor, Tab moves the focus.
	tabTo("Live page")
	p.Eval(`() => document.querySelector(".theme-now").focus()`)
	p.Page.Keyboard.MustType(input.Enter)
	p.See("dialog[open] input[type=search]")
	p.Page.Keyboard.MustType(input.Escape)
	p.Until("the gallery closes and gives the focus back",
		`() => !document.querySelector("dialog") && document.activeElement?.className === "theme-now"`)
}

// checkOffline checks that the browser keeps the text without a network, and that the preview follows later.
func checkOffline(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	p.Allow = []string{"ERR_INTERNET_DISCONNECTED"}
	waitForPreview(p, "quiet craft")
	offline(t, p, true)
	pasteText(p, "text/plain", "# Written offline\n")
	p.See(".offline")
	p.Until("the text is kept",
		`() => document.querySelector(".document").innerText.includes("Written offline\nsaved")`)
	offline(t, p, false)
	waitForPreview(p, "Written offline")
}

// checkSlowNetwork converts over a connection with a latency of 400 ms and 50 KB per second.
func checkSlowNetwork(t *testing.T, h *shared) {
	_, p, _ := h.open(t)

	slow := proto.NetworkEmulateNetworkConditions{Latency: 400, DownloadThroughput: 50_000, UploadThroughput: 50_000}
	if err := slow.Call(p.Page); err != nil {
		t.Fatal(err)
	}
	p.Page.MustReload()
	pasteText(p, "text/plain", "# From afar\n")
	waitForPreview(p, "From afar")
	convert(p)
}

// checkDocumentationRequests checks that the guide can send a request.
func checkDocumentationRequests(t *testing.T, h *shared) {
	c := h.client.For(t)
	p := h.visitor.For(t).Open(c.Base+"/docs/api/themes", 1280, 900, false)
	p.Press("#listThemes .try button")
	p.Press("#listThemes .trial .primary")
	p.Until("the answer is shown", `() => document.querySelector("#listThemes .answer")?.innerText.includes('"nord"')`)
}

// checkDocumentationLanguage checks that the chosen language of samples stays chosen on other pages.
func checkDocumentationLanguage(t *testing.T, h *shared) {
	c := h.client.For(t)
	visitor := h.visitor.For(t)
	const shown = `() => [...document.querySelectorAll(".sample:not([hidden])")].map(s => s.dataset.language)
		.every((l, i, all) => all.length > 0 && l === "Python")`

	p := visitor.Open(c.Base+"/docs", 1280, 900, false)
	p.Press(`.segments button[data-language="Python"]`)
	p.Until("every sample is in Python", shown)
	p.Page.MustNavigate(c.Base + "/docs/api/themes")
	p.Until("the next page is in Python", shown)
}

// checkCopiedProgram sends a request to the address in the program of "Copy as".
func checkCopiedProgram(t *testing.T, h *shared) {
	_, p, c := h.open(t)
	convert(p)
	p.Click("Copy as")
	program := p.Reads(".program", c.Base)
	_, address, _ := strings.Cut(program, "'")
	address, _, _ = strings.Cut(address, "'")

	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader("# Hi"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "text/markdown")
	req.Header.Set("Accept", "application/pdf")

	res, err := c.HTTP.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()

	if body, _ := io.ReadAll(res.Body); !bytes.HasPrefix(body, []byte("%PDF-")) {
		t.Errorf("%s: status %d, %.200s; want a PDF", address, res.StatusCode, body)
	}
}

// offline cuts the network of the page or restores it.
func offline(t *testing.T, p *browsertest.Visit, off bool) {
	t.Helper()

	conditions := proto.NetworkEmulateNetworkConditions{Offline: off, DownloadThroughput: -1, UploadThroughput: -1}
	if err := conditions.Call(p.Page); err != nil {
		t.Fatal(err)
	}
}
