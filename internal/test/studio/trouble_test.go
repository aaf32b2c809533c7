package studio_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-rod/rod/lib/input"

	"presswork"
	"presswork/internal/test/browsertest"
	"presswork/internal/test/e2e"
	"presswork/internal/test/freeport"
	"presswork/internal/test/wait"
)

// TestOpenPageSurvivesRestartAndNewKey restarts the server of an open page, and then replaces its key.
func TestOpenPageSurvivesRestartAndNewKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keys := filepath.Join(dir, "keys.yaml")
	allow := func(key string) {
		if err := os.WriteFile(keys, []byte("keys:\n  - {name: writer, key: "+key+"}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	allow("first-key-0123456789")
	env := map[string]string{
		"KEYS_CONFIG":    keys,
		"API_PORT":       freeport.Take(t),
		"DATA_DIR":       dir + "/data",
		"PDF_OUTPUT_DIR": dir + "/output",
		"THEMES_DIR":     dir + "/themes",
	}
	server := e2e.Run(t, "serve", env).Listening()
	p := browsertest.NewVisitor(t).Open("http://"+server.Address+"/", 1280, 800, false)
	p.Allow = []string{"401 (Unauthorized)", "net::ERR_", "WebSocket"}
	signIn := func(key string) { p.See("#key").MustSelectAllText().MustInput(key).MustType(input.Enter) }
	signIn("first-key-0123456789")
	waitForPreview(p, "quiet craft")

	server.Stop()
	pasteText(p, "text/plain", "# Written without a server\n")
	p.See(".offline")
	e2e.Run(t, "serve", env).Listening()
	waitForPreview(p, "Written without a server")
	p.Until("the page is online again", `() => !document.querySelector(".offline")`)

	allow("second-key-0123456789")
	old := e2e.NewClient(t, server.Address, "first-key-0123456789")
	wait.Until(t, "the old key is rejected", func() bool {
		status, _, _ := old.Do("GET", "/api/conversion", "", nil)
		return status == http.StatusUnauthorized
	})
	p.Click("Convert Ctrl")
	signIn("second-key-0123456789")
	p.Reads(".cm-content", "Written without a server")
	p.Until("the dialog is closed", `() => !document.querySelector("#key")`)
	convert(p)

	// The addresses of a job expire. The page must get new ones if they expired while it was closed.
	var jobs struct {
		Data []presswork.Job `json:"data"`
	}

	_, _, list := e2e.NewClient(t, server.Address, "second-key-0123456789").Do("GET", "/api/conversion", "", nil)
	if err := json.Unmarshal(list, &jobs); err != nil || len(jobs.Data) != 1 {
		t.Fatalf("jobs %s (%v), want one", list, err)
	}
	p.Eval(`id => localStorage.setItem("presswork.jobs", JSON.stringify([{
		id, kind: "conversion", title: "An old one", status: "processing", stage: "printing", progress: 60, seq: 1,
		created: new Date().toISOString(), ws: "/api/conversion/ws/" + id + "?token=expired",
		artifact: {url: "/api/artifacts/" + id + "/download?token=expired"}}]))`, jobs.Data[0].ID)
	p.Page.MustReload().MustWaitLoad()
	p.See(".cm-content")
	p.Click("History")
	p.See(".history li[data-status=completed]")
	recordDownloads(p)
	p.Click("Download An old one")
	p.Until("the PDF is saved", `() => window.saved === "%PDF-"`)
}

// checkLongPasteAndMicrophone pastes 5 MB and then a picture, and records from the microphone.
func checkLongPasteAndMicrophone(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	p.Allow = []string{"422 (", "413 ("}
	pasteText(p, "text/plain", "# Five megabytes\n\n"+strings.Repeat("Some words of one line.\n\n", 200_000))
	p.Until("the text is there", `() => document.querySelector(".words").innerText.startsWith("1000")`)
	// If the text is too long for a preview, the page shows a notice. The editor must work in both cases.
	p.Until("the preview or the reason for its absence is shown",
		`() => `+page+`.body.innerText.includes("Five megabytes") || document.querySelector(".page .notice") !== null`)
	pasteText(p, "text/plain", "# Short again\n\n")
	waitForPreview(p, "Short again")

	p.Eval(`file => document.querySelector(".cm-content").dispatchEvent(
		new ClipboardEvent("paste", {clipboardData: `+transfer+`([file]), bubbles: true, cancelable: true}))`,
		file{"image.png", "image/png", picture(t)})
	p.Until("the picture is on the page", `() => [...`+page+`.images].some(i => i.naturalWidth === 1)`)

	p.Click("Transcribe")
	p.Until("the model is there", `() => document.querySelector("#voice-model")?.value === "ears"`)
	p.Eval(`() => {
		const start = MediaRecorder.prototype.start;
		MediaRecorder.prototype.start = function () {
			this.addEventListener("dataavailable", e => window.recorded = (window.recorded ?? 0) + e.data.size);
			start.call(this, 100);
		};
	}`)
	p.Click("Record")
	p.Until("something is recorded", `() => window.recorded > 1000`)
	p.Click("Stop")
	p.See("audio")
	p.Press(".side button[type=submit]:not(:disabled)")
	p.See("#panel-transcribe .job[data-status=completed]") // the text depends on the length of the recording
}
