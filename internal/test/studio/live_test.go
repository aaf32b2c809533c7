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

// TestTheLivePageFollowsTheFile writes a document under `md2pdf --live`.
func TestTheLivePageFollowsTheFile(t *testing.T) {
	t.Parallel()
	v := browsertest.NewVisitor(t)
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	// At once: half a document that was followed would lose the place in the page.
	save := func(name, text string) {
		if err := os.WriteFile(in(name+".new"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}

		if err := os.Rename(in(name+".new"), in(name)); err != nil {
			t.Fatal(err)
		}
	}
	body := strings.Repeat("Some words that fill a line, and then another one.\n\n", 400)
	save(
		"report.md",
		"---\ntitle: The report\npage_size: A5\n---\n\n# First version\n\n"+body+"<script>parent.ran=1</script><img src=x onerror=\"parent.ran=1\">\n\nThe last line.\n",
	)
	public.Program(t, in("xdg-open"), "#!/bin/sh\necho \"$1\" >'"+in("opened")+"'\n")
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
	said := func(begin string) string {
		for lines.Scan() {
			if rest, ok := strings.CutPrefix(lines.Text(), begin); ok {
				return rest
			}
		}
		t.Fatalf("it never says %q", begin)

		return ""
	}
	address := said("live page: ")
	wait.Until(t, "the browser is opened", func() bool {
		opened, _ := os.ReadFile(in("opened"))
		return strings.TrimSpace(string(opened)) == address
	})
	said("watching")

	p := v.Open(address, 1000, 700, false)
	// The first message is expected; the second says that no server serves x.
	p.Allow = []string{"Blocked script execution in", "ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING"}
	shows(p, "First version")
	p.Until("the window has its name", `() => document.title === "The report"`)
	p.Until(
		"it is set on sheets, in the fonts of the print",
		`() => `+page+`.body.getBoundingClientRect().height > 5000 &&
		[...`+page+`.fonts].some(f => f.status === "loaded") && `+page+`.fonts.status === "loaded"`,
	)

	if p.Eval(`() => String(window.ran)`) != "undefined" {
		t.Error("a script of the document ran")
	}
	const place = `document.querySelector("iframe.sheet").contentDocument.documentElement.scrollTop`
	p.Until(
		"the page can be scrolled",
		`() => { document.querySelector("iframe.sheet").contentWindow.scrollTo(0, 3000); return `+place+` > 0 }`,
	)
	at := p.Eval(`() => String(` + place + `)`)

	save("report.md", "---\ntitle: The report\npage_size: A5\n---\n\n# Other version\n\n"+body+"The end.\n")
	shows(p, "Other version")
	p.Until("the page is where it was", `at => String(`+place+`) === at`, at)
	save("report.md", "---\ntoc: [\n---\n\n# Broken\n")
	p.Until("what is wrong is said", `() => document.getElementById("notice").innerText.includes("front matter")`)
	shows(p, "Other version")

	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	p.Until("the end is told", `() => document.getElementById("notice").innerText.includes("has ended")`)

	if cmd.Wait(); cmd.ProcessState.ExitCode() != 130 {
		t.Errorf("it ends with %s", cmd.ProcessState)
	}

	if pdf, err := os.ReadFile(in("report.pdf")); err != nil || !strings.HasPrefix(string(pdf), "%PDF-") {
		t.Errorf("the PDF is %.10q, %v", pdf, err)
	}
}
