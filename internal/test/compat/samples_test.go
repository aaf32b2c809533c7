//go:build compat

package compat

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"presswork"
	"presswork/api/guide"
	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/e2e"
)

// exampleID is the job in the examples of api/openapi.yaml.
const exampleID = "01KAZ3W6V8Q9T2Y4N5R7M1C0XD"

// modelsOfExamples lists the models in the examples of api/openapi.yaml, with the scenarios of the scripted server.
var modelsOfExamples = []struct{ id, capability, script string }{
	{"openai/gpt-oss-20b", "chat", "hello"},
	{"llama-3.1-8b", "chat", "hello"},
	{"qwen3", "completions", "hello"},
	{"nomic-embed-text", "embeddings", "vector"},
	{"bge-reranker", "rerank", "ranker"},
	{"flux", "images", "relay"},
	{"omni-moderation", "moderations", "relay"},
	{"whisper-large-v3-turbo", "transcription", "ears"},
	{"kokoro", "speech", "voice"},
}

// sampleServer is a server with the models and pages that the samples use.
type sampleServer struct {
	client *e2e.Client
	// impatient is a client of a server whose jobs fail after a second.
	impatient *e2e.Client
	// site is the address of a page to export. The page at slow does not load before the test ends.
	site, slow string
}

// TestSamplesOfTheGuide runs the samples of the pages at /docs.
func TestSamplesOfTheGuide(t *testing.T) {
	t.Parallel()

	description, err := os.ReadFile("../../../api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}

	samples, err := guide.Samples(description)
	if err != nil {
		t.Fatal(err)
	}

	if len(samples) < 130 {
		t.Fatalf("the guide has %d samples, want at least 130", len(samples))
	}
	w := newSampleServer(t)

	for _, s := range samples {
		t.Run(s.Operation+" "+s.Language, func(t *testing.T) {
			t.Parallel()
			w.run(t, s)
		})
	}
}

// newSampleServer starts Presswork with everything that the samples of the guide use.
func newSampleServer(t *testing.T) sampleServer {
	t.Helper()
	ended := make(chan struct{})
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			<-ended
		}
		io.WriteString(w, "<h1>A page</h1>")
	}))
	t.Cleanup(site.Close)
	t.Cleanup(func() { close(ended) }) // runs before site.Close, which waits for the handlers
	_, model := inferencetest.Start(t)

	var models strings.Builder
	models.WriteString("models:\n")

	for _, m := range modelsOfExamples {
		fmt.Fprintf(&models, "  - {id: %q, capabilities: [%s], upstreams: [{base_url: %q, model: %s}]}\n",
			m.id, m.capability, model, m.script)
	}
	_, impatient := e2e.Serve(t, map[string]string{"API_KEY": apiKey, "RENDER_TIMEOUT": "1s"})
	_, c := e2e.Serve(t, map[string]string{
		"INFERENCE_CONFIG":     writeFile(t, "models.yaml", models.String()),
		"API_KEY":              apiKey,
		"EXPORT_ALLOW_PRIVATE": strings.TrimPrefix(site.URL, "http://"),
	})

	return sampleServer{c, impatient, site.URL + "/", site.URL + "/slow"}
}

// server returns a client of the server for an operation. Operations on dead letters need the impatient one.
func (w sampleServer) server(t *testing.T, operation string) *e2e.Client {
	t.Helper()

	switch operation {
	case "adminGetJobInput", "adminRetryJobChanged":
		return w.impatient.For(t)
	}

	return w.client.For(t)
}

// job submits a job and waits until it has the state that the operation needs.
func (w sampleServer) job(t *testing.T, c *e2e.Client, operation string) e2e.Accepted {
	t.Helper()

	switch operation {
	case "adminGetJobInput", "adminRetryJobChanged":
		accepted := c.Submit(e2e.Submission{Content: strings.Repeat("# Late\n\nThe text of a section.\n\n", 50_000)})
		if job := c.Wait(accepted.JobID); job.Status != presswork.Failed {
			t.Fatalf("the job is %s, want failed", job.Status)
		}

		return accepted
	case "cancelJob":
		return w.slowExport(t, c)
	}
	accepted := c.Submit(e2e.Submission{Content: "# Report"})
	c.Completed(accepted.JobID)

	return accepted
}

// slowExport submits an export of the page at slow.
func (w sampleServer) slowExport(t *testing.T, c *e2e.Client) e2e.Accepted {
	t.Helper()

	return c.Accept(c.Do("POST", "/export-pdf", "application/json", fmt.Appendf(nil, `{"url":%q}`, w.slow),
		"Prefer", "respond-async"))
}

// run runs a sample in a folder with the files that samples send, and looks for its output or its file.
func (w sampleServer) run(t *testing.T, s guide.Sample) {
	t.Helper()
	c, filesFrom := w.server(t, s.Operation), w.client.For(t)
	tools, dir := os.Getenv("PRESSWORK_COMPAT"), t.TempDir()
	text, env := s.Text, append(os.Environ(), "PRESSWORK_API_KEY="+apiKey, "PYTHONPATH="+tools+"/python")
	pdf := filesFrom.Download(filesFrom.Completed(filesFrom.Submit(e2e.Submission{Content: "# Part"}).JobID))

	for name, data := range map[string][]byte{"first.pdf": pdf, "second.pdf": pdf, "meeting.wav": sampleWAV(3)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}

	// The job comes last. A sample that cancels it must run before its slow page fails after two minutes.
	if strings.Contains(text, exampleID) {
		accepted := w.job(t, c, s.Operation)
		_, token, _ := strings.Cut(accepted.EventsURL, "token=")
		text = strings.ReplaceAll(text, exampleID, accepted.JobID)
		env = append(env, "TOKEN="+token)
	}
	file, command := runners[s.Language](tools, dir)
	text = strings.NewReplacer("http://127.0.0.1:8000", c.Base,
		"ws://127.0.0.1:8000", "ws"+strings.TrimPrefix(c.Base, "http"), "https://example.com/", w.site).Replace(text)

	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, env

	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the sample failed: %v\n%s\nThe sample is\n%s", err, out, text)
	}

	if strings.Contains(text, "result.") {
		saved, err := filepath.Glob(filepath.Join(dir, "result.*"))
		if err != nil || len(saved) != 1 {
			t.Errorf("saved %v (%v), want one result", saved, err)
		}

		return
	}

	if len(out) == 0 && !strings.HasPrefix(s.Operation, "delete") {
		t.Error("the sample printed nothing, want output")
	}
}
