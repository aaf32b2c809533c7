package pdffile

import (
	"testing"
)

// read returns the file in data, which must be in Skia's form.
func read(t testing.TB, data []byte) *File {
	t.Helper()

	f, err := Read(data)
	if err != nil {
		t.Fatal(err)
	}

	return f
}
