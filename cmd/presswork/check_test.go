package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckListsFindings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()

	for name, text := range map[string]string{
		"good.md": "# Hi\n\n![A picture](https://example.com/x.png)\n",
		"bad.md":  "# Hi\n\n### Three\n\n![alt](none.png)\n",
		"fm.md":   "---\ntitle: [\n---\n# Hi\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	for name, row := range map[string]struct {
		files  []string
		code   int
		stdout []string
		stderr string
	}{
		"nothing": {[]string{"good.md"}, exitOK, nil, ""},
		"findings": {
			[]string{"good.md", "bad.md"},
			exitFailed,
			[]string{"bad.md:3: heading", "(heading_skipped)\n", "bad.md:5: image"},
			"findings: 2; files that cannot be read: 0",
		},
		"front matter":   {[]string{"fm.md"}, exitFailed, []string{"fm.md: front matter"}, "cannot be read: 1"},
		"a missing file": {[]string{"none.md"}, exitFailed, []string{"none.md: there is no such file"}, "cannot be read: 1"},
		"JSON":           {[]string{"bad.md", "--json"}, exitFailed, []string{`"code":"heading_skipped"`, `"line":3`}, "findings: 2"},
		"no file":        {nil, exitUsage, nil, "name a Markdown file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := []string{"check"}

			for _, file := range row.files {
				if !strings.HasPrefix(file, "-") {
					file = filepath.Join(dir, file)
				}
				args = append(args, file)
			}
			// Without a browser: no row has a diagram.
			got := runWithEnv(t, map[string]string{"CHROMIUM_PATH": "/does/not/exist"}, args...)
			got.check(t, row.code, row.stderr)

			for _, want := range row.stdout {
				if !strings.Contains(got.stdout, want) {
					t.Errorf("%v; want %q in stdout", got, want)
				}
			}

			if row.stdout == nil {
				got.checkNoOutput(t)
			}
		})
	}
}
