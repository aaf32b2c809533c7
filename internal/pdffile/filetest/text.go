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

// Latin maps the codes of glyphs to the letters of ASCII.
func Latin() map[int]string {
	texts := map[int]string{}
	for c := ' '; c <= '~'; c++ {
		texts[int(c)] = string(c)
	}

	return texts
}

// Show returns the operation that shows a text in a font that maps Latin.
func Show(text string) string {
	var b strings.Builder
	for _, c := range text {
		fmt.Fprintf(&b, "%04X", c)
	}

	return "<" + b.String() + "> Tj\n"
}

// Poppler runs one of poppler's tools on a file and returns what the tool prints. It
// fails the test when the tool complains.
func Poppler(t testing.TB, data []byte, tool string, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.pdf")

	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}

	var complaints strings.Builder

	cmd := exec.CommandContext(t.Context(), tool, append(args, path)...)
	if tool == "pdftotext" {
		cmd.Args = append(cmd.Args, "-")
	}
	cmd.Stderr = &complaints

	out, err := cmd.Output()
	if err != nil || complaints.Len() > 0 {
		t.Fatalf("%s: %v: %s", tool, err, &complaints)
	}

	return string(out)
}

// CheckInfo compares lines of pdfinfo.
func CheckInfo(t testing.TB, info string, want map[string]string) {
	t.Helper()

	for name, value := range want {
		m := regexp.MustCompile(`(?m)^` + name + `: +(.*)$`).FindStringSubmatch(info)
		if m == nil && value != "" || m != nil && m[1] != value {
			t.Errorf("pdfinfo has %s %q, want %q", name, m, value)
		}
	}
}
