package studio_test

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"io"
	"testing"
)

// checkDuplicateAndExport duplicates a document with a picture, deletes the original and exports the copy.
func checkDuplicateAndExport(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	pasteText(p, "text/plain", "# Mine: a/b\n\nThe end.\n")
	dropOn(p, "The end.", file{"dot.png", "image/png", picture(t)})
	p.Reads(".cm-content", "![dot](dot.png)")
	p.Click("Documents")
	p.Click("Duplicate Mine: a/b")
	p.Until("both are listed", `() => document.querySelectorAll("dialog li[data-id]").length === 2`)
	p.Click("Delete Mine: a/b")
	p.Reads(".document", "Mine: a/b (copy)")
	p.Reads(".assets", "dot.png")

	p.Eval(`() => {
		const real = URL.createObjectURL.bind(URL);
		URL.createObjectURL = blob => {
			blob.arrayBuffer().then(b => window.exported = btoa(String.fromCharCode(...new Uint8Array(b))));
			return real(blob);
		};
		HTMLAnchorElement.prototype.click = function () { window.exportedAs = this.download };
	}`)
	p.Click("Export Mine: a/b (copy) as zip")
	p.Until("the file is exported", `() => window.exported && window.exportedAs === "Mine-a-b-(copy).zip"`)

	data, err := base64.StdEncoding.DecodeString(p.Eval(`() => window.exported`))
	if err != nil {
		t.Fatal(err)
	}

	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}

	for name, want := range map[string]string{
		"Mine-a-b-(copy).md": "# Mine: a/b\n\nThe end.\n\n![dot](dot.png)\n",
		"dot.png":            string(picture(t)),
	} {
		file, err := archive.Open(name)
		if err != nil {
			t.Fatal(err)
		}

		got, err := io.ReadAll(file)
		if err != nil || string(got) != want {
			t.Errorf("%s has %q, want %q; error %v", name, got, want, err)
		}
	}
}
