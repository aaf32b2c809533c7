package e2e_test

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"presswork/internal/test/documents"
	"presswork/internal/test/e2e"
	"presswork/internal/test/freeport"
	"presswork/internal/test/wait"
)

// BenchmarkServiceAgainstGotenberg runs the reference document through the whole service and through Gotenberg's
// Markdown route. Gotenberg gets the HTML that goldmark writes, with five CSS rules. It runs on our browser and on its
// default one. Blocks of requests to the two services alternate.
func BenchmarkServiceAgainstGotenberg(b *testing.B) {
	b.Run("shell", func(b *testing.B) {
		againstGotenberg(b, "/usr/lib/chromium/chromium-headless-shell", "both with the headless shell", "≥ 6 ×")
	})
	b.Run("default", func(b *testing.B) {
		browser := filepath.Join(os.Getenv("PRESSWORK_PEERS"), "chromium/usr/lib/chromium/chromium")
		if _, err := os.Stat(browser); err != nil {
			b.Skip("Debian's Chromium is not unpacked; `make bench` unpacks it")
		}
		againstGotenberg(b, browser, "there with Debian's Chromium, its default browser", "≥ 10 ×")
	})
}

// againstGotenberg compares the service with Gotenberg on a browser. how describes the browsers in the report.
func againstGotenberg(b *testing.B, browser, how, goal string) {
	const (
		blocks, clients = 4, 8
		ourDocuments    = 80
		theirDocuments  = 16 // fewer, because Gotenberg takes several times as long
	)
	peer := startGotenberg(b, browser)
	_, c := e2e.Serve(b, nil)
	document := documents.All()[0].Markdown
	next := 0
	ours := func() float64 { return throughput(b, c, ourDocuments, &next, document) }
	theirs := func() float64 {
		todo := make(chan string, theirDocuments)
		for range theirDocuments {
			next++
			todo <- document(next)
		}
		close(todo)
		began := time.Now()

		var wg sync.WaitGroup
		for range clients {
			wg.Go(func() {
				for content := range todo {
					peer.convert(b, content)
				}
			})
		}
		wg.Wait()

		return theirDocuments / time.Since(began).Seconds()
	}

	for b.Loop() {
		report(b, "the reference document, REST to downloaded PDF, eight clients, against Gotenberg 8.31.0 and "+
			"its text with five rules, "+how, compareSpeeds(blocks, theirs, ours), goal)
	}
}

// gotenberg is the address of the Markdown route of a running Gotenberg.
type gotenberg string

// startGotenberg starts the Gotenberg that `make bench` has built, with a browser.
func startGotenberg(b *testing.B, browser string) gotenberg {
	b.Helper()

	binary := filepath.Join(os.Getenv("PRESSWORK_PEERS"), "gotenberg")
	if _, err := os.Stat(binary); err != nil || os.Getenv("PRESSWORK_PEERS") == "" {
		b.Skip("Gotenberg is not built; `make bench` builds it")
	}
	port := freeport.Take(b)
	home := b.TempDir()
	cmd := exec.Command(binary, "--api-bind-ip=127.0.0.1", "--api-port="+port, "--chromium-auto-start",
		"--chromium-restart-after=0")

	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + home,
		"TMPDIR=" + home,
		"OTEL_LOGS_EXPORTER=none",
		"OTEL_METRICS_EXPORTER=none",
		"OTEL_TRACES_EXPORTER=none",
		"CHROMIUM_BIN_PATH=" + browser,
		"CHROMIUM_HYPHEN_DATA_DIR_PATH=" + home,
	}
	for _, unused := range []string{"PDFTK", "LIBREOFFICE", "UNOCONVERTER", "PDFCPU", "EXIFTOOL", "QPDF"} {
		cmd.Env = append(cmd.Env, unused+"_BIN_PATH=/bin/true")
	}

	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })

	base := "http://127.0.0.1:" + port
	wait.Until(b, "Gotenberg answers", func() bool {
		res, err := http.Get(base + "/health")
		if err != nil {
			return false
		}
		res.Body.Close()

		return res.StatusCode == http.StatusOK
	})

	return gotenberg(base + "/forms/chromium/convert/markdown")
}

// convert prints Markdown on the page of fewRules.
func (g gotenberg) convert(b *testing.B, content string) {
	page := fewRules(b, "")
	var body bytes.Buffer
	form := multipart.NewWriter(&body)

	files := map[string]string{
		"index.html": strings.Replace(page.HTML, "</body>", `{{ toHTML "file.md" }}</body>`, 1),
		"file.md":    content,
	}
	for name, text := range files {
		w, err := form.CreateFormFile("files", name)
		if err != nil {
			b.Error(err)
			return
		}
		io.WriteString(w, text)
	}

	for _, name := range []string{"generateTaggedPdf", "generateDocumentOutline", "preferCssPageSize", "printBackground"} {
		form.WriteField(name, "true")
	}
	form.Close()

	res, err := http.Post(string(g), form.FormDataContentType(), &body)
	if err != nil {
		b.Error(err)
		return
	}
	defer res.Body.Close()

	pdf, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || !bytes.HasPrefix(pdf, []byte("%PDF")) {
		b.Errorf("Gotenberg: status %d, %.200s (%v); want a PDF", res.StatusCode, pdf, err)
	}
}
