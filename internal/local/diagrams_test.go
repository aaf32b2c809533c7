package local_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/local"
)

const twoDiagrams = "# One\n\n```mermaid\nflowchart LR\n  a[Anna writes] --> b[Berta reads]\n```\n\n```mermaid\nflowchart LR\n  a --> b\n  c[open --> d\n```\n"

func TestDiagramsAreDrawn(t *testing.T) {
	t.Parallel()
	c := start(t, local.Options{})
	dir := files(t, map[string]string{"a.md": twoDiagrams})
	path := filepath.Join(dir, "a.pdf")

	out, err := c.Convert(t.Context(), local.Input{
		Path: filepath.Join(dir, "a.md"), Output: path,
		Options: presswork.Options{Lang: "en", PDFUA: new(true)},
	}) // which wants a text for every figure
	if err != nil {
		t.Fatal(err)
	}

	if len(out.Warnings) != 1 || out.Warnings[0].Code != fault.DiagramFailed || out.Warnings[0].Line != 11 {
		t.Errorf("warnings %+v, want one of line 11", out.Warnings)
	}

	text, err := exec.CommandContext(t.Context(), "pdftotext", path, "-").Output()
	if err != nil {
		t.Fatal(err)
	}

	for _, want := range []string{"Anna writes", "Berta reads", "c[open --> d"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the PDF does not show %q:\n%s", want, text)
		}
	}

	if strings.Contains(string(text), "a[Anna") {
		t.Errorf("the source of the first diagram is printed:\n%s", text)
	}

	structure, err := exec.CommandContext(t.Context(), "pdfinfo", "-struct", path).Output()
	if err != nil || strings.Count(string(structure), "Figure") != 1 {
		t.Errorf("want one figure: %v\n%s", err, structure)
	}
}

// A page that is not printed has its browser launched for its diagrams alone.
func TestDiagramsOfAPageAreDrawn(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("needs Chromium; `make test` runs this test")
	}

	dir := files(t, map[string]string{"a.md": twoDiagrams})
	for _, browser := range []string{"", filepath.Join(dir, "nothing")} {
		c := start(t, local.Options{Output: presswork.HTML, Browser: browser})

		out, err := c.Convert(t.Context(),
			local.Input{Path: filepath.Join(dir, "a.md"), Output: filepath.Join(dir, "a.html")})
		if err != nil {
			t.Fatal(err)
		}

		drawn := strings.Contains(readFile(t, filepath.Join(dir, "a.html")), `aria-label="Diagram: flow chart"`)
		if drawn != (browser == "") || len(out.Warnings) != map[bool]int{true: 1, false: 2}[drawn] {
			t.Errorf("browser %q: drawn %v, warnings %+v", browser, drawn, out.Warnings)
		}
	}
}
