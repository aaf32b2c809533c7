package storagetest_test

import (
	"os"
	"strings"
	"testing"

	"presswork/storage/storagetest"
)

func TestMakefileUsesTheMinIOVersionOfTheTests(t *testing.T) {
	t.Parallel()

	b, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}

	if want := "MINIO_VERSION := " + storagetest.MinIOVersion + "\n"; !strings.Contains(string(b), want) {
		t.Errorf("the Makefile lacks the line %q", want)
	}
}
