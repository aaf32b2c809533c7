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
			t.Errorf("%s: %v, %d bytes", name[1], ok, len(file))
		}

		if common := regexp.MustCompile(`\.common\.`).MatchString(name[1]); common && len(file) > 100_000 {
			t.Errorf("%s has %d bytes", name[1], len(file))
		}
	}

	if _, ok := served.File("Inter-Regular.ttf"); ok || len(names) < 100 {
		t.Errorf("%d files; one is found without its digest: %v", len(names), ok)
	}
}
