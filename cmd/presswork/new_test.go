package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"presswork/cmd/presswork/command"
	"presswork/internal/document/metadata"
)

func TestANewDocumentConvertsAndOverwritesNothing(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := &command.Program{Stdout: &out}

	name := filepath.Join(t.TempDir(), "annual-report.md")
	if err := writeSample(p, name, time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}

	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}

	matter, err := metadata.Read(text)
	if err != nil || len(matter.Warnings) > 0 || matter.Options.Title != "Annual report" || matter.Theme != "nord" ||
		strings.Contains(string(text), "{{") {
		t.Errorf("front matter %+v, %v", matter, err)
	}

	for _, wrong := range []string{name, filepath.Join(filepath.Dir(name), "report.txt")} {
		err := writeSample(p, wrong, time.Now())
		if exitStatus(err) != exitUsage {
			t.Errorf("%s: %v", wrong, err)
		}
	}

	if again, _ := os.ReadFile(name); !bytes.Equal(again, text) {
		t.Error("the document was overwritten")
	}

	for file, want := range map[string]string{"a_b.md": "A b", "---.md": "Document", "über\n#x.md": "Über x", ".md": "Document"} {
		t.Run(file, func(t *testing.T) {
			if got := titleFrom(file); got != want {
				t.Errorf("%q: %q, want %q", file, got, want)
			}
		})
	}
}
