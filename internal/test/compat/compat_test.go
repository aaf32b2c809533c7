//go:build compat

package compat

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/e2e"
	"presswork/internal/test/wait"
)

// upstream is the server of the scripted models, with addresses for the clients. /asked returns the requests for a model,
// and /left waits until a request for a model has been cancelled. /search is a search engine.
type upstream struct {
	// site is the address of the page that searches find.
	site     string
	scripted *inferencetest.Server

	mu      sync.Mutex
	left    map[string]int // cancelled requests by model
	changed chan struct{}  // closed and replaced when left changes
}

// ServeHTTP answers the control addresses, and passes other requests to the scripted models.
func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	model := r.URL.Query().Get("model")
	switch r.URL.Path {
	case "/left":
		u.waitLeft(w, r, model)
		return
	case "/asked":
		requests := []json.RawMessage{}

		for _, q := range u.scripted.Requests() {
			if q.Body.Model == model {
				requests = append(requests, q.Raw)
			}
		}
		json.NewEncoder(w).Encode(requests)

		return
	case "/search": // in the form of SearXNG
		found := map[string]any{"title": "Paper", "url": u.site + "/page", "content": "Who made it", "score": 1}
		json.NewEncoder(w).Encode(map[string]any{"results": []any{found}})

		return
	}

	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var body inferencetest.Body
	json.Unmarshal(raw, &body)
	r.Body = io.NopCloser(bytes.NewReader(raw))
	u.scripted.ServeHTTP(w, r)

	if r.Context().Err() != nil {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.left[body.Model]++
		close(u.changed)
		u.changed = make(chan struct{})
	}
}

// waitLeft answers when a request for the model has been cancelled.
func (u *upstream) waitLeft(w http.ResponseWriter, r *http.Request, model string) {
	limit := time.After(wait.Patience)

	for {
		u.mu.Lock()
		n, changed := u.left[model], u.changed
		u.mu.Unlock()

		if n > 0 {
			io.WriteString(w, "{}")
			return
		}

		select {
		case <-changed:
		case <-limit:
			http.Error(w, "no request was cancelled", http.StatusGatewayTimeout)
			return
		case <-r.Context().Done():
			return
		}
	}
}

// extraSettings maps a scenario to additional settings of its model in models.yaml.
var extraSettings = map[string]string{
	"reason-field":     "reasoning: {efforts: [low, medium, high], parser: field}",
	"reason-think":     "reasoning: {parser: think}",
	"reason-letters":   "reasoning: {parser: think}",
	"reason-prefilled": "reasoning: {parser: think_prefilled}",
	"reason-harmony":   "reasoning: {parser: harmony}",
}

// scenarios lists the scenarios with an argument, such as a status. inferencetest.Scenarios lists those without.
var scenarios = []string{
	"status:500", "status:503", "status:401", "status:404", "status:422", "hang-middle:slow", "late:11s",
}

// writeModels writes a models.yaml that has every scenario for each client, and returns its path.
func writeModels(t *testing.T, base string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("models:\n")
	entry := func(id, model, extra string) {
		capabilities := "chat, tools, vision"
		if strings.HasSuffix(id, "/many") {
			capabilities += ", choices, logprobs, completions"
		}
		fmt.Fprintf(&b,
			"  - {id: %q, capabilities: [%s], upstreams: [{base_url: %q, model: %q%s}], routing: {cooldown: 1s}",
			id, capabilities, base, model, extra)

		_, scenario, _ := strings.Cut(id, "/")
		if m := extraSettings[scenario]; m != "" {
			b.WriteString(", " + m)
		}
		b.WriteString("}\n")
	}

	for _, model := range ownTestModels {
		entry(model, "json", "")
	}
	fmt.Fprintf(&b, "  - {id: text-embedding-3-small, capabilities: [embeddings], upstreams: "+
		"[{base_url: %q, model: vector}]}\n", base)

	for _, c := range clients {
		for _, s := range append(inferencetest.Scenarios(), scenarios...) {
			entry(c.name+"/"+s, c.name+"/"+s, "")
		}

		for _, s := range []string{"ears", "voice"} {
			fmt.Fprintf(&b,
				"  - {id: %q, capabilities: [transcription, speech], upstreams: [{base_url: %q}]}\n",
				c.name+"/"+s, base)
		}
		fmt.Fprintf(&b, "  - {id: %[1]q, capabilities: [embeddings], upstreams: [{base_url: %[2]q}]}\n",
			c.name+"/vector", base)
		entry(c.name+"/narrow", c.name+"/hang-once", ", max_concurrency: 1")
	}

	return writeFile(t, "models.yaml", b.String())
}

// writeKeys writes a keys.yaml with three keys for each client, and returns its path.
func writeKeys(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("keys:\n")

	for _, c := range clients {
		fmt.Fprintf(&b, "  - {name: %[1]s, key: key-%[1]s}\n", c.name)
		fmt.Fprintf(&b, "  - {name: %[1]s-slow, key: slow-%[1]s, concurrency: 1}\n", c.name)
		fmt.Fprintf(&b, "  - {name: %[1]s-small, key: small-%[1]s, tpm: 5000, rpd: 50}\n", c.name)
	}

	return writeFile(t, "keys.yaml", b.String())
}

// writeFile writes a file in a new directory and returns its path.
func writeFile(t *testing.T, name, text string) string {
	t.Helper()

	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}

	return path
}

// row is the result of a case that a client prints. Without is set if the client cannot send the request.
type row struct {
	Case    string `json:"case"`
	OK      bool   `json:"ok"`
	Error   string `json:"error"`
	Remark  string `json:"remark"`
	Without string `json:"without"`
}

// servePage serves the only page that searches find.
func servePage(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/page" {
		http.NotFound(w, r)
		return
	}

	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	io.WriteString(w, "<title>Paper</title><article><h1>Paper</h1><p>"+
		strings.Repeat("Cai Lun made paper. ", 40)+"</p></article>")
}

// startUpstream starts the scripted models with a search engine, and the site that searches find. The site is on another
// port, because opened pages must not reach the models.
func startUpstream(t *testing.T) (web, site *httptest.Server) {
	t.Helper()
	site = httptest.NewServer(http.HandlerFunc(servePage))
	t.Cleanup(site.Close)
	web = httptest.NewServer(&upstream{
		scripted: inferencetest.NewServer(),
		site:     site.URL,
		left:     map[string]int{},
		changed:  make(chan struct{}),
	})
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})

	return web, site
}

// serveBuiltins starts a server with env and the built-in tools, and waits until it offers the tools.
func serveBuiltins(t *testing.T, env map[string]string, web, site *httptest.Server) *e2e.Client {
	t.Helper()
	env = with(with(env, "WORKER_QUEUES", "infer,tools"), "SEARXNG_URL", web.URL)
	env["OUTBOUND_ALLOW_PRIVATE"] = strings.TrimPrefix(site.URL, "http://")
	_, c := e2e.Serve(t, env)
	request := []byte(`{"model":"model","messages":[{"role":"user","content":"Hi"}],` +
		`"tools":[{"type":"code_interpreter"},{"type":"browser_search"}]}`)
	wait.Until(t, "the built-in tools are offered", func() bool {
		status, _, _ := c.Do("POST", "/v1/chat/completions", "application/json", request)
		return status == http.StatusOK
	})

	return c
}

// TestClients runs each client, the SDKs' own tests, and compares docs/lab/compatibility.md with the results.
func TestClients(t *testing.T) {
	t.Parallel()

	tools := os.Getenv("PRESSWORK_COMPAT")
	if tools == "" {
		t.Fatal("PRESSWORK_COMPAT is not set; `make compat` runs this test")
	}
	web, site := startUpstream(t)
	models := writeModels(t, web.URL+"/v1")
	// A worker without the queues for pages starts no browser.
	env := map[string]string{"INFERENCE_CONFIG": models, "INFERENCE_VENDOR": "groq", "WORKER_QUEUES": "infer,audio"}
	_, strict := e2e.Serve(t, with(env, "KEYS_CONFIG", writeKeys(t)))
	_, lax := e2e.Serve(t, with(env, "INFERENCE_LAX", "true"))
	withTools := serveBuiltins(t, env, web, site)

	results := map[string]map[string]row{}
	var mu sync.Mutex
	t.Run("client", func(t *testing.T) {
		for _, c := range clients {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				rows := runClient(t, c, tools, "COMPAT_CLIENT="+c.name, "COMPAT_BASE="+strict.Base,
					"COMPAT_LAX_BASE="+lax.Base, "COMPAT_TOOLS_BASE="+withTools.Base, "COMPAT_CONTROL="+web.URL,
					"COMPAT_MODULES="+tools+"/node")
				mu.Lock()
				results[c.name] = rows
				mu.Unlock()

				for _, k := range cases {
					t.Run(k.id, func(t *testing.T) {
						switch r, reported := rows[k.id]; {
						case !reported:
							t.Error("the client printed no row for this case, want one")
						case r.Without == "" && !r.OK:
							t.Errorf("the case failed: %s", r.Error)
						}
					})
				}
			})
		}
	})
	t.Run("own tests", func(t *testing.T) { runOwnTests(t, tools, lax.Base) })
	checkPage(t, tools, results)
}

// with returns a copy of env with another setting.
func with(env map[string]string, name, value string) map[string]string {
	out := maps.Clone(env)
	out[name] = value

	return out
}

// clientLimit is the time limit of a client, for a slow machine. One case takes eleven seconds.
const clientLimit = 3 * time.Minute

// runClient runs a client and returns the rows that it prints, by case.
func runClient(t *testing.T, c client, tools string, env ...string) map[string]row {
	dir, command := c.run(tools)
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	cmd.WaitDelay = time.Second

	defer time.AfterFunc(clientLimit, func() { cmd.Process.Kill() }).Stop()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr

	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}

	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]row{}

	for lines := bufio.NewScanner(out); lines.Scan(); {
		var r row
		if json.Unmarshal(lines.Bytes(), &r) == nil && r.Case != "" {
			rows[r.Case] = r
		}
	}

	if err := cmd.Wait(); err != nil {
		t.Errorf("%s: %v\n%s", c.name, err, stderr.String())
	}

	return rows
}
