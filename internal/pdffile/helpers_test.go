package pdffile

import (
	"testing"
)

// read reads a file in the form that Skia writes.
func read(t testing.TB, data []byte) *File {
	t.Helper()

	f, err := Read(data)
	if err != nil {
		t.Fatal(err)
	}

	return f
}
