//go:build compat

package compat

import (
	"os"
	"path/filepath"
	"testing"

	"presswork/internal/test/browsertest"
	"presswork/internal/test/e2e"
)

// TestStudioIsAccessible checks every part of the studio with axe, in three sizes, light and dark. It leaves out the
// frame of the preview, whose content is the user's document.
func TestStudioIsAccessible(t *testing.T) {
	axe := readAxe(t)
	_, c := e2e.Serve(t, nil)
	v := browsertest.NewVisitor(t)

	for _, size := range sizes {
		for _, dark := range []bool{false, true} {
			p := v.Open(c.Base+"/", size[0], size[1], dark)
			check := func(part string) { t.Helper(); checkAccessibility(t, p, axe, part, size, dark) }
			p.See(".cm-content")
			check("convert")
			p.Eval(`() => {
				const data = new DataTransfer();
				data.setData("text/plain", "# A\n\n![](missing.png)\n\n[x](#nowhere)\n");
				document.querySelector(".cm-content").
					dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
			}`)
			p.Press(".findings summary")
			p.See(".findings li")
			check("findings")
			p.Click("Documents")
			p.See("dialog li[data-id]")
			check("documents")
			p.Click("Close")

			checkWritingParts(t, p, check)

			if size[0] < 900 {
				p.Click("Options")
			}
			p.Click("Advanced")
			p.See("#opt-css")
			p.Click("Save as preset")
			p.See("#preset-name")
			check("options")
			p.Click("Cancel")
			p.See(".theme-now").MustClick()
			p.See(".gallery .card")
			check("gallery")
			p.Click("Close")

			for _, tab := range []struct{ name, sign string }{
				{"Page export", "#url"}, {"Chat", "textarea[aria-label=Message]"}, {"Transcribe", "#voice-model"},
			} {
				p.Click(tab.name)
				p.See(tab.sign)
				check(tab.name)
			}
		}
	}
}

// checkWritingParts opens the parts of the studio that help to write and to keep documents, and checks each.
func checkWritingParts(t *testing.T, p *browsertest.Visit, check func(part string)) {
	t.Helper()
	p.Click("Outline")
	p.See(".outline button")
	check("outline")
	p.Click("Outline")
	p.Click("Find and replace")
	p.See(".cm-search")
	check("find and replace")
	p.Press(".cm-search [name=close]")
	p.Click("Keyboard shortcuts")
	p.See(".shortcuts")
	check("shortcuts")
	p.Click("Close")

	// A change of the text creates a version.
	p.See(".cm-content").MustInput("More. ")
	p.Reads(".document", "saved")
	p.Click("Versions")
	p.See(".versions .cm-content")
	check("versions")
	p.Click("Close")

	p.Eval(`() => {
		const data = new DataTransfer();
		data.items.add(new File(["no archive"], "book.zip"));
		document.querySelector(".convert").dispatchEvent(
			new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
	}`)
	p.See("dialog .notice.error")
	check("a rejected archive")
	p.Click("Close")

	p.Press(".action .primary")
	p.See(".job[data-status=completed]")
	p.Click("Share")
	p.Click("Create link")
	p.See("#share-link")
	check("share")
	p.Click("Close")
}

// TestAdminPageIsAccessible checks the page at /admin with axe.
func TestAdminPageIsAccessible(t *testing.T) {
	axe := readAxe(t)
	_, c := e2e.Serve(t, nil)
	c.Completed(c.Submit(e2e.Submission{Content: "# Hi", Filename: "hi.pdf"}).JobID)
	v := browsertest.NewVisitor(t)

	for _, size := range sizes {
		for _, dark := range []bool{false, true} {
			p := v.Open(c.Base+"/admin", size[0], size[1], dark)
			for _, tab := range []struct{ name, sign string }{
				{"Overview", ".worker"},
				{"Dead letters", ".desk .empty"},
				{"Webhooks", ".desk .empty"},
				{"Keys", "#usage"},
				{"Jobs", "tr[data-id]"},
			} {
				p.Click(tab.name)
				p.See(tab.sign)
				checkAccessibility(t, p, axe, tab.name, size, dark)
			}
			p.Click("hi.pdf")
			p.See(".timeline")
			checkAccessibility(t, p, axe, "a job", size, dark)
		}
	}
}

// TestGuideIsAccessible checks pages at /docs with axe.
func TestGuideIsAccessible(t *testing.T) {
	axe := readAxe(t)
	_, c := e2e.Serve(t, nil)
	v := browsertest.NewVisitor(t)

	for _, size := range sizes {
		for _, dark := range []bool{false, true} {
			for _, path := range []string{
				"/docs", "/docs/api/conversion", "/docs/tasks/a-chat-word-by-word", "/docs/troubleshooting",
				"/docs/markdown", "/docs/search?q=webhook",
			} {
				p := v.Open(c.Base+path, size[0], size[1], dark)
				if path == "/docs/api/conversion" {
					p.Press("#listJobs .try button")
					p.See("#listJobs .trial")
				}
				checkAccessibility(t, p, axe, path, size, dark)
			}
		}
	}
}

// readAxe returns the script of axe-core.
func readAxe(t *testing.T) string {
	t.Helper()
	path := filepath.Join(os.Getenv("PRESSWORK_COMPAT"), "node", "node_modules", "axe-core", "axe.min.js")

	script, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	return string(script)
}

// sizes lists the widths and heights of a desktop, a tablet and a telephone.
var sizes = [][2]int{{1440, 900}, {820, 1100}, {390, 844}}

// checkAccessibility checks the open page with axe, and checks that it is not wider than the window.
func checkAccessibility(t *testing.T, p *browsertest.Visit, axe, part string, size [2]int, dark bool) {
	t.Helper()
	// The test evaluates the script, because the content security policy blocks a script element.
	found := p.Eval(`async () => {
		` + axe + `
		const { violations } = await axe.run(document, {iframes: false});
		return violations.filter(v => v.impact === "serious" || v.impact === "critical")
			.map(v => v.id + ": " + v.nodes.map(n => n.html.slice(0, 150)).join(" ")).join("\n");
	}`)
	if found != "" {
		t.Errorf("%s, %dx%d, dark %t: axe found %s, want no serious violations", part, size[0], size[1], dark, found)
	}

	if over := p.Eval(`() => String(document.documentElement.scrollWidth - innerWidth)`); over != "0" {
		t.Errorf("%s, %dx%d: the page is %s pixels wider than the window, want 0", part, size[0], size[1], over)
	}
}
