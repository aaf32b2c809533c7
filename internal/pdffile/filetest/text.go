package filetest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Latin returns a map from glyph codes to ASCII letters.
func Latin() map[int]string {
	texts := map[int]string{}
	for c := ' '; c <= '~'; c++ {
		texts[int(c)] = string(c)
	}

	return texts
}

// Show returns the operation that shows text in a font with the map Latin.
func Show(text string) string {
	var b strings.Builder
	for _, c := range text {
		fmt.Fprintf(&b, "%04X", c)
	}

	return "<" + b.String() + "> Tj\n"
}

// Poppler runs one of poppler's tools on a file and returns its standard output. It fails the test if the tool
// reports a problem.
func Poppler(t testing.TB, data []byte, tool string, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.pdf")

	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}

	var stderr strings.Builder

	cmd := exec.CommandContext(t.Context(), tool, append(args, path)...)
	if tool == "pdftotext" {
		cmd.Args = append(cmd.Args, "-")
	}
	cmd.Stderr = &stderr

	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("%s: %v: %s", tool, err, &stderr)
	}

	return string(out)
}

// CheckInfo fails the test for each field of pdfinfo's output that differs from want. "" means that the field must
// be absent.
func CheckInfo(t testing.TB, info string, want map[string]string) {
	t.Helper()

	for name, value := range want {
		m := regexp.MustCompile(`(?m)^` + name + `: +(.*)$`).FindStringSubmatch(info)
		if m == nil && value != "" || m != nil && m[1] != value {
			t.Errorf("pdfinfo has %s %q, want %q", name, m, value)
		}
	}
}
