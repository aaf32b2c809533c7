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
	c := startConverter(t, local.Options{})
	dir := writeFiles(t, map[string]string{"a.md": twoDiagrams})
	path := filepath.Join(dir, "a.pdf")

	out, err := c.Convert(t.Context(), local.Input{
		Path: filepath.Join(dir, "a.md"), Output: path,
		Options: presswork.Options{Lang: "en", PDFUA: new(true)},
	}) // PDF/UA needs an alternative text for each figure
	if err != nil {
		t.Fatal(err)
	}

	if len(out.Warnings) != 1 || out.Warnings[0].Code != fault.DiagramFailed || out.Warnings[0].Line != 11 {
		t.Errorf("got warnings %+v, want one in line 11", out.Warnings)
	}

	text, err := exec.CommandContext(t.Context(), "pdftotext", path, "-").Output()
	if err != nil {
		t.Fatal(err)
	}

	for _, want := range []string{"Anna writes", "Berta reads", "c[open --> d"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the text of the PDF is\n%s\nwant %q in it", text, want)
		}
	}

	if strings.Contains(string(text), "a[Anna") {
		t.Errorf("the source of the first diagram is printed:\n%s", text)
	}

	structure, err := exec.CommandContext(t.Context(), "pdfinfo", "-struct", path).Output()
	if err != nil || strings.Count(string(structure), "Figure") != 1 {
		t.Errorf("got structure (%v)\n%s\nwant one figure", err, structure)
	}
}

// HTML output needs the browser only for the diagrams. Without one, they stay as source with warnings.
func TestHTMLOutputHasItsDiagramsDrawn(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("needs Chromium; `make test` runs this test")
	}

	dir := writeFiles(t, map[string]string{"a.md": twoDiagrams})
	for _, browser := range []string{"", filepath.Join(dir, "nothing")} {
		c := startConverter(t, local.Options{Output: presswork.HTML, Browser: browser})

		out, err := c.Convert(t.Context(),
			local.Input{Path: filepath.Join(dir, "a.md"), Output: filepath.Join(dir, "a.html")})
		if err != nil {
			t.Fatal(err)
		}

		drawn := strings.Contains(readFile(t, filepath.Join(dir, "a.html")), `aria-label="Diagram: flow chart"`)
		if drawn != (browser == "") || len(out.Warnings) != map[bool]int{true: 1, false: 2}[drawn] {
			t.Errorf("browser %q: drawn %v with warnings %+v; want it drawn only by the default browser", browser,
				drawn, out.Warnings)
		}
	}
}
