package local_test

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/local"
)

// htmlOf converts a file to HTML and returns it.
func htmlOf(t *testing.T, dir, name string) (page string, warnings []fault.Warning, err error) {
	t.Helper()
	c := startConverter(t, local.Options{Output: presswork.HTML})
	to := filepath.Join(dir, "out.html")

	out, err := c.Convert(t.Context(), local.Input{Path: filepath.Join(dir, name), Output: to})
	if err != nil {
		return "", out.Warnings, err
	}

	return readFile(t, to), out.Warnings, nil
}

func TestAnHTMLDocumentIsSanitisedAndConfined(t *testing.T) {
	t.Parallel()
	above := writeFiles(t, map[string]string{"secret.png": pngPicture(t)})
	dir := filepath.Join(above, "doc")
	source := `<html lang="de"><title>Gezeiten</title><script>alert("x")</script><body onload="y()">
<h1>Gezeiten</h1><h2 id="ebbe">Ebbe &amp; Flut</h2><p onclick="z()">Eins <a href="javascript:q()">zwei</a></p>
<img src="a.png" alt="A"><img src="../secret.png" alt="B"><iframe src="https://example.com"></iframe></html>`

	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}

	for name, data := range map[string]string{"a.HTM": source, "a.png": pngPicture(t)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	page, warnings, err := htmlOf(t, dir, "a.HTM")
	if err != nil {
		t.Fatal(err)
	}

	_, body, _ := strings.Cut(page, "<body")
	for _, want := range []string{`<h2 id="ebbe">Ebbe &amp; Flut</h2>`, "data:image/png;base64,", "Eins"} {
		if !strings.Contains(body, want) {
			t.Errorf("got %s, want %q in it", body, want)
		}
	}

	for _, bad := range []string{"alert", "onload", "onclick", "javascript:", "iframe"} {
		if strings.Contains(body, bad) {
			t.Errorf("got %s, want it without %q", body, bad)
		}
	}

	if strings.Count(body, "<h1") != 1 || !strings.Contains(page, `lang="de"`) ||
		!strings.Contains(page, "<title>Gezeiten</title>") {
		t.Errorf("got %s, want one heading, the language and the title", page)
	}

	if len(warnings) != 1 || warnings[0].Code != fault.ImageFailed {
		t.Errorf("got warnings %v, want one of the image above the folder", warnings)
	}
}

func TestDeeplyNestedHTMLIsRejected(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, map[string]string{"a.html": strings.Repeat("<div>", 1000)})

	_, _, err := htmlOf(t, dir, "a.html")
	if fault.CodeOf(err) != fault.InvalidRequest || !strings.Contains(err.Error(), "512 levels") {
		t.Errorf("got %v, want the limit of levels", err)
	}
}

// wordArchive returns a Word file whose document has this size in bytes.
func wordArchive(t *testing.T, size int) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)

	w, err := z.Create("word/document.xml")
	if err != nil {
		t.Fatal(err)
	}

	if _, err := w.Write(make([]byte, size)); err != nil {
		t.Fatal(err)
	}

	if err := z.Close(); err != nil {
		t.Fatal(err)
	}

	return b.String()
}

// A script takes the place of pandoc, which the tests do not install.
func TestWordDocumentsAreReadByPandoc(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"a.docx":    wordArchive(t, 10),
		"b.docx":    "no archive",
		"bomb.docx": wordArchive(t, 300<<20),
		"pic":       pngPicture(t),
	})
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	t.Setenv("TMPDIR", filepath.Join(dir))

	for name, want := range map[string]string{
		"a.docx":    "install pandoc",
		"b.docx":    "not a Word document",
		"bomb.docx": "larger than 256 MB",
		"none.docx": "no such file",
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := htmlOf(t, dir, name); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
	script := "#!/bin/sh\n[ \"$1\" = --sandbox ] || exit 1\n/bin/mkdir media\n/bin/cp '" + filepath.Join(dir, "pic") +
		"' media/a.png\nprintf -- '---\\ntitle: Word\\n---\\n\\n# Read\\n\\n![a](./media/a.png)\\n' > document.md\n"

	if err := os.WriteFile(filepath.Join(bin, "pandoc"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}

	page, warnings, err := htmlOf(t, dir, "a.docx")
	if err != nil || !strings.Contains(page, ">Read</h1>") || !strings.Contains(page, "data:image/png;base64,") ||
		len(warnings) > 0 {
		t.Errorf("got %v, %v, %.200s; want the document with its picture and no warnings", err, warnings, page)
	}

	if list := listFolder(t, dir); strings.Contains(strings.Join(list, " "), "presswork-word") {
		t.Errorf("got %v, want no temporary folders", list)
	}
	script = "#!/bin/sh\necho 'the file is odd'\nexit 3\n"

	if err := os.WriteFile(filepath.Join(bin, "pandoc"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}

	if _, _, err := htmlOf(t, dir, "a.docx"); err == nil || !strings.Contains(err.Error(), "the file is odd") {
		t.Errorf("a failure of pandoc: got %v, want its message", err)
	}
}
