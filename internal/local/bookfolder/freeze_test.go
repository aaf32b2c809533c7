package bookfolder_test

import (
	"fmt"
	"testing"

	"presswork/internal/local/bookfolder"
)

func TestStoredOutputsAreThoseOfTheirChapter(t *testing.T) {
	t.Parallel()

	files := bookfolder.StoredFiles("text/one.qmd")
	if len(files) == 0 || files[0] != "_freeze/text/one/execute-results/html.json" {
		t.Errorf("the files are %v", files)
	}

	if files := bookfolder.StoredFiles("one.ipynb"); files != nil {
		t.Errorf("a notebook has its own outputs, but also %v", files)
	}

	file, ok := bookfolder.StoredPicture("text/one.qmd", "one_files/figure-html/a.png")
	if !ok || file != "/_freeze/text/one/figure-html/a.png" {
		t.Errorf("the picture is %s, %v", file, ok)
	}

	if _, ok := bookfolder.StoredPicture("text/one.qmd", "img/a.png"); ok {
		t.Error("another picture is taken for a stored one")
	}

	for source, stale := range map[string]bool{"a\nb\n": false, "a\r\nb\r\n": false, "a\nc\n": true} {
		t.Run(fmt.Sprintf("%q", source), func(t *testing.T) {
			// md5 of "a\nb\n"
			file := []byte(`{"hash":"dd8c6a395b5dd36c56d23275028f526c","result":{"markdown":"# A"}}`)

			got, err := bookfolder.ReadStored(file, []byte(source))
			if err != nil || string(got.Markdown) != "# A" || got.Stale != stale {
				t.Errorf("got %+v, %v; want markdown # A, stale: %v", got, err, stale)
			}
		})
	}

	if _, err := bookfolder.ReadStored([]byte("<<<<"), nil); err == nil {
		t.Error("a broken file is read")
	}
}
