package studio_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"presswork/internal/test/browsertest"
	"presswork/internal/test/e2e"
	"presswork/internal/test/public"
	"presswork/internal/test/wait"
)

// TestLivePageFollowsTheFile changes a document while `md2pdf --live` shows it.
func TestLivePageFollowsTheFile(t *testing.T) {
	t.Parallel()
	v := browsertest.NewVisitor(t)
	dir := t.TempDir()
	inDir := func(name string) string { return filepath.Join(dir, name) }
	// save replaces a file at once. The page would lose its scroll position if it showed a half-written document.
	save := func(name, text string) {
		if err := os.WriteFile(inDir(name+".new"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}

		if err := os.Rename(inDir(name+".new"), inDir(name)); err != nil {
			t.Fatal(err)
		}
	}
	body := strings.Repeat("Some words that fill a line, and then another one.\n\n", 400)
	save("report.md", "---\ntitle: The report\npage_size: A5\n---\n\n# First version\n\n"+body+
		"<script>parent.ran=1</script><img src=x onerror=\"parent.ran=1\">\n\nThe last line.\n")
	public.Program(t, inDir("xdg-open"), "#!/bin/sh\necho \"$1\" >'"+inDir("opened")+"'\n")
	cmd := exec.Command(e2e.Binary(t), "md2pdf", "report.md", "--live")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir, "PATH="+dir+":"+os.Getenv("PATH"))

	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}

	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	lines := bufio.NewScanner(stderr)
	awaitLine := func(prefix string) string {
		for lines.Scan() {
			if rest, ok := strings.CutPrefix(lines.Text(), prefix); ok {
				return rest
			}
		}
		t.Fatalf("stderr has ended, want a line that begins with %q", prefix)

		return ""
	}
	address := awaitLine("live page: ")
	wait.Until(t, "the browser is opened", func() bool {
		opened, _ := os.ReadFile(inDir("opened"))
		return strings.TrimSpace(string(opened)) == address
	})
	awaitLine("watching")

	p := v.Open(address, 1000, 700, false)
	// The preview blocks the script, and the stopped server refuses connections.
	p.Allow = []string{"Blocked script execution in", "ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING"}
	waitForPreview(p, "First version")
	p.Until("the window has the title of the document", `() => document.title === "The report"`)
	p.Until(
		"the page has sheets and the fonts of the print",
		`() => `+page+`.body.getBoundingClientRect().height > 5000 &&
		[...`+page+`.fonts].some(f => f.status === "loaded") && `+page+`.fonts.status === "loaded"`,
	)

	checkNoScriptRan(t, p)
	const scrollPosition = page + `.documentElement.scrollTop`
	p.Until(
		"the page can be scrolled",
		`() => { document.querySelector("iframe.sheet").contentWindow.scrollTo(0, 3000); return `+scrollPosition+` > 0 }`,
	)
	at := p.Eval(`() => String(` + scrollPosition + `)`)

	save("report.md", "---\ntitle: The report\npage_size: A5\n---\n\n# Other version\n\n"+body+"The end.\n")
	waitForPreview(p, "Other version")
	p.Until("the scroll position is the same", `at => String(`+scrollPosition+`) === at`, at)
	save("report.md", "---\ntoc: [\n---\n\n# Broken\n")
	p.Until("the error is shown", `() => document.getElementById("notice").innerText.includes("front matter")`)
	waitForPreview(p, "Other version")

	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	p.Until("the end of the program is shown",
		`() => document.getElementById("notice").innerText.includes("has ended")`)

	if cmd.Wait(); cmd.ProcessState.ExitCode() != 130 {
		t.Errorf("md2pdf: %s, want exit status 130", cmd.ProcessState)
	}

	if pdf, err := os.ReadFile(inDir("report.pdf")); err != nil || !strings.HasPrefix(string(pdf), "%PDF-") {
		t.Errorf("PDF %.10q, %v; want %%PDF-", pdf, err)
	}
}
