// Package golden compares output with a checked-in file. `make golden` rewrites the files.
package golden

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Check fails the test unless got equals the file testdata/name. With PRESSWORK_UPDATE=1 it writes the file instead.
func Check(t *testing.T, name string, got []byte) {
	t.Helper()

	path := filepath.Join("testdata", name)
	if os.Getenv("PRESSWORK_UPDATE") == "1" {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}

		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}

	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (`make golden` writes it)", err)
	}

	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (-want +got; `make golden` accepts it):\n%s", path, cmp.Diff(string(want), string(got)))
	}
}
