package chromium_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"presswork/internal/chromium"
	"presswork/internal/chromium/printable"
)

// page returns a page with HTML in its body.
func page(body string) printable.Page {
	return printable.Page{HTML: "<!doctype html><html lang=en><title>T</title><body>" + body}
}

// mustPrint prints a page and expects it to succeed.
func mustPrint(t testing.TB, b *chromium.Browser, p printable.Page) []byte {
	t.Helper()

	out, err := b.Print(t.Context(), p)
	if err != nil {
		t.Fatalf("Print: %v", err)
	}

	return out
}

// text returns the text of a PDF with folded white space.
func text(t testing.TB, file []byte) string {
	t.Helper()
	return strings.Join(strings.Fields(runTool(t, file, "pdftotext", "-", "-")), " ")
}

// info returns a field of pdfinfo.
func info(t testing.TB, file []byte, key string) string {
	t.Helper()

	path := filepath.Join(t.TempDir(), "x.pdf")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}

	for line := range strings.Lines(runTool(t, nil, "pdfinfo", path)) {
		if v, ok := strings.CutPrefix(line, key+":"); ok {
			return strings.TrimSpace(v)
		}
	}
	t.Fatalf("pdfinfo has no field %s", key)

	return ""
}

// runTool runs a program of poppler and returns its output.
func runTool(t testing.TB, stdin []byte, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Stdin = bytes.NewReader(stdin)

	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v (`make setup` installs poppler-utils)", name, err)
	}

	return string(out)
}

// proc is one process of a browser whose profile is below a directory.
type proc struct {
	pid, group int
	cmdline    string
}

// kind returns the --type of a process, "browser" for the main one, or "fork".
func (p proc) kind() string {
	_, rest, ok := strings.Cut(p.cmdline, "--type=")
	switch {
	case !ok && p.pid != p.group:
		return "fork" // a copy of the browser that has not yet started another program
	case !ok:
		return "browser"
	}
	kind, _, _ := strings.Cut(rest, "\x00")
	kind, _, _ = strings.Cut(kind, " ")

	return kind
}

// processes returns the running browser processes with a profile below dir, and all processes of their groups.
func processes(t testing.TB, dir string) []proc {
	t.Helper()
	var all, found []proc
	groups := map[int]bool{}

	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}

	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err1 := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))

		cmdline, err2 := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err1 != nil || err2 != nil {
			continue
		}
		f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))

		group, _ := strconv.Atoi(f[2])
		if f[0] == "Z" {
			continue
		}

		all = append(all, proc{pid, group, string(cmdline)})
		if strings.Contains(string(cmdline), dir) {
			groups[group] = true
		}
	}

	for _, p := range all {
		if groups[p.group] {
			found = append(found, p)
		}
	}

	return found
}
