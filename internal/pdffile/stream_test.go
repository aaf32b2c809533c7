package pdffile

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"presswork/internal/pdffile/filetest"
)

func TestDamagedStreamsAreErrors(t *testing.T) {
	t.Parallel()
	packed := string(filetest.Deflate([]byte(strings.Repeat("BT\nET\n", 1000))))
	flipped := []byte(packed)

	flipped[len(flipped)-1] ^= 1
	for name, content := range map[string]string{
		"nothing":                    "",
		"no header":                  "BT\nET\n",
		"cut off":                    packed[:len(packed)/2],
		"without its checksum":       packed[:len(packed)-4],
		"a wrong checksum":           string(flipped),
		"a block of an unknown type": packed[:2] + "\xff" + packed[3:],
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := &File{
				Objects: [][]byte{
					nil,
					fmt.Appendf(nil, "<</Filter /FlateDecode>> stream\n%s\nendstream", content),
					fmt.Appendf(nil, "<</Filter /FlateDecode>> stream\n%s\nendstream", packed),
				},
			}
			for range 2 { // the second call reuses the reader of the first
				if _, got, err := f.Stream(1); err == nil {
					t.Errorf("the damaged stream: got %.50q, want an error", got)
				}

				if _, got, err := f.Stream(2); err != nil || len(got) != 6000 {
					t.Errorf("the intact stream after it: got %d bytes, %v; want 6000", len(got), err)
				}
			}
		})
	}
}

// The test needs 500 MB, so it does not run in parallel.
func TestStreamsAreUnpackedUpToALimit(t *testing.T) {
	f := &File{}
	chunk := make([]byte, 1<<20)
	bomb := f.Deflate(slices.Repeat([][]byte{chunk}, maxContent/len(chunk)+1)...)

	defer debug.FreeOSMemory()

	if out, err := f.inflate(bomb); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("got %d bytes, %v; want too large", len(out), err)
	}
}
