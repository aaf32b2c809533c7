package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presswork/internal/test/public"
)

// checkUnchanged fails the test unless the folder holds exactly these files and a.pdf is older than the run.
func checkUnchanged(t *testing.T, dir string, want ...string) {
	t.Helper()

	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}

	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}

	if got := strings.Join(names, " "); got != strings.Join(want, " ") {
		t.Errorf("the folder holds %s, want %s", got, want)
	}

	if got := readFile(t, filepath.Join(dir, "a.pdf")); got != "older" {
		t.Errorf("the older PDF became %.20q", got)
	}
}

// writeBrowserScripts creates a folder of scripts that the browser's user can run.
func writeBrowserScripts(t *testing.T, scripts map[string]string) string {
	t.Helper()

	dir := public.Dir(t)
	for name, script := range scripts {
		public.Program(t, filepath.Join(dir, name), "#!/bin/sh\n"+script+"\n")
	}

	return dir
}

func TestMD2PDFWithABrowserThatDoesNotWork(t *testing.T) {
	t.Parallel()
	needsChromium(t)

	real, err := filepath.EvalSymlinks("/usr/lib/chromium/chromium-headless-shell")
	if err != nil {
		real = "chromium"
	}
	bin := writeBrowserScripts(t, map[string]string{
		"wrong": "echo I am no browser; exit 0",
		"hangs": "exec sleep 1000",
		// The supervisor watches the wrapper, so the browser ends with it.
		"dies": `( sleep 1; kill -9 $$ ) & exec "` + real + `" "$@"`,
	})
	// A single table is printed in one piece. A document in several sections would survive the browser's end.
	long := "# A\n\n| a | b | *c* | `d` |\n|---|---|---|---|\n" +
		strings.Repeat("| lorem | ipsum | dolor | sit |\n", 10_000)

	for name, c := range map[string]struct {
		env        map[string]string
		code       int
		wantStderr string
	}{
		"missing":        {map[string]string{"CHROMIUM_PATH": "/none/chromium"}, exitNoBrowser, "make setup"},
		"wrong program":  {map[string]string{"CHROMIUM_PATH": filepath.Join(bin, "wrong")}, exitFailed, "a.md: the browser is not available"},
		"hanging":        {map[string]string{"CHROMIUM_PATH": filepath.Join(bin, "hangs"), "RENDER_TIMEOUT": "1s"}, exitFailed, "a.md: the conversion took longer than 1s"},
		"dying half-way": {map[string]string{"CHROMIUM_PATH": filepath.Join(bin, "dies")}, exitFailed, "a.md: the browser "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := writeFiles(t, map[string]string{"a.md": long, "a.pdf": "older"})

			got := runWithEnv(t, c.env, "md2pdf", filepath.Join(dir, "a.md"))
			got.check(t, c.code, c.wantStderr)
			got.checkNoOutput(t)
			checkUnchanged(t, dir, "a.md", "a.pdf")
		})
	}
}

func TestMD2PDFWithAFullDisk(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, map[string]string{"a.md": "# A", "a.pdf": "older"})

	got := runCommand(t, "md2pdf", "--html", filepath.Join(dir, "a.md"), "-o", "/dev/full")
	got.check(t, exitFailed, "a.md: cannot write /dev/full: no space left on device")
	checkUnchanged(t, dir, "a.md", "a.pdf")
}

func TestMD2PDFWithHostileFiles(t *testing.T) {
	t.Parallel()

	var notes strings.Builder
	for i := range manyFootnotes {
		fmt.Fprintf(&notes, "word[^%d]\n\n[^%d]: note %d\n\n", i, i, i)
	}

	dir := writeFiles(t, map[string]string{
		"a.pdf":        "older",
		"a.html":       "older",
		"a-binary.md":  "\x00\x01\xff\xfe\x00ELF",
		"a-matter.md":  "---\ntitle: [\ntheme: nord\n---\nbody",
		"a-key.md":     "---\ntitle: x\npage_size: [A4\ntheme: nord\n---\nbody",
		"fence.md":     "before\n\n```\nfunc main() {\n\n# not a heading",
		"footnotes.md": notes.String(),
		"bomb.md":      "before ![pic](bomb.png) after",
		"bomb.png":     hugePNGHeader(),
		"escape.md":    "before ![pic](../../../../etc/passwd) ![pic](/etc/passwd) after",
	})
	if err := os.Symlink("a-loop.md", filepath.Join(dir, "a-loop.md")); err != nil {
		t.Fatal(err)
	}

	for name, c := range map[string]struct {
		code       int
		wantStderr string
	}{
		"a-loop.md":    {exitFailed, "a-loop.md: it cannot be read: too many levels of symbolic links"},
		"a-binary.md":  {exitFailed, "a-binary.md: "},
		"a-matter.md":  {exitFailed, "front matter, line 2"},
		"a-key.md":     {exitFailed, "front matter, line "},
		"fence.md":     {exitOK, "fence.html (light, "},
		"footnotes.md": {exitOK, "footnotes.html (light, "},
		"bomb.md":      {exitOK, `bomb.md:1: image "bomb.png"`},
		"escape.md":    {exitOK, "it is outside the document's folder"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := filepath.Join(dir, strings.TrimSuffix(name, ".md")+".html")

			args := []string{"md2pdf", "--html", filepath.Join(dir, name)}
			if c.code != exitOK {
				result = filepath.Join(dir, "a.html")
				args = append(args, "-o", result)
			}

			got := runCommand(t, args...)
			got.check(t, c.code, c.wantStderr)

			page := readFile(t, result)
			switch {
			case c.code != exitOK && page != "older":
				t.Error("the older result is gone")
			case c.code == exitOK && strings.Contains(page, "root:"):
				t.Error("/etc/passwd is in the result")
			case name == "fence.md" && !strings.Contains(page, "# not a heading"):
				t.Error("the text of the unclosed fence is lost")
			case name == "footnotes.md" && !strings.Contains(page, fmt.Sprintf("note %d", manyFootnotes-1)):
				t.Error("the last footnote is lost")
			}
		})
	}
}

// hugePNGHeader is the header of a PNG of 60000 × 60000 pixels.
func hugePNGHeader() string {
	var b bytes.Buffer
	b.WriteString("\x89PNG\r\n\x1a\n")
	chunk := func(kind string, data []byte) {
		body := append([]byte(kind), data...)
		_ = binary.Write(&b, binary.BigEndian, uint32(len(data)))
		b.Write(body)
		_ = binary.Write(&b, binary.BigEndian, crc32.ChecksumIEEE(body))
	}
	head := binary.BigEndian.AppendUint32(nil, 60_000)
	head = binary.BigEndian.AppendUint32(head, 60_000)
	chunk("IHDR", append(head, 8, 2, 0, 0, 0))
	chunk("IEND", nil)

	return b.String()
}
