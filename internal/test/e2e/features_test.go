package e2e_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"strings"
	"testing"

	"presswork/internal/fault"
	"presswork/internal/test/e2e"
	"presswork/internal/test/public"
	"presswork/internal/test/wait"
)

func TestUploadedFilesAreUsedAndMissingOnesAreWarnings(t *testing.T) {
	t.Parallel()
	_, c := e2e.Serve(t, nil)
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	field := func(name, value string) {
		if err := w.WriteField(name, value); err != nil {
			t.Fatal(err)
		}
	}
	field("content", "# Picture\n\n![a red square](img/red.png)\n\n![nowhere](img/none.png)\n\n!include parts/two.md\n")
	field("options", `{"page_size":"A5","bibliography":["refs.bib"],"csl":"apa"}`)

	for name, text := range map[string]string{
		"parts/two.md": "Included, as @doe99 has it.\n",
		"refs.bib":     "@book{doe99, author = {Doe, Jane}, title = {Lamps}, year = 1999, publisher = {Harbour}}\n",
	} {
		part, err := w.CreateFormFile("assets["+name+"]", "file")
		if err != nil {
			t.Fatal(err)
		}

		if _, err := io.WriteString(part, text); err != nil {
			t.Fatal(err)
		}
	}

	part, err := w.CreateFormFile("assets[img/red.png]", "red.png")
	if err != nil {
		t.Fatal(err)
	}

	if err := png.Encode(part, square(color.RGBA{R: 255, A: 255})); err != nil {
		t.Fatal(err)
	}

	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	accepted := c.Accept(c.Do("POST", "/api/conversion", w.FormDataContentType(), body.Bytes()))

	job := c.Completed(accepted.JobID)
	if len(job.Warnings) != 1 || job.Warnings[0].Code != fault.ImageFailed || job.Warnings[0].Line != 5 ||
		!strings.Contains(job.Warnings[0].Message, "img/none.png") {
		t.Errorf("warnings %+v, want image_failed of img/none.png in line 5", job.Warnings)
	}

	pdf := c.Download(job)
	if size := e2e.PDFInfo(t, pdf)["Page size"]; !strings.Contains(size, "A5") {
		t.Errorf("page size %q, want A5", size)
	}

	if n := e2e.PDFImages(t, pdf); n != 1 {
		t.Errorf("%d images in the PDF, want one", n)
	}

	text := strings.Join(strings.Fields(e2e.PDFText(t, pdf)), " ")
	for _, want := range []string{"Included, as Doe (1999) has it.", "Doe, J. (1999). Lamps. Harbour."} {
		if !strings.Contains(text, want) {
			t.Errorf("text %s, want %q in it", text, want)
		}
	}
	t.Run("zip file", func(t *testing.T) { checkZipConversion(t, c) })
}

// checkZipConversion prints a zip file as one document, in the order of its SUMMARY.md. The files have a picture, a link
// from one to the other, and a reference to a table of another file.
func checkZipConversion(t *testing.T, c *e2e.Client) {
	var picture bytes.Buffer
	if err := png.Encode(&picture, square(color.RGBA{B: 255, A: 255})); err != nil {
		t.Fatal(err)
	}
	var data bytes.Buffer

	w := zip.NewWriter(&data)
	for name, text := range map[string]string{
		"book/SUMMARY.md": "[End](z.md)\n[Usage](chapters/usage.md)",
		"book/z.md": "---\ntitle: The whole\npage_size: A5\n---\n\n# First chapter\n\n" +
			"See [how](chapters/usage.md#how).\n\n| a |\n|---|\n| 1 |\n\nTable: One {#tbl:one}\n",
		"book/chapters/usage.md": "---\npage_size: A3\n---\n\n# Second chapter\n\n## How\n\n" +
			"![blue](../img/blue.png)\n\nAfter @tbl:one.\n",
		"book/img/blue.png": picture.String(),
		"book/unlisted.md":  "# Unlisted\n",
	} {
		out, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}

		if _, err := io.WriteString(out, text); err != nil {
			t.Fatal(err)
		}
	}

	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	job := c.Completed(c.Accept(c.Do("POST", "/api/conversion", "application/zip", data.Bytes())).JobID)
	if len(job.Warnings) != 0 || job.Artifact.Pages != 2 {
		t.Errorf("%d pages, warnings %+v; want 2 and none", job.Artifact.Pages, job.Warnings)
	}
	pdf := c.Download(job)

	info, text := e2e.PDFInfo(t, pdf), e2e.PDFText(t, pdf)
	if info["Title"] != "The whole" || !strings.Contains(info["Page size"], "A5") || e2e.PDFImages(t, pdf) != 1 {
		t.Errorf("pdfinfo %v, %d images; want The whole in A5 with one image", info, e2e.PDFImages(t, pdf))
	}

	first, second := strings.Index(text, "First chapter"), strings.Index(text, "Second chapter")
	if first < 0 || second < first || strings.Contains(text, "Unlisted") || !strings.Contains(text, "After Table") {
		t.Errorf("text %q, want both chapters in order, \"After Table\", and not the unlisted file", text)
	}
}

// square returns a picture of 40 by 40 pixels in one colour.
func square(c color.Color) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, 40, 40))
	for i := range 1600 {
		img.Set(i%40, i/40, c)
	}

	return img
}

func TestCustomThemeIsAvailableAfterItsFileIsWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/themes"
	_, c := e2e.Serve(t, map[string]string{"THEMES_DIR": dir})

	available := func() bool {
		status, _, _ := c.Do("GET", "/api/themes/house", "", nil)
		return status == http.StatusOK
	}
	if available() {
		t.Fatal("the theme is available before its file exists")
	}

	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	public.File(t, dir+"/house.css",
		":root { --primary: #0a5; --base-100: #fffdf5; --base-content: #222; } h1::after { content: ' by the house'; }")
	wait.Until(t, "the theme is available", available)

	job := c.Completed(c.Submit(e2e.Submission{Content: "# Printed", Theme: "house"}).JobID)
	if text := e2e.PDFText(t, c.Download(job)); !strings.Contains(text, "Printed by the house") {
		t.Errorf("text %q, want that of the style sheet in it", text)
	}

	for format, head := range map[string]string{"png": "\x89PNG", "pdf": "%PDF-"} {
		path := "/api/themes/house/preview." + format

		status, header, body := c.Do("GET", path, "", nil)
		if status != http.StatusOK || !bytes.HasPrefix(body, []byte(head)) {
			t.Errorf("preview.%s: status %d, %.100s; want 200 and that format", format, status, body)
		}

		status, _, _ = c.Do("GET", path, "", nil, "If-None-Match", header.Get("ETag"))
		if status != http.StatusNotModified {
			t.Errorf("preview.%s again: status %d, want 304", format, status)
		}
	}
	_, _, body := c.Do("GET", "/api/themes", "", nil)

	var list struct {
		Default string
		Count   int
		Themes  []struct {
			Name   string
			Custom bool
		}
	}
	if err := json.Unmarshal(body, &list); err != nil {
		t.Fatal(err)
	}

	// 35 themes are built in.
	if list.Default != "light" || list.Count != 36 || len(list.Themes) != 36 {
		t.Errorf("default %q, count %d, %d themes; want light and 36", list.Default, list.Count, len(list.Themes))
	}
}

func TestFullStoreRejectsSubmissionsAndKeepsNewArtifacts(t *testing.T) {
	t.Parallel()
	_, c := e2e.Serve(t, map[string]string{"CACHE_MAX_SIZE_GB": "0.00001"}) // the artifact has more than 10 kB
	job := c.Completed(c.Submit(e2e.Submission{Content: quarterly}).JobID)
	var status int
	var body []byte
	wait.Until(t, "the full store rejects a submission", func() bool {
		status, _, body = c.Do("POST", "/api/conversion", "text/markdown", []byte("# One more"))
		return status == http.StatusServiceUnavailable
	})
	checkError(t, "full", status, body, http.StatusServiceUnavailable, fault.StoreFull)
	c.Download(job)
}
