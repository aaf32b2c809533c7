package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"presswork/internal/pdfops"
)

// printTwoDocuments returns a folder with two accessible documents, a.pdf and b.pdf, with links, a table and notes.
func printTwoDocuments(t *testing.T) string {
	t.Helper()
	needsChromium(t)
	body := "# NAME\n\nSee [the second](#second)[^1].\n\n| A | B |\n|---|---|\n| 1 | 2 |\n\n## Second\n\n" +
		"<div style=\"page-break-before: always\"></div>\n\n## Third\n\nBack to [the start](#second).\n\n[^1]: A note.\n"
	dir := writeFiles(t, map[string]string{
		"a.md": "---\ntitle: Alpha\nlang: en\n---\n" + strings.ReplaceAll(body, "NAME", "Alpha"),
		"b.md": "---\ntitle: Beta\nlang: de\n---\n" + strings.ReplaceAll(body, "NAME", "Beta"),
	})

	for _, name := range []string{"a.md", "b.md"} {
		runCommand(t, "md2pdf", filepath.Join(dir, name), "--pdf-ua", "--pdf-a=2u", "-q").checkOK(t)
	}

	return dir
}

func pdfInfo(t *testing.T, path string) (d pdfops.Document) {
	t.Helper()
	got := runCommand(t, "pdf", "info", path, "--json")

	got.decodeJSON(t, &d)

	return d
}

// checkWithVeraPDF checks with veraPDF that files meet every standard that they claim.
func checkWithVeraPDF(t *testing.T, paths ...string) {
	t.Helper()
	jar := os.Getenv("PRESSWORK_VERAPDF")

	if _, err := os.Stat(jar); err != nil {
		t.Log("not validated: PRESSWORK_VERAPDF is not set")
		return
	}
	args := append([]string{"-XX:TieredStopAtLevel=1", "-jar", jar, "--flavour", "0", "--format", "text"}, paths...)

	out, err := exec.CommandContext(t.Context(), "java", args...).CombinedOutput()

	passed := strings.Count(string(out), "PASS ")
	if err != nil || strings.Contains(string(out), "FAIL ") || passed < len(paths) {
		t.Errorf("veraPDF: got %v and %s; want PASS for %d files", err, out, len(paths))
	}
}

func TestPDFOperationsKeepAccessibleDocumentsValid(t *testing.T) {
	t.Parallel()
	dir := printTwoDocuments(t)
	path := func(name string) string { return filepath.Join(dir, name) }
	run := func(args ...string) string {
		t.Helper()
		got := runCommand(t, append([]string{"pdf"}, args...)...)

		if got.code != exitOK || strings.Contains(got.stderr, "no longer") {
			t.Fatalf("%s: got %v; want success and no lost claims", args, got)
		}

		return got.stdout
	}
	run("merge", path("a.pdf"), path("b.pdf"), path("a.pdf"), "-o", path("merged.pdf"))
	run("rotate", path("a.pdf"), "--degrees", "90", "--pages", "2", "-o", path("rotated.pdf"))
	run("watermark", path("merged.pdf"), "--text", "Draft äß", "-o", path("marked.pdf"))
	run("stamp", path("rotated.pdf"), "--file", path("b.pdf"), "--position", "top-right", "--under", "-o",
		path("stamped.pdf"))
	run("split", path("merged.pdf"), "--pages", "1,3-4", "-o", path("parts"))
	all := []string{
		path("merged.pdf"), path("rotated.pdf"), path("marked.pdf"), path("stamped.pdf"), path("parts/merged-1.pdf"),
		path("parts/merged-3-4.pdf"),
	}
	checkWithVeraPDF(t, all...)

	for _, path := range all {
		d := pdfInfo(t, path)
		if d.PDFUA != "1" || d.PDFA != "2U" || !d.Tagged || d.Outline == 0 || d.Title != "Alpha" {
			t.Errorf("%s: got %+v; want PDF/UA-1, PDF/A-2u, tags, an outline and the title Alpha", path, d)
		}
	}

	if d := pdfInfo(t, path("merged.pdf")); d.Pages != 6 || d.Outline != 3+3*3 {
		t.Errorf("merged.pdf: got %+v; want 6 pages and 12 outline entries", d)
	}

	if d := pdfInfo(t, path("rotated.pdf")); len(d.Sizes) != 2 || d.Sizes[1].Width < d.Sizes[1].Height {
		t.Errorf("rotated.pdf: got %+v; want page 2 to be turned", d)
	}

	for name, want := range map[string]string{"merged.pdf": "Beta", "parts/merged-3-4.pdf": "Beta"} {
		if text := run("text", path(name)); !strings.Contains(text, want) || !strings.Contains(text, "the second") {
			t.Errorf("the text of %s is %q, want %q in it", name, text, want)
		}
	}

	text := run("text", path("parts/merged-1.pdf"))
	if strings.Contains(text, "Beta") || strings.Contains(text, "Third") {
		t.Errorf("the first page has the text of others: %q", text)
	}
}

func TestASplitThatSkipsAHeadingLosesItsClaim(t *testing.T) {
	t.Parallel()
	dir := printTwoDocuments(t)
	out := filepath.Join(dir, "second.pdf")

	got := runCommand(t, "pdf", "split", filepath.Join(dir, "a.pdf"), "--pages", "2", "--single", "-o", out)
	got.check(t, exitOK, "no longer claims to be PDF/UA-1", "the first heading is of level 2")

	if d := pdfInfo(t, out); d.PDFUA != "" || d.PDFA != "2U" || !d.Tagged {
		t.Errorf("got %+v; want PDF/A-2u and tags, but no PDF/UA", d)
	}
	checkWithVeraPDF(t, out)
}

func TestPDFEncryptsWithPasswordsFromFiles(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, map[string]string{"user": "open\n", "owner": "all\n"})

	source, err := os.ReadFile("../../internal/pdfops/testdata/crazyones.pdf")
	if err != nil {
		t.Fatal(err)
	}
	in, out := filepath.Join(dir, "in.pdf"), filepath.Join(dir, "out.pdf")

	if err := os.WriteFile(in, source, 0o600); err != nil {
		t.Fatal(err)
	}

	got := runCommand(t, "pdf", "encrypt", in, "--user-password-file", filepath.Join(dir, "user"),
		"--owner-password-file", filepath.Join(dir, "owner"), "--forbid", "copy", "-o", out)
	got.checkOK(t)

	for password, want := range map[string]string{
		"open":  "forbids to copy",
		"all":   "",
		"wrong": "password is missing or wrong",
	} {
		t.Run(password, func(t *testing.T) {
			got := runCommand(t, "pdf", "text", out, "--password", password)
			if (got.code == exitOK) != (want == "") || !strings.Contains(got.stderr, want) {
				t.Errorf("got %v; want %q in stderr", got, want)
			}
		})
	}

	text, err := exec.CommandContext(t.Context(), "pdftotext", "-upw", "all", out, "-").CombinedOutput()
	if err == nil && !strings.Contains(string(text), "The Crazy Ones") {
		t.Errorf("poppler reads %q, want the text of the document", text)
	}
}

func TestPDFUsageErrorsExitWithTwo(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, map[string]string{"bad.pdf": "no PDF"})
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

			got := runCommand(t, append([]string{"pdf"}, c.args...)...)
			got.check(t, c.code, c.want)
		})
	}

	if readFile(t, bad) != "no PDF" {
		t.Error("a failed command changed its output")
	}
}
