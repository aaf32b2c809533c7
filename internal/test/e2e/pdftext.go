package e2e

import (
	"bytes"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// PDFText returns the text of a PDF with folded white space, as pdftotext prints it.
func PDFText(t testing.TB, pdf []byte) string {
	t.Helper()
	return strings.Join(strings.Fields(poppler(t, pdf, "pdftotext", "-", "-")), " ")
}

// PDFInfo returns the fields that pdfinfo prints, such as "Pages" and "Title".
func PDFInfo(t testing.TB, pdf []byte) map[string]string {
	t.Helper()
	info := map[string]string{}

	for line := range strings.Lines(poppler(t, pdf, "pdfinfo", "-")) {
		if name, value, ok := strings.Cut(line, ":"); ok {
			info[name] = strings.TrimSpace(value)
		}
	}

	return info
}

// PDFPages returns the number of pages of a PDF.
func PDFPages(t testing.TB, pdf []byte) int {
	t.Helper()

	n, err := strconv.Atoi(PDFInfo(t, pdf)["Pages"])
	if err != nil {
		t.Fatalf("pdfinfo names no page count: %v", err)
	}

	return n
}

// poppler runs a program of poppler-utils on a PDF and returns its output.
func poppler(t testing.TB, pdf []byte, args ...string) string {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin = bytes.NewReader(pdf)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr

	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s (`make setup` installs poppler-utils)", args[0], err, stderr.String())
	}

	return string(out)
}

// PDFImages returns the number of images in a PDF.
func PDFImages(t testing.TB, pdf []byte) int {
	t.Helper()
	const heading = 2 // lines above the list

	return strings.Count(poppler(t, pdf, "pdfimages", "-list", "-"), "\n") - heading
}
