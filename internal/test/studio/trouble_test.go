package studio_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-rod/rod/lib/input"

	"presswork"
	"presswork/internal/test/browsertest"
	"presswork/internal/test/e2e"
	"presswork/internal/test/freeport"
	"presswork/internal/test/wait"
)

// TestAnOpenPageOutlivesItsServerAndItsKey restarts the server under a page, and
// revokes the key that it uses.
func TestAnOpenPageOutlivesItsServerAndItsKey(t *testing.T) {
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
	shows(p, "quiet craft")

	server.Stop()
	write(p, "text/plain", "# Written without a server\n")
	p.See(".offline")
	e2e.Run(t, "serve", env).Listening()
	shows(p, "Written without a server")
	p.Until("the page knows that it is back", `() => !document.querySelector(".offline")`)

	allow("second-key-0123456789")
	old := e2e.NewClient(t, server.Address, "first-key-0123456789")
	wait.Until(t, "the old key is refused", func() bool {
		status, _, _ := old.Do("GET", "/api/conversion", "", nil)
		return status == http.StatusUnauthorized
	})
	p.Click("Convert Ctrl")
	signIn("second-key-0123456789")
	p.Reads(".cm-content", "Written without a server")
	p.Until("the dialog is closed", `() => !document.querySelector("#key")`)
	p.Click("Convert Ctrl")
	p.See(".job[data-status=completed]")

	// The address with which the page follows a job is valid for an hour.
	var jobs struct {
		Data []presswork.Job `json:"data"`
	}

	_, _, list := e2e.NewClient(t, server.Address, "second-key-0123456789").Do("GET", "/api/conversion", "", nil)
	if err := json.Unmarshal(list, &jobs); err != nil || len(jobs.Data) != 1 {
		t.Fatalf("jobs %s, %v", list, err)
	}
	p.Eval(
		`id => localStorage.setItem("presswork.jobs", JSON.stringify([{id, kind: "conversion", title: "An old one", status: "processing", stage: "printing", progress: 60, seq: 1,
		created: new Date().toISOString(), ws: "/api/conversion/ws/" + id + "?token=expired", artifact: {url: "/api/artifacts/" + id + "/download?token=expired"}}]))`,
		jobs.Data[0].ID,
	)
	p.Page.MustReload().MustWaitLoad()
	p.See(".cm-content")
	p.Click("History")
	p.See(".history li[data-status=completed]")
	p.Eval(
		`() => { URL.createObjectURL = (real => blob => { blob.text().then(x => window.saved = x.slice(0, 5)); return real(blob) })(URL.createObjectURL.bind(URL)) }`,
	)
	p.Click("Download An old one")
	p.Until("the PDF is saved", `() => window.saved === "%PDF-"`)
}

// muchIsPastedAndSpoken pastes 5 MB, then a picture, and speaks into the microphone.
func muchIsPastedAndSpoken(t *testing.T, h *shared) {
	_, p, _ := h.open(t)
	p.Allow = []string{"422 (", "413 ("}
	p.Eval(`() => {
		const data = new DataTransfer();
		data.setData("text/plain", "# Five megabytes\n\n" + "Some words of one line.\n\n".repeat(200_000));
		const e = document.querySelector(".cm-content");
		e.focus(); document.execCommand("selectAll");
		e.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
	}`)
	p.Until("the text is there", `() => document.querySelector(".words").innerText.startsWith("1000")`)
	// It is too much for a page, which is said; nothing is lost, and one can go on.
	p.Until(
		"the page is shown, or why it is not",
		`() => `+page+`.body.innerText.includes("Five megabytes") || document.querySelector(".page .notice") !== null`,
	)
	write(p, "text/plain", "# Short again\n\n")
	shows(p, "Short again")

	p.Eval(`() => {
		const data = new DataTransfer();
		const bytes = Uint8Array.from(atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="), c => c.charCodeAt(0));
		data.items.add(new File([bytes], "image.png", {type: "image/png"}));
		document.querySelector(".cm-content").dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
	}`)
	p.Until("the picture is on the page", `() => [...`+page+`.images].some(i => i.naturalWidth === 1)`)

	p.Click("Transcribe")
	p.Until("the model is there", `() => document.querySelector("#voice-model")?.value === "ears"`)
	p.Eval(`() => { const start = MediaRecorder.prototype.start; MediaRecorder.prototype.start = function () {
		this.addEventListener("dataavailable", e => window.recorded = (window.recorded ?? 0) + e.data.size); start.call(this, 100) } }`)
	p.Click("Record")
	p.Until("something is recorded", `() => window.recorded > 1000`)
	p.Click("Stop")
	p.See("audio")
	p.Press(".side button[type=submit]:not(:disabled)")
	p.See("#panel-transcribe .job[data-status=completed]") // what it says depends on how long that took
}
