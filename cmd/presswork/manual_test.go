package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheManualHasNoFinding checks the pages that `make manual` prints, and that it prints every page of docs/.
func TestTheManualHasNoFinding(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	got := runCommand(t, "check", root)
	got.checkOK(t)
	got.checkNoOutput(t)

	order, err := os.ReadFile(filepath.Join(root, "mkdocs.yml"))
	if err != nil {
		t.Fatal(err)
	}

	for _, pattern := range []string{"*.md", "tutorials/*.md"} {
		pages, err := filepath.Glob(filepath.Join(root, "docs", pattern))
		if err != nil {
			t.Fatal(err)
		}

		for _, page := range pages {
			name, _ := filepath.Rel(filepath.Join(root, "docs"), page)
			if !strings.Contains(string(order), "- "+filepath.ToSlash(name)+"\n") {
				t.Errorf("mkdocs.yml lacks %s", name)
			}
		}
	}
}
