package e2e_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/e2e"
	"presswork/internal/test/wait"
)

// vectorModels writes a models.yaml for embeddings in batches of three and for rankings, and returns its path.
func vectorModels(t testing.TB, base string, names ...string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("models:\n")

	for _, name := range names {
		fmt.Fprintf(&b, "  - id: %q\n    capabilities: [embeddings, rerank]\n    batches: {size: 3, parallel: 2}\n"+
			"    upstreams: [{base_url: %q}]\n", name, base)
	}
	fmt.Fprintf(&b, "  - {id: chat, upstreams: [{base_url: %q, model: hello}]}\n", base)

	return writeFile(t, "models.yaml", b.String())
}

// writeFile writes text to a file in a new directory and returns its path.
func writeFile(t testing.TB, name, text string) string {
	t.Helper()

	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}

	return path
}

// embeddings is the answer of /v1/embeddings.
type embeddings struct {
	Object string
	Data   []struct {
		Object    string
		Index     int
		Embedding json.RawMessage
	}
	Model string
	Usage struct {
		Prompt int `json:"prompt_tokens"`
		Total  int `json:"total_tokens"`
	}
}

func TestEmbeddingsGoThroughTheQueue(t *testing.T) {
	t.Parallel()
	server, base := inferencetest.Start(t)
	_, c := e2e.Serve(t, map[string]string{
		"INFERENCE_CONFIG": vectorModels(t, base, "vector", "vector:20000", "vector-hang", "vector-fixed", "ranker"),
		"KEYS_CONFIG": writeFile(t, "keys.yaml",
			"keys:\n  - {name: app, key: app-key, admin: true}\n  - {name: small, key: small-key, tpm: 20}\n"),
		"WORKER_QUEUES": "infer",
	})
	c.Key = "app-key"
	post := func(path, body string) (int, http.Header, []byte) {
		return c.Do("POST", path, "application/json", []byte(body))
	}
	texts := []string{"one", "two of them", "three", "four"}
	input, _ := json.Marshal(texts)

	for _, format := range []string{"float", "base64"} {
		status, header, body := post("/v1/embeddings",
			fmt.Sprintf(`{"model":"vector","input":%s,"encoding_format":%q,"dimensions":4}`, input, format))

		var got embeddings
		if err := json.Unmarshal(body, &got); status != 200 || err != nil || len(got.Data) != len(texts) {
			t.Fatalf("status %d, %s; want 200 and %d vectors", status, body, len(texts))
		}

		if got.Object != "list" || got.Model != "vector" || got.Usage.Prompt != 6 || got.Usage.Total != 6 ||
			header.Get("X-Queue-Time-Ms") == "" {
			t.Errorf("headers %v, %s; want a list of the model vector with 6 tokens and a queue time", header, body)
		}

		for i, item := range got.Data {
			want, _ := json.Marshal(inferencetest.Vector(texts[i], 4))
			value := item.Embedding

			if format == "base64" {
				var b []byte
				if err := json.Unmarshal(value, &b); err != nil {
					t.Fatal(err)
				}
				value = want

				if base64.StdEncoding.EncodeToString(b) != strings.Trim(string(item.Embedding), `"`) || len(b) != 16 {
					t.Errorf("vector %d is %s, want 16 bytes in base64", i, item.Embedding)
				}
			}

			if item.Index != i || item.Object != "embedding" || string(value) != string(want) {
				t.Errorf("vector %d is %s, want %s", i, item.Embedding, want)
			}
		}
	}

	status, _, body := post("/openai/v1/rerank", `{"model":"ranker","query":"red fox",`+
		`"documents":["a whale","red","a red car","the fox"],"top_n":2,"return_documents":true}`)
	want := `"model":"ranker","results":[{"index":1,"relevance_score":1,"document":{"text":"red"}},` +
		`{"index":3,"relevance_score":0.5,"document":{"text":"the fox"}}],"meta":{"api_version":{"version":"2"},` +
		`"tokens":{"input_tokens":40}},"usage":{"prompt_tokens":40,"total_tokens":40}}`

	if status != 200 || !strings.HasSuffix(string(body), want) {
		t.Errorf("rerank: status %d, %s; want 200 and %s at the end", status, body, want)
	}

	// Each request is counted once: two embeddings of 6 tokens each and one ranking of 40.
	wait.Until(t, "the usage has the tokens", func() bool {
		_, _, body := c.Do("GET", "/v1/usage?group_by=model", "", nil)

		return strings.Contains(string(body), `"model":"vector"`) &&
			strings.Contains(string(body), `"prompt_tokens":12`) &&
			strings.Contains(string(body), `"prompt_tokens":40`)
	})

	for body, want := range map[string]string{
		`{"model":"chat","input":"a"}`:                        "does not support embeddings",
		`{"model":"absent","input":"a"}`:                      `"code":"model_not_found"`,
		`{"model":"vector","input":[]}`:                       `"param":"input"`,
		`{"model":"vector-fixed","input":"a","dimensions":3}`: "gives vectors of 8 numbers, not 3",
		`{"model":"vector:20000","input":"a"}`:                "a vector has 20000 numbers",
	} {
		if status, _, answer := post("/v1/embeddings", body); status < 400 || !strings.Contains(string(answer), want) {
			t.Errorf("%s: status %d, %s; want an error with %s", body, status, answer, want)
		}
	}

	status, _, answer := post("/v1/chat/completions",
		`{"model":"vector","messages":[{"role":"user","content":"Hi"}]}`)
	if status != 400 {
		t.Errorf("chat with an embedding model: status %d, %s; want 400", status, answer)
	}

	c.Key = "small-key"

	status, _, answer = post("/v1/embeddings", fmt.Sprintf(`{"model":"vector","input":%q}`,
		strings.Repeat("word ", 50)))
	if status != 413 || !strings.Contains(string(answer), "Limit 20, Requested 63") {
		t.Errorf("request beyond the limit of its key: status %d, %s; want 413", status, answer)
	}
	c.Key = "app-key"

	// A client that disconnects frees the engine.
	ctx, disconnect := context.WithCancel(t.Context())
	before := len(server.Requests())
	done := make(chan struct{})

	go func() {
		defer close(done)

		res, err := c.PostJSON(ctx, "/v1/embeddings", []byte(`{"model":"vector-hang","input":"a"}`))
		if err == nil {
			res.Body.Close()
		}
	}()

	soon, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()

	if err := server.WaitRequests(soon, before+1); err != nil {
		t.Fatal(err)
	}
	disconnect()
	<-done

	if err := server.WaitDisconnected(soon, 1); err != nil {
		t.Errorf("the request to the engine is still open: %v", err)
	}
}

// The answer has 22 MB.
func TestLargeAnswerOfEmbeddingsIsComplete(t *testing.T) {
	t.Parallel()
	_, base := inferencetest.Start(t)
	_, c := e2e.Serve(t, map[string]string{
		"INFERENCE_CONFIG": vectorModels(t, base, "vector:4096"), "WORKER_QUEUES": "infer",
	})

	texts := make([]string, 1000)
	for i := range texts {
		texts[i] = fmt.Sprint("text ", i)
	}
	input, _ := json.Marshal(texts)

	status, _, body := c.Do("POST", "/v1/embeddings", "application/json",
		fmt.Appendf(nil, `{"model":"vector:4096","input":%s,"encoding_format":"base64"}`, input))

	var got embeddings
	if err := json.Unmarshal(body, &got); status != 200 || err != nil || len(got.Data) != len(texts) {
		t.Fatalf("status %d, %.300s; want 200 and %d vectors", status, body, len(texts))
	}

	seen := map[string]bool{}
	for i, item := range got.Data {
		seen[string(item.Embedding)] = true
		if want := 2 + base64.StdEncoding.EncodedLen(4*4096); len(item.Embedding) != want {
			t.Errorf("vector %d has %d bytes, want %d", i, len(item.Embedding), want)
		}
	}

	if len(seen) != len(texts) {
		t.Errorf("%d different vectors, want %d", len(seen), len(texts))
	}
}
