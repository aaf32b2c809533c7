package studio_test

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-rod/rod/lib/proto"

	"presswork/internal/test/browsertest"
)

// dropFolder drops a folder of this machine on the page.
func dropFolder(t *testing.T, p *browsertest.Visit, folder string) {
	t.Helper()

	for _, kind := range []proto.InputDispatchDragEventType{
		proto.InputDispatchDragEventTypeDragEnter,
		proto.InputDispatchDragEventTypeDragOver,
		proto.InputDispatchDragEventTypeDrop,
	} {
		event := proto.InputDispatchDragEvent{
			Type: kind, X: 300, Y: 300, Data: &proto.InputDragData{
				Items: []*proto.InputDragDataItem{}, Files: []string{folder}, DragOperationsMask: 1,
			},
		}
		if err := event.Call(p.Page); err != nil {
			t.Fatal(err)
		}
	}
}

// zipOf returns an archive of texts by their names.
func zipOf(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)

	for _, name := range slices.Sorted(maps.Keys(files)) {
		part, err := w.Create(name)
		if err == nil {
			_, err = io.WriteString(part, files[name])
		}

		if err != nil {
			t.Fatal(err)
		}
	}

	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	return b.Bytes()
}

// picture returns a PNG of one pixel.
func picture(t *testing.T) []byte {
	t.Helper()

	data, err := base64.StdEncoding.DecodeString(
		"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==")
	if err != nil {
		t.Fatal(err)
	}

	return data
}

// checkImportedFolder opens the documents of a folder. A chapter uses a picture of another subfolder.
func checkImportedFolder(t *testing.T, h *shared) {
	_, p, c := h.open(t)
	folder := t.TempDir()

	for name, text := range map[string]string{
		"README.md":             "# Start\n",
		"chapters/one.md":       "# Chapter\n\n![dot](../img/my%20dot.png)\n\nEnd.\n",
		"img/my dot.png":        string(picture(t)),
		"img/other.png":         string(picture(t)),
		"tool.exe":              "MZ",
		"latin.md":              "\xe9t\xe9",
		".git/objects/notes.md": "# Hidden\n",
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}

		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dropFolder(t, p, folder)
	p.Reads("dialog .hint", "2 documents with 1 file.")
	// The page shows a list of fewer than four files.
	p.Reads("dialog .left-out", "latin.md is not UTF-8", "img/other.png: no document uses it",
		"tool.exe: it is neither Markdown nor a picture")
	p.Click("Open 2 documents")
	p.Reads(".notice.info", "2 files are open as documents of their own", "The quiet craft of printing is kept")
	p.Click("Documents")
	p.Click("chapters/one")
	p.Reads(".cm-content", "![dot](img/my%20dot.png)")
	p.Until("the picture is on the page", `() => [...`+page+`.images].some(i => i.naturalWidth === 1)`)
	convert(p)
	checkLastJobHasNoWarnings(t, p, c)
	p.Click("Undo")
	p.Reads(".cm-content", "quiet craft")
}

// checkImportedArchive opens the documents of an archive. It leaves out files whose names lead out of the archive.
func checkImportedArchive(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	var rows strings.Builder // more than 1 MB, and less than 32 KB in the archive

	for i := range 3000 {
		fmt.Fprintf(&rows, "%d,%s\n", i, strings.Repeat("x", 400))
	}
	drop(p, file{Name: "book.zip", Data: zipOf(t, map[string]string{
		"book/one.md":                "# One\n\n![a dot](img/dot.png)\n",
		`book\one.md`:                "# The same name\n",
		"book/img/dot.png":           string(picture(t)),
		"book/../../evil.md":         "# Evil\n",
		"/etc/evil.md":               "# Evil\n",
		`C:\evil.md`:                 "# Evil\n",
		"__MACOSX/book/._one.md":     "resource fork",
		"book/.DS_Store":             "folder",
		"book/inner.zip":             "PK",
		"book/two words/näive.md":    "# Two\n",
		"book/two words/refs.bib":    "@book{a, title={A}}\n",
		"book/two words/unused.jpeg": string(picture(t)),
		"book/dot.png":               string(picture(t)),
		"book/parts/dot.png":         string(picture(t)),
		"book/parts/three.md":        "# Three\n\n![above](../dot.png) ![own](dot.png)\n",
		"book/rows.csv":              rows.String(),
	})})
	p.Reads("dialog .hint", "3 documents with 3 files.")
	p.Click("8 files are left out")
	p.Reads("dialog .left-out", "book/../../evil.md: the name leads out", "/etc/evil.md: the name leads out",
		"C:/evil.md: the name leads out", "book/one.md: the archive has an earlier file of this name",
		"inner.zip: it is neither", "refs.bib: no document uses it", "rows.csv: no document uses it")
	p.Click("Open 3 documents")
	p.Reads(".cm-content", "One")
	p.Until("the picture is on the page", `() => [...`+page+`.images].some(i => i.naturalWidth === 1)`)
	p.Click("Documents")
	p.Click("parts/three")
	p.Reads(".cm-content", "![above](dot-2.png) ![own](dot.png)")
}

// checkHostileArchives drops archives that the studio rejects. The open document must stay.
func checkHostileArchives(t *testing.T, h *shared) {
	many := map[string]string{}
	for i := range 2001 {
		many["n"+strings.Repeat("x", i)+".md"] = ""
	}
	bomb := zipOf(t, map[string]string{"bomb.md": strings.Repeat("\x00", 300<<20)})

	for name, row := range map[string]struct {
		data []byte
		want string // in the error
	}{
		"bomb.zip":      {bomb, "bomb.md expands to more than 200 times its size, as a zip bomb does"},
		"many.zip":      {zipOf(t, many), "has more than 2000 files"},
		"text.zip":      {[]byte("no archive"), "is not a zip archive"},
		"truncated.zip": {bomb[:20], "is not a zip archive"},
		"empty.zip":     {zipOf(t, nil), "is not a zip archive, or it is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			_, p, _ := h.open(t)
			pasteText(p, "text/plain", "# Mine\n")
			drop(p, file{Name: name, Data: row.data})
			p.Reads("dialog .notice.error", row.want)
			p.Click("Close")
			p.Reads(".cm-content", "# Mine")
			p.Click("Documents")
			p.Until("only one document is kept", `() => document.querySelectorAll("dialog li[data-id]").length === 1`)
		})
	}
}
