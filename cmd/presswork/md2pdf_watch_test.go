package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presswork/internal/test/wait"
)

func TestMD2PDFWatchConvertsChangedFiles(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, map[string]string{
		"a.md":           "# First",
		"b.md":           "# Other",
		"extra.css":      "",
		"themes/own.css": ":root{--primary:#123456;--base-100:#ffffff;--base-content:#000000}",
	})
	path := func(name string) string { return filepath.Join(dir, name) }
	// Write the file in one step: a watcher could see an empty file as a change of its own.
	write := func(name, text string) {
		t.Helper()

		err := errors.Join(os.WriteFile(path("new"), []byte(text), 0o644), os.Rename(path("new"), path(name)))
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var stderr syncBuffer

	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"md2pdf", "--html", "--watch", "--css", path("extra.css"), "--themes-dir", path("themes"), "-t", "own", path("a.md"), path("b.md")},
			func(string) string { return "" }, &stderr, &stderr)
	}()
	// round waits until round n has ended.
	round := func(n int) {
		t.Helper()
		wait.Until(t, fmt.Sprintf("round %d", n),
			func() bool { return strings.Count(stderr.String(), "watching") == n })
	}
	round(1)
	write("a.md", "# Second")
	round(2)

	if page := readFile(t, path("a.html")); !strings.Contains(page, "Second</h1>") {
		t.Error("a change of the document is not in the result")
	}

	if n := strings.Count(stderr.String(), path("b.html")); n != 1 {
		t.Errorf("the unchanged document was converted %d times", n)
	}
	write("extra.css", "h1{letter-spacing:3px}")
	round(3)
	write("themes/own.css", ":root{--primary:#654321;--base-100:#ffffff;--base-content:#000000}")
	round(4)

	for _, name := range []string{"a.html", "b.html"} {
		page := readFile(t, path(name))
		if !strings.Contains(page, "letter-spacing:3px") || !strings.Contains(page, "#654321") {
			t.Errorf("%s lacks the changed stylesheet or theme", name)
		}
	}
	write("a.md", "")
	round(5)

	if !strings.Contains(stderr.String(), "a.md: the content is empty") ||
		!strings.Contains(readFile(t, path("a.html")), "Second</h1>") {
		t.Errorf("a failure ends the watch, or the last result is gone: %s", stderr.String())
	}
	write("a.md", "# Third")
	round(6)

	if !strings.Contains(readFile(t, path("a.html")), "Third</h1>") {
		t.Error("the corrected document was not converted")
	}
	cancel()

	if got := <-code; got != exitInterrupted {
		t.Errorf("exit status %d", got)
	}
}

func TestMD2PDFOpensTheResult(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"a.md":         "# A",
		"bin/xdg-open": "#!/bin/sh\necho \"$1\" > \"$0.new\"\nmv \"$0.new\" \"$0.said\"\n",
	})
	if err := os.Chmod(filepath.Join(dir, "bin/xdg-open"), 0o755); err != nil {
		t.Fatal(err)
	}

	if err := os.Link(filepath.Join(dir, "bin/xdg-open"), filepath.Join(dir, "bin/open")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))

	runCommand(t, "md2pdf", "--html", "--open", filepath.Join(dir, "a.md")).checkOK(t)
	wait.Until(t, "the viewer was called", func() bool {
		calls, _ := filepath.Glob(filepath.Join(dir, "bin/*.said"))
		return len(calls) == 1 && readFile(t, calls[0]) == filepath.Join(dir, "a.html")+"\n"
	})
}
