package fonts_test

import (
	"testing"

	"presswork/internal/chromium/fonts"
)

// TestASubsetIsSmallInEveryFamily looks at sizes; browsers load the faces in
// internal/document.
func TestASubsetIsSmallInEveryFamily(t *testing.T) {
	t.Parallel()
	letters := []rune("Hamburgefonstiv äöü (1234) “”")

	for _, f := range fonts.Families() {
		for _, face := range fonts.FacesOf(f.Name)[:1] {
			data, ok := fonts.Face(face.File)
			if !ok {
				t.Fatalf("%s is not there", face.File)
			}

			small, err := fonts.Subset(data, letters)
			if err != nil {
				t.Fatalf("%s: %v", face.File, err)
			}

			if f.Kind == fonts.Symbols && len(small) < 2_000 {
				continue
			}

			if len(small) < 2_000 || len(small) > 40_000 {
				t.Errorf("%s: %d bytes of %d", face.File, len(small), len(data))
			}

			again, err := fonts.Subset(data, letters)
			if err != nil || string(again) != string(small) {
				t.Errorf("%s: not the same twice (%v)", face.File, err)
			}
		}
	}

	if none, err := fonts.Subset(face(t, "Orbitron-Bold.ttf"), []rune("漢字")); err != nil || none != nil {
		t.Errorf("%d bytes and %v for characters that the face has not", len(none), err)
	}
}

func face(t *testing.T, name string) []byte {
	t.Helper()

	data, ok := fonts.Face(name)
	if !ok {
		t.Fatalf("%s is not there", name)
	}

	return data
}
