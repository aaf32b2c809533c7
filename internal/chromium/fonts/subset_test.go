package fonts_test

import (
	"testing"

	"presswork/internal/chromium/fonts"
)

// Tests in internal/document load the subsets in a browser. This one checks only sizes.
func TestSubsetsAreSmallAndDeterministic(t *testing.T) {
	t.Parallel()
	letters := []rune("Hamburgefonstiv äöü (1234) “”")

	for _, f := range fonts.Families() {
		for _, face := range fonts.FacesOf(f.Name)[:1] {
			data, ok := fonts.Face(face.File)
			if !ok {
				t.Fatalf("face %s does not exist", face.File)
			}

			small, err := fonts.Subset(data, letters)
			if err != nil {
				t.Fatalf("%s: %v", face.File, err)
			}

			// Fonts of symbols have few of the letters.
			if f.Kind == fonts.Symbols && len(small) < 2_000 {
				continue
			}

			if len(small) < 2_000 || len(small) > 40_000 {
				t.Errorf("%s: subset of %d bytes from %d, want 2 to 40 kB", face.File, len(small), len(data))
			}

			again, err := fonts.Subset(data, letters)
			if err != nil || string(again) != string(small) {
				t.Errorf("%s: two subsets differ (%v)", face.File, err)
			}
		}
	}

	if none, err := fonts.Subset(face(t, "Orbitron-Bold.ttf"), []rune("漢字")); err != nil || none != nil {
		t.Errorf("characters that the face does not have: got %d bytes, %v; want no subset", len(none), err)
	}
}

// face returns an embedded font file.
func face(t *testing.T, name string) []byte {
	t.Helper()

	data, ok := fonts.Face(name)
	if !ok {
		t.Fatalf("face %s does not exist", name)
	}

	return data
}
