package openai_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"presswork/internal/inference"
	"presswork/internal/inference/gateway"
	"presswork/internal/inference/inferencetest"
	"presswork/internal/inference/openai"
	"presswork/internal/inference/openai/wire"
	"presswork/internal/test/wait"
)

func TestDisconnectStopsTheUpstream(t *testing.T) {
	t.Parallel()

	for _, scenario := range []string{"hang", "hang-open", "hang-middle", "tokens:1000@20"} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			server, base := inferencetest.Start(t)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)

			go func() {
				_, err := newGateway(
					model(scenario, inference.Plain, base),
				).Complete(ctx, chat(t, scenario), func(*inference.Chunk) error { return nil })
				done <- err
			}()

			if err := server.WaitRequests(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			cancel()

			if e := inference.AsError(wait.Receive(t, "the end", done)); e == nil || e.Status != 499 {
				t.Errorf("got %v, want status 499", e)
			}
			// The slowest scenario would send for another 50 s.
			soon, stop := context.WithTimeout(t.Context(), 40*time.Second)
			defer stop()

			if err := server.WaitDisconnected(soon, 1); err != nil {
				t.Fatalf("the upstream was not disconnected: %v", err)
			}
		})
	}
}

func TestFailoverBeforeTheFirstTokenIsInvisible(t *testing.T) {
	t.Parallel()

	base := startServer(t)
	for _, scenario := range []string{"status:500", "status:401", "status:404", "status:429", "html", "garbage", "cut-first", "error-first"} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			m := model("m", inference.Plain, base)

			m.Upstreams[0].Model = scenario
			if scenario == "error-first" {
				m.Upstreams[0].BaseURL = "http://127.0.0.1:1/v1" // no server runs there
			}
			m.Upstreams = append(
				m.Upstreams,
				inference.Upstream{Name: "second", BaseURL: base, Model: "hello", Priority: 1},
			)

			a, result, err := complete(t, newGateway(m), chat(t, "m"))
			if err != nil || a.content() != "Hello, world!" || result.Upstream != "second" || result.Attempts != 2 {
				t.Errorf("got %+v of %+v, %v; want the answer of second after 2 attempts", a, result, err)
			}
		})
	}
}

func TestKeysAreNotSentToRedirects(t *testing.T) {
	t.Parallel()
	var elsewhere []http.Header

	other := httptest.NewServer(
		http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { elsewhere = append(elsewhere, r.Header) }),
	)
	defer other.Close()

	redirect := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	defer redirect.Close()
	m := model("m", inference.Plain, redirect.URL)
	m.Upstreams[0].APIKey = "s3cret"

	_, _, err := complete(t, newGateway(m), chat(t, "m"))
	if e := inference.AsError(err); e == nil || e.Status != 502 || len(elsewhere) != 0 {
		t.Errorf("got %v, and %d requests followed the redirect; want status 502 and none", e, len(elsewhere))
	}

	server, base := inferencetest.Start(t)
	m = model("hello", inference.Plain, base)

	m.Upstreams[0].APIKey, m.Upstreams[0].Headers = "s3cret", map[string]string{"X-Team": "press"}

	_, _, err = complete(t, newGateway(m), chat(t, "hello"))
	if err != nil {
		t.Fatal(err)
	}

	if h := server.Requests()[0].Header; h.Get("Authorization") != "Bearer s3cret" || h.Get("X-Team") != "press" {
		t.Errorf("headers are %v, want the key and X-Team", h)
	}
}

func TestConnectionsAreReused(t *testing.T) {
	t.Parallel()
	var opened atomic.Int32
	scripted := inferencetest.NewServer()
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scripted.ServeHTTP(w, r)
		time.Sleep(time.Millisecond) // so that the end of the body comes in a separate packet
	}))
	web.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}

	web.Start()
	defer web.Close()
	g := newGateway(model("hello", inference.Plain, web.URL+"/v1"))

	const requests = 20
	for range requests {
		_, _, err := complete(t, g, chat(t, "hello"))
		if err != nil {
			t.Fatal(err)
		}
	}

	if n := opened.Load(); n != 1 {
		t.Errorf("%d connections for %d requests, want 1", n, requests)
	}
}

func TestCommentsAndEmptyChunksEmitEmptyDeltas(t *testing.T) {
	t.Parallel()
	const chunk = `{"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}`

	for name, keepAlive := range map[string]string{
		"comments": ": keep-alive\n\n: keep-alive\n\n", "roles": strings.Repeat(`data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`+"\n\n", 2),
		"chunks without choices": strings.Repeat(`data: {"choices":[]}`+"\n\n", 2), "empty data": "data:\n\ndata:\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			deltas, err := openai.Stream(t.Context(), keepAlive+"data: "+chunk+"\n\n")
			if err != nil || len(deltas) != 3 || deltas[0].Content != "" || deltas[0].Finish != "" ||
				deltas[2].Content != "Hi" {
				t.Errorf("got %+v, %v; want two empty deltas and \"Hi\"", deltas, err)
			}
		})
	}
}

func TestCheckReportsModelsThatUpstreamsDoNotServe(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	ok, unknownModel := model("hello", inference.Plain, base), model("nothing", inference.Plain, base)
	noServer := model("dead", inference.Plain, "http://127.0.0.1:1/v1")
	g := newGateway()
	c := inference.NewCatalogue([]inference.Model{ok, unknownModel, noServer})

	got := g.Check(t.Context(), c.Models())
	if len(got) != 3 || !got[0].OK || !got[0].Served || !got[1].OK || got[1].Served ||
		!slices.Contains(got[1].Serves, "hello") || got[2].OK ||
		!strings.Contains(got[2].Error, "does not answer") {
		t.Errorf("got %+v; want one served model, one that its upstream does not serve, and one without a server", got)
	}
}

func TestLlamaServerIsFound(t *testing.T) {
	t.Parallel()
	owner := "llamacpp"
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w,
			`{"object":"list","data":[{"id":"/models/qwen3-8b.gguf","owned_by":%q,"meta":{"n_ctx_train":40960}}]}`,
			owner)
	})
	mux.HandleFunc("GET /props", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"default_generation_settings":{"n_ctx":8192},"modalities":{"vision":true}}`)
	})

	web := httptest.NewServer(mux)
	defer web.Close()

	models, err := openai.FindLlamaServer(t.Context(), web.URL)
	if err != nil || len(models) != 1 || models[0].ID != "qwen3-8b" || models[0].ContextWindow != 8192 ||
		!models[0].Can(inference.CanVision) || models[0].Upstreams[0].Model != "/models/qwen3-8b.gguf" {
		t.Errorf("got %+v, %v; want qwen3-8b with 8192 tokens and vision", models, err)
	}
	owner = "acme"

	if models, err := openai.FindLlamaServer(t.Context(), web.URL); err == nil {
		t.Errorf("a server of another owner: got the models %+v, want an error", models)
	}
}

// ExampleWriter runs a gateway with one upstream. The Writer turns its chunks into the events of a stream.
func ExampleWriter() {
	server := httptest.NewServer(inferencetest.NewServer())
	defer server.Close()
	models := inference.NewCatalogue(
		[]inference.Model{{ID: "hello", Upstreams: []inference.Upstream{{BaseURL: server.URL + "/v1"}}}},
	)
	g := gateway.New(gateway.Options{Catalogue: func() *inference.Catalogue { return models }, Open: openai.New})

	request, err := wire.ParseRequest(
		[]byte(`{"model":"hello","stream":true,"messages":[{"role":"user","content":"Hi"}]}`),
		wire.ParseOptions{},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	w := wire.NewWriter(wire.Head{
		ID:        "chatcmpl-1",
		RequestID: "req_1",
		Model:     "hello",
		Created:   time.Unix(0, 0),
		Vendor:    "presswork",
	})
	_, err = g.Complete(context.Background(), request, func(c *inference.Chunk) error {
		event := w.Append(nil, c)
		if c.Content == "Hello" {
			fmt.Printf("%s", event)
		}

		return nil
	})
	fmt.Println(err)
	// Output:
	// data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":0,"model":"hello","system_fingerprint":"fp_scripted01","choices":[{"index":0,"delta":{"content":"Hello"},"logprobs":null,"finish_reason":null}]}
	//
	// <nil>
}

// BenchmarkChunk measures an answer of 500 chunks through client, normaliser and writer.
func BenchmarkChunk(b *testing.B) {
	_, base := inferencetest.Start(b)
	g := newGateway(model("tokens:500@0", inference.Plain, base))
	var buf []byte

	for b.Loop() {
		r, err := wire.ParseRequest(
			[]byte(`{"model":"tokens:500@0","stream":true,"messages":[{"role":"user","content":"Hi"}]}`),
			wire.ParseOptions{},
		)
		if err != nil {
			b.Fatal(err)
		}
		w := wire.NewWriter(wire.Head{ID: "chatcmpl-1", Vendor: "presswork"})

		_, err = g.Complete(b.Context(), r, func(c *inference.Chunk) error { buf = w.Append(buf[:0], c); return nil })
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/500, "ns/chunk")
}
