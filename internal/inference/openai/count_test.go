package openai_test

import (
	"strings"
	"testing"

	"presswork/internal/inference"
	"presswork/internal/inference/inferencetest"
)

func TestEnginesCountTokensOrTheCountIsEstimated(t *testing.T) {
	t.Parallel()
	const estimate = -1

	for name, row := range map[string]struct {
		model, kind, fields string
		want                int
		sent                string // a part of the last request
	}{
		"vLLM":                 {"m", inference.VLLM, "", inferencetest.Counted, `"messages":[{"role":"user","content":"Hi"}]`},
		"vLLM without thought": {"m", inference.VLLM, `,"reasoning_effort":"none"`, inferencetest.Counted, `"enable_thinking":false`},
		"llama-server":         {"m", inference.LlamaServer, "", 1, `"parse_special":true`},
		"llama-server with a tool": {
			"m", inference.LlamaServer, `,"tools":[{"type":"function","function":{"name":"f"}}]`, 2, `"content":"word word "`,
		},
		"fails":        {"count-broken", inference.VLLM, "", estimate, `"count-broken"`},
		"no tokenizer": {"m", inference.Plain, "", estimate, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, base := inferencetest.Start(t)
			r := chat(t, row.model, strings.TrimPrefix(`"n":1`+row.fields, ","))
			g := newGateway(model(row.model, row.kind, base))

			count, result, err := g.CountTokens(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}

			want := inference.TokenCount{Tokens: row.want}
			if row.want == estimate {
				want = inference.TokenCount{Tokens: r.EstimateTokens(), Estimated: true}
			}

			if count != want {
				t.Errorf("counted %+v, want %+v", count, want)
			}

			if result.Usage != (inference.Usage{}) || result.Model != row.model {
				t.Errorf("the result is %+v, want the model and no usage", result)
			}
			requests := server.Requests()

			if row.sent == "" {
				if len(requests) > 0 {
					t.Errorf("%d requests were sent, want none", len(requests))
				}

				return
			}

			if last := string(requests[len(requests)-1].Raw); !strings.Contains(last, row.sent) {
				t.Errorf("sent %s, want %s in it", last, row.sent)
			}
		})
	}
}

// The count would make the engine fetch the image.
func TestEnginesThatCountGetNoAddressesOfImages(t *testing.T) {
	t.Parallel()
	server, base := inferencetest.Start(t)
	g := newGateway(model("m", inference.VLLM, base))
	r := parse(t, `{"model":"m","messages":[{"role":"user","content":[
		{"type":"image_url","image_url":{"url":"http://10.0.0.1/secret.png"}}]}]}`)

	count, _, err := g.CountTokens(t.Context(), r)
	if err != nil || !count.Estimated || len(server.Requests()) > 0 {
		t.Errorf("counted %+v, %v with %d requests; want an estimate without a request", count, err,
			len(server.Requests()))
	}
}

func TestCountTriesTheNextUpstreamIfTheFirstIsUnreachable(t *testing.T) {
	t.Parallel()
	_, base := inferencetest.Start(t)
	m := model("m", inference.VLLM, "http://127.0.0.1:1")
	m.Upstreams = append(m.Upstreams, inference.Upstream{Kind: inference.VLLM, BaseURL: base, Priority: 1})
	g := newGateway(m)

	count, _, err := g.CountTokens(t.Context(), chat(t, "m"))
	if want := (inference.TokenCount{Tokens: inferencetest.Counted}); err != nil || count != want {
		t.Errorf("counted %+v, %v; want %+v", count, err, want)
	}

	if first := g.Explain(&m)[0]; first.CoolingUntil.IsZero() {
		t.Errorf("the unreachable upstream is %+v, want that it cools", first)
	}
}
