package fonts_test

import (
	"bytes"
	"regexp"
	"testing"

	"presswork/internal/chromium/fonts"
)

func TestServedFilesExistAndAreSmallForCommonTexts(t *testing.T) {
	t.Parallel()
	served := fonts.Serve()

	names := regexp.MustCompile(`url\(([^)]+)\)`).FindAllStringSubmatch(served.Stylesheet, -1)
	for _, name := range names {
		file, ok := served.File(name[1])
		if !ok || !bytes.HasPrefix(file, []byte("wOF2")) {
			t.Errorf("%s is served: %v, with %d bytes; want a WOFF2 file", name[1], ok, len(file))
		}

		if common := regexp.MustCompile(`\.common\.`).MatchString(name[1]); common && len(file) > 100_000 {
			t.Errorf("%s has %d bytes, want at most 100 kB", name[1], len(file))
		}
	}

	if len(names) < 100 {
		t.Errorf("the stylesheet names %d files, want at least 100", len(names))
	}

	// Browsers cache files forever, so their names have a digest.
	if _, ok := served.File("Inter-Regular.ttf"); ok {
		t.Error("Inter-Regular.ttf is served, want only names with a digest")
	}
}
