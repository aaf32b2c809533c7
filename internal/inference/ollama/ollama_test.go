package ollama_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"presswork/internal/inference"
	"presswork/internal/inference/ollama"
)

// fakeOllama starts a server that answers like Ollama 0.17. It returns a client of the server, and a counter of the
// requests to /api/show.
func fakeOllama(t *testing.T) (*ollama.Client, *atomic.Int32) {
	var shows atomic.Int32
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/tags", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(
			w,
			`{"models":[{"name":"nomic-embed:latest","digest":"c"},{"name":"qwen3:8b","digest":"a"},`+
				`{"name":"gemma:latest","digest":"b"},{"name":"gone:1b","digest":"d"}]}`,
		)
	})
	mux.HandleFunc("POST /api/show", func(w http.ResponseWriter, r *http.Request) {
		shows.Add(1)
		var q struct{ Model string }
		json.NewDecoder(r.Body).Decode(&q)

		switch q.Model {
		case "qwen3:8b":
			fmt.Fprint(
				w,
				`{"capabilities":["completion","tools","thinking"],`+
					`"model_info":{"general.architecture":"qwen3","qwen3.context_length":40960}}`,
			)
		case "gemma:latest":
			fmt.Fprint(w, `{"capabilities":["completion","vision"],"model_info":{}}`)
		case "nomic-embed:latest":
			fmt.Fprint(w, `{"capabilities":["embedding"]}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"error":"model not found"}`)
		}
	})
	mux.HandleFunc("POST /api/pull", func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Model string }
		json.NewDecoder(r.Body).Decode(&q)

		if q.Model == "cut" {
			fmt.Fprintln(w, `{"status":"pulling manifest"}`)
			return
		}

		if q.Model != "qwen3:8b" {
			fmt.Fprintln(w, `{"status":"pulling manifest"}`)
			fmt.Fprintln(w, `{"error":"pull model manifest: file does not exist"}`)

			return
		}

		for _, line := range []string{
			`{"status":"pulling manifest"}`,
			`{"status":"pulling ab12","digest":"sha256:ab12","total":100,"completed":40}`,
			`{"status":"pulling ab12","digest":"sha256:ab12","total":100,"completed":100}`,
			`{"status":"success"}`,
		} {
			fmt.Fprintln(w, line)
		}
	})
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)

	return ollama.New(web.URL), &shows
}

func TestModelsHaveTheirCapabilitiesAndAliases(t *testing.T) {
	t.Parallel()
	c, shows := fakeOllama(t)

	models, err := c.Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	// Ollama lists gone:1b, but has no details of it.
	if len(models) != 3 {
		t.Fatalf("got %+v, want qwen3:8b, gemma:latest and nomic-embed:latest", models)
	}

	nomic := models[2]
	if nomic.ID != "nomic-embed:latest" || !slices.Equal(nomic.Capabilities, []string{inference.CanEmbed}) {
		t.Errorf("got the last model %+v, want nomic-embed:latest, which can only embed", nomic)
	}

	qwen, gemma := models[0], models[1]
	if qwen.ID != "qwen3:8b" || qwen.ContextWindow != 40960 || !qwen.Can(inference.CanTools) ||
		!qwen.Can(inference.CanReason) || qwen.Can(inference.CanVision) {
		t.Errorf("got %+v, want qwen3:8b with 40960 tokens, tools and reasoning, without vision", qwen)
	}

	if !slices.Equal(gemma.Aliases, []string{"gemma"}) || !gemma.Can(inference.CanVision) ||
		gemma.Can(inference.CanTools) || len(*gemma.Reasoning.Efforts) != 0 {
		t.Errorf("got %+v, want the alias gemma and vision, without tools and reasoning", gemma)
	}

	u := qwen.Upstreams[0]
	if u.Kind != inference.Ollama || !strings.HasSuffix(u.BaseURL, "/v1") || u.Model != "qwen3:8b" {
		t.Errorf("got the upstream %+v, want qwen3:8b of Ollama below /v1", u)
	}

	before := shows.Load()
	if _, err := c.Models(t.Context()); err != nil || shows.Load() != before+1 {
		t.Errorf("requested the details of %d models again, want only the failed one (%v)", shows.Load()-before, err)
	}
}

func TestPullReportsProgressAndFailures(t *testing.T) {
	t.Parallel()
	c, _ := fakeOllama(t)
	var seen []ollama.Progress

	if err := c.Pull(t.Context(), "qwen3:8b", func(p ollama.Progress) { seen = append(seen, p) }); err != nil {
		t.Fatal(err)
	}

	if len(seen) != 4 || seen[1].Completed != 40 || seen[1].Total != 100 {
		t.Errorf("got the progress %+v, want 4 steps, the second with 40 of 100 bytes", seen)
	}

	for name, says := range map[string]string{"nothing": "file does not exist", "cut": "stopped before"} {
		t.Run(name, func(t *testing.T) {
			err := c.Pull(t.Context(), name, func(ollama.Progress) {})
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("Pull(%q) = %v, want an error with %q", name, err, says)
			}
		})
	}

	_, err := ollama.New("http://127.0.0.1:1").Models(t.Context())
	if err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("a server that does not run: got %v, want \"does not answer\"", err)
	}
}
