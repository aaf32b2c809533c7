package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"presswork/internal/pdfops"
)

// printed returns a folder with two accessible documents, a.pdf and b.pdf, with links, a table and notes.
func printed(t *testing.T) string {
	t.Helper()
	needsChromium(t)
	body := "# NAME\n\nSee [the second](#second)[^1].\n\n| A | B |\n|---|---|\n| 1 | 2 |\n\n## Second\n\n" +
		"<div style=\"page-break-before: always\"></div>\n\n## Third\n\nBack to [the start](#second).\n\n[^1]: A note.\n"
	dir := folder(t, map[string]string{
		"a.md": "---\ntitle: Alpha\nlang: en\n---\n" + strings.ReplaceAll(body, "NAME", "Alpha"),
		"b.md": "---\ntitle: Beta\nlang: de\n---\n" + strings.ReplaceAll(body, "NAME", "Beta"),
	})

	for _, name := range []string{"a.md", "b.md"} {
		if got := ask(t, "md2pdf", filepath.Join(dir, name), "--pdf-ua", "--pdf-a=2u", "-q"); got.code != 0 {
			t.Fatalf("%+v", got)
		}
	}

	return dir
}

func infoOf(t *testing.T, path string) (d pdfops.Document) {
	t.Helper()
	got := ask(t, "pdf", "info", path, "--json")

	if err := json.Unmarshal([]byte(got.stdout), &d); err != nil || got.code != 0 {
		t.Fatalf("%v: %+v", err, got)
	}

	return d
}

// conforms checks with veraPDF that files meet every standard that they claim.
func conforms(t *testing.T, paths ...string) {
	t.Helper()
	jar := os.Getenv("PRESSWORK_VERAPDF")

	if _, err := os.Stat(jar); err != nil {
		t.Log("not validated: PRESSWORK_VERAPDF is not set")
		return
	}
	args := append([]string{"-XX:TieredStopAtLevel=1", "-jar", jar, "--flavour", "0", "--format", "text"}, paths...)

	out, err := exec.CommandContext(t.Context(), "java", args...).CombinedOutput()
	if passed := strings.Count(string(out), "PASS "); err != nil || strings.Contains(string(out), "FAIL ") ||
		passed < len(paths) {
		t.Errorf("veraPDF: %v, %s", err, out)
	}
}

func TestPDFOperationsKeepAccessibleDocumentsValid(t *testing.T) {
	t.Parallel()
	dir := printed(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	run := func(args ...string) string {
		t.Helper()
		got := ask(t, append([]string{"pdf"}, args...)...)

		if got.code != 0 || strings.Contains(got.stderr, "no longer") {
			t.Fatalf("%s: %+v", args, got)
		}

		return got.stdout
	}
	run("merge", at("a.pdf"), at("b.pdf"), at("a.pdf"), "-o", at("merged.pdf"))
	run("rotate", at("a.pdf"), "--degrees", "90", "--pages", "2", "-o", at("rotated.pdf"))
	run("watermark", at("merged.pdf"), "--text", "Draft äß", "-o", at("marked.pdf"))
	run(
		"stamp",
		at("rotated.pdf"),
		"--file",
		at("b.pdf"),
		"--position",
		"top-right",
		"--under",
		"-o",
		at("stamped.pdf"),
	)
	run("split", at("merged.pdf"), "--pages", "1,3-4", "-o", at("parts"))
	all := []string{
		at("merged.pdf"), at("rotated.pdf"), at("marked.pdf"), at("stamped.pdf"), at("parts/merged-1.pdf"),
		at("parts/merged-3-4.pdf"),
	}
	conforms(t, all...)

	for _, path := range all {
		if d := infoOf(t, path); d.PDFUA != "1" || d.PDFA != "2U" || !d.Tagged || d.Outline == 0 || d.Title != "Alpha" {
			t.Errorf("%s: %+v", path, d)
		}
	}

	if d := infoOf(t, at("merged.pdf")); d.Pages != 6 || d.Outline != 3+3*3 {
		t.Errorf("merged: %+v", d)
	}

	if d := infoOf(t, at("rotated.pdf")); len(d.Sizes) != 2 || d.Sizes[1].Width < d.Sizes[1].Height {
		t.Errorf("rotated: %+v", d)
	}

	for name, want := range map[string]string{"merged.pdf": "Beta", "parts/merged-3-4.pdf": "Beta"} {
		if text := run("text", at(name)); !strings.Contains(text, want) || !strings.Contains(text, "the second") {
			t.Errorf("the text of %s is %q", name, text)
		}
	}

	if text := run(
		"text",
		at("parts/merged-1.pdf"),
	); strings.Contains(text, "Beta") ||
		strings.Contains(text, "Third") {
		t.Errorf("the first page has the text of others: %q", text)
	}
}

func TestASplitThatSkipsAHeadingLosesItsClaim(t *testing.T) {
	t.Parallel()
	dir := printed(t)
	out := filepath.Join(dir, "second.pdf")

	got := ask(t, "pdf", "split", filepath.Join(dir, "a.pdf"), "--pages", "2", "--single", "-o", out)
	if got.code != 0 || !strings.Contains(got.stderr, "no longer claims to be PDF/UA-1") ||
		!strings.Contains(got.stderr, "the first heading is of level 2") {
		t.Errorf("%+v", got)
	}

	if d := infoOf(t, out); d.PDFUA != "" || d.PDFA != "2U" || !d.Tagged {
		t.Errorf("%+v", d)
	}
	conforms(t, out)
}

func TestPDFEncryptsWithPasswordsFromFiles(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"user": "open\n", "owner": "all\n"})

	source, err := os.ReadFile("../../internal/pdfops/testdata/crazyones.pdf")
	if err != nil {
		t.Fatal(err)
	}
	in, out := filepath.Join(dir, "in.pdf"), filepath.Join(dir, "out.pdf")

	if err := os.WriteFile(in, source, 0o600); err != nil {
		t.Fatal(err)
	}

	got := ask(t, "pdf", "encrypt", in, "--user-password-file", filepath.Join(dir, "user"), "--owner-password-file",
		filepath.Join(dir, "owner"), "--forbid", "copy", "-o", out)
	if got.code != 0 {
		t.Fatalf("%+v", got)
	}

	for password, want := range map[string]string{
		"open": "forbids to copy", "all": "", "wrong": "password is missing or wrong",
	} {
		got := ask(t, "pdf", "text", out, "--password", password)
		if (got.code == 0) != (want == "") || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: %+v", password, got)
		}
	}

	if text, err := exec.CommandContext(t.Context(), "pdftotext", "-upw", "all", out, "-").
		CombinedOutput(); err == nil &&
		!strings.Contains(string(text), "The Crazy Ones") {
		t.Errorf("poppler reads %s", text)
	}
}

func TestPDFUsageErrorsExitWithTwo(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"bad.pdf": "no PDF"})
	bad := filepath.Join(dir, "bad.pdf")

	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no file":         {[]string{"merge"}, exitUsage, "name a PDF file"},
		"no output":       {[]string{"merge", bad}, exitUsage, "-o FILE.pdf"},
		"two for rotate":  {[]string{"rotate", bad, bad, "-o", "x"}, exitUsage, "one PDF file"},
		"no text":         {[]string{"stamp", bad, "-o", "x"}, exitUsage, "either a text or a file"},
		"not a PDF":       {[]string{"rotate", bad, "-o", bad}, exitFailed, "bad.pdf: the file is not a PDF"},
		"missing file":    {[]string{"info", bad + "x"}, exitFailed, "no such file"},
		"unknown command": {[]string{"crop"}, exitUsage, "unknown command"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := ask(t, append([]string{"pdf"}, c.args...)...)
			if got.code != c.code || !strings.Contains(got.stderr, c.want) {
				t.Errorf("%+v", got)
			}
		})
	}

	if content(t, bad) != "no PDF" {
		t.Error("a failed command changed its output")
	}
}
