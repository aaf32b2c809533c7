package e2e_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/cdp"

	"presswork/internal/chromium/printable"
	"presswork/internal/document"
	"presswork/internal/test/browsertest"
	"presswork/themes"
)

// noPrinter is the printer for documents that are only composed. It panics if something prints.
type noPrinter struct{}

func (noPrinter) Print(context.Context, printable.Page) ([]byte, error) {
	panic("compose must not print")
}

func (noPrinter) PrintRevised(context.Context, printable.Page, func([]byte) ([]string, error)) ([]byte, error) {
	panic("compose must not print")
}

func (noPrinter) Version() string { return "raw" }

// compose returns the page that the service would print.
func compose(b *testing.B, content string) printable.Page {
	b.Helper()
	catalogue := themes.Open(themes.Options{})

	c, err := document.New(document.Options{Printer: noPrinter{}, Themes: catalogue}).
		Compose(b.Context(), document.Document{Content: []byte(content), Theme: "light"})
	if err != nil {
		b.Fatal(err)
	}

	return c.Page
}

// raw is a browser that obeys bare DevTools commands, with which the benchmarks compare the service. It has warm tabs, no
// scripts, and the print parameters of the service.
type raw struct {
	client *cdp.Client
	tabs   []string // session ids
}

// startRaw starts a browser with a tab for each CPU core. A flag in more overrides the same flag in the defaults.
func startRaw(b *testing.B, more ...string) *raw {
	b.Helper()
	url := browsertest.StartDevTools(
		b,
		exec.Command("/usr/lib/chromium/chromium-headless-shell", slices.Concat([]string{
			"--no-sandbox", "--remote-debugging-port=0",
			"--user-data-dir=" + b.TempDir(), "--disable-gpu", "--no-first-run", "--disable-background-networking",
			"--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=127.0.0.1:9",
		}, more, []string{"about:blank"})...),
	)

	var ws cdp.WebSocket
	if err := ws.Connect(b.Context(), url, nil); err != nil {
		b.Fatal(err)
	}

	r := &raw{client: cdp.New().Start(&ws)}
	go func() {
		for range r.client.Event() {
		}
	}()

	for range runtime.NumCPU() {
		r.tabs = append(r.tabs, r.open(b))
	}

	return r
}

// call runs a DevTools command in a session, or in the browser if session is "", and returns its result.
func (r *raw) call(b *testing.B, session, method string, params map[string]any) map[string]any {
	res, err := r.client.Call(b.Context(), session, method, params)
	if err != nil {
		b.Errorf("%s: %v", method, err)
		return nil
	}

	var out map[string]any
	if err := json.Unmarshal(res, &out); err != nil {
		b.Errorf("%s: %v", method, err)
	}

	return out
}

// open opens a tab and returns its session id.
func (r *raw) open(b *testing.B) string {
	target := r.call(b, "", "Target.createTarget", map[string]any{"url": "about:blank"})
	session := r.call(b, "", "Target.attachToTarget", map[string]any{"targetId": target["targetId"], "flatten": true})
	id := fmt.Sprint(session["sessionId"])
	r.call(b, id, "Page.enable", nil)
	r.call(b, id, "Emulation.setScriptExecutionDisabled", map[string]any{"value": true})

	return id
}

// block prints each page once, in all tabs at the same time, and returns the number of pages per second.
func (r *raw) block(b *testing.B, pages []printable.Page) float64 {
	b.Helper()

	todo := make(chan printable.Page, len(pages))
	for _, p := range pages {
		todo <- p
	}
	close(todo)
	began := time.Now()

	var wg sync.WaitGroup
	for _, session := range r.tabs {
		wg.Go(func() {
			tree := r.call(b, session, "Page.getFrameTree", nil)

			frame := tree["frameTree"].(map[string]any)["frame"].(map[string]any)["id"]
			for page := range todo {
				r.call(b, session, "Page.setDocumentContent", map[string]any{"frameId": frame, "html": page.HTML})
				res := r.call(b, session, "Page.printToPDF", map[string]any{
					"printBackground":         true,
					"preferCSSPageSize":       true,
					"paperWidth":              page.Sheet.Width,
					"paperHeight":             page.Sheet.Height,
					"marginTop":               0,
					"marginBottom":            0,
					"marginLeft":              0,
					"marginRight":             0,
					"generateTaggedPDF":       page.Sheet.Tagged,
					"generateDocumentOutline": page.Sheet.Outline,
				})

				data, _ := res["data"].(string)
				if pdf, err := base64.StdEncoding.DecodeString(data); err != nil || len(pdf) < 1000 {
					b.Errorf("the raw browser printed %d bytes (%v), want at least 1000", len(pdf), err)
				}
			}
		})
	}
	wg.Wait()

	return float64(len(pages)) / time.Since(began).Seconds()
}
