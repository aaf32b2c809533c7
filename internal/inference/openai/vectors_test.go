package openai_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/inference/gateway"
	"presswork/internal/inference/inferencetest"
	"presswork/internal/inference/openai/wire"
)

// vectorModel returns a model for embeddings and rankings whose batches have two items.
func vectorModel(scenario, kind, base string) inference.Model {
	return inference.Model{
		ID:           scenario,
		Capabilities: []string{inference.CanEmbed, inference.CanRerank},
		Batches:      inference.Batches{Size: 2},
		Upstreams:    []inference.Upstream{{Name: "scripted", Kind: kind, BaseURL: base}},
	}
}

func TestVectorsComeInTheOrderOfTheInputs(t *testing.T) {
	t.Parallel()
	texts := []string{"one", "two of them", "three", "four", "five", "six", "seven"}

	for _, row := range []struct {
		scenario, kind string
		estimated      bool
	}{
		{scenario: "vector", kind: inference.Plain},
		{scenario: "vector", kind: inference.VLLM}, // vectors in base64
		{scenario: "vector-reversed", kind: inference.Plain},
		{scenario: "vector-fail-once", kind: inference.Plain},
		{scenario: "vector-uncounted", kind: inference.OpenAI, estimated: true},
	} {
		t.Run(row.scenario+"/"+row.kind, func(t *testing.T) {
			t.Parallel()
			server, base := inferencetest.Start(t)
			g := newGateway(vectorModel(row.scenario, row.kind, base))

			v, result, err := g.Embed(
				t.Context(),
				&inference.Embedding{Model: row.scenario, Texts: texts, Dimensions: 5},
			)
			if err != nil {
				t.Fatal(err)
			}

			for i, text := range texts {
				want := inferencetest.Vector(text, 5)
				if got, err := v.Data[i].Numbers(); err != nil || !slices.Equal(got, want) {
					t.Errorf("the vector of %q is %v, %v; want %v", text, got, err, want)
				}
			}

			u := result.Usage
			if u.PromptTokens == 0 || u.TotalTokens != u.PromptTokens || (u.EstimatedTokens > 0) != row.estimated {
				t.Errorf("the usage is %+v, want prompt tokens, estimated: %v", u, row.estimated)
			}

			for _, r := range server.Requests() {
				in := strings.Contains(string(r.Raw), `"encoding_format":"base64"`)
				if in != (row.kind != inference.Plain) || !strings.Contains(string(r.Raw), `"dimensions":5`) {
					t.Errorf("an upstream of kind %s got %s, want dimensions 5, base64: %v", row.kind, r.Raw,
						row.kind != inference.Plain)
				}
			}

			if n := len(server.Requests()); n < 4 {
				t.Errorf("seven texts in batches of two were sent in %d requests, want 4 or more", n)
			}
		})
	}
}

func TestTokensAreSentUnchanged(t *testing.T) {
	t.Parallel()
	server, base := inferencetest.Start(t)
	g := newGateway(vectorModel("vector", inference.Plain, base))

	v, _, err := g.Embed(t.Context(), &inference.Embedding{Model: "vector", Tokens: [][]int32{{7, 8}, {9}, {10}}})
	if err != nil || len(v.Data) != 3 {
		t.Fatalf("got %v, %v; want 3 vectors", v, err)
	}

	var sent []string
	for _, r := range server.Requests() {
		sent = append(sent, string(r.Raw))
	}
	slices.Sort(sent)

	want := []string{`{"input":[[10]],"model":"vector"}`, `{"input":[[7,8],[9]],"model":"vector"}`}
	if !slices.Equal(sent, want) {
		t.Errorf("sent %q, want %q", sent, want)
	}
}

func TestInvalidVectorsAreErrors(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	embed := func(g *gateway.Gateway, model string) error {
		_, _, err := g.Embed(t.Context(), &inference.Embedding{Model: model, Texts: []string{"a", "b"}, Dimensions: 3})
		return err
	}

	for scenario, want := range map[string]struct {
		code fault.Code
		text string
	}{
		"vector-fixed":  {fault.InvalidOption, "gives vectors of 8 numbers, not 3"},
		"vector-short":  {inference.UpstreamError, "fewer vectors"},
		"vector-nan":    {inference.UpstreamError, "not finite"},
		"vector-broken": {inference.UpstreamError, "not the expected JSON"},
		"vector-error":  {fault.InvalidRequest, "no such pooling"},
		"vector-absent": {inference.UpstreamError, "does not have this model"},
	} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			err := embed(newGateway(vectorModel(scenario, inference.Plain, base)), scenario)

			if e := inference.AsError(err); e == nil || e.Code != want.code || !strings.Contains(e.Message, want.text) {
				t.Errorf("got %v, want %s: … %s …", err, want.code, want.text)
			}
		})
	}
}

func TestSilentVectorUpstreamTimesOut(t *testing.T) {
	t.Parallel()
	server, base := inferencetest.Start(t)
	m := vectorModel("vector-hang", inference.Plain, base)
	m.Routing.FirstTokenTimeout = 50 * time.Millisecond

	_, _, err := newGateway(m).Embed(t.Context(), &inference.Embedding{Model: m.ID, Texts: []string{"a"}})
	if e := inference.AsError(err); e == nil || e.Code != inference.UpstreamTimeout || e.Retryable {
		t.Errorf("got %v, want a time-out that is not retryable", err)
	}

	if err := server.WaitDisconnected(t.Context(), 1); err != nil {
		t.Error(err)
	}
}

func TestDocumentsAreRankedAcrossBatches(t *testing.T) {
	t.Parallel()

	for _, scenario := range []string{"ranker", "ranker-scores"} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			g := newGateway(vectorModel(scenario, inference.Plain, startServer(t)))

			ranking, result, err := g.Rerank(t.Context(), &inference.Reranking{
				Model: scenario, Query: "red fox", TopN: 3,
				Documents: []string{"a blue whale", "red", "a red car", "the fox", "a red fox is red"},
			})
			if err != nil {
				t.Fatal(err)
			}

			want := []inference.Rank{{Index: 1, Score: 1}, {Index: 4, Score: .6}, {Index: 3, Score: .5}}
			if !slices.Equal(ranking.Ranks, want) || result.Usage.PromptTokens != 50 {
				t.Errorf("got %+v with the usage %+v, want %+v with 50 tokens", ranking.Ranks, result.Usage, want)
			}
		})
	}
}

func TestInvalidRankingsAreErrors(t *testing.T) {
	t.Parallel()
	base := startServer(t)

	for scenario, want := range map[string]string{
		"ranker-short": "fewer ranks than documents", "ranker-twice": "wrong indices",
	} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			_, _, err := newGateway(vectorModel(scenario, inference.Plain, base)).
				Rerank(t.Context(), &inference.Reranking{Model: scenario, Query: "q", Documents: []string{"a", "b"}})

			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

func TestEmbeddingRequestsAreParsedOrNameTheField(t *testing.T) {
	t.Parallel()

	// The value is the parsed request, or part of the error.
	for body, want := range map[string]string{
		`{"model":"m","input":"a"}`:                                    `{"model":"m","texts":["a"]}`,
		`{"model":"m","input":["a","b"],"dimensions":4,"unknown":1}`:   `{"model":"m","texts":["a","b"],"dimensions":4}`,
		`{"model":"m","input":[1,2]}`:                                  `{"model":"m","tokens":[[1,2]]}`,
		`{"model":"m","input":[[1],[2,3]],"encoding_format":"base64"}`: `{"model":"m","tokens":[[1],[2,3]]}`,
		`{"input":"a"}`:                                                    "'model' : property 'model' is missing",
		`{"model":"m"}`:                                                    "'input' : property 'input' is missing",
		`{"model":"m","input":""}`:                                         "'input[0]' : must not be empty",
		`{"model":"m","input":[]}`:                                         "'input' : must not be empty",
		`{"model":"m","input":["a",null]}`:                                 "'input[1]' : value must be a string",
		`{"model":"m","input":["a",""]}`:                                   "'input[1]' : must not be empty",
		`{"model":"m","input":[["a"]]}`:                                    "'input' : value must be a text, a list of texts",
		`{"model":"m","input":{}}`:                                         "'input' : value must be a text, a list of texts",
		`{"model":"m","input":"a","dimensions":0}`:                         "'dimensions' : 0 is not allowed; it must be between 1 and 16384",
		`{"model":"m","input":"a","encoding_format":"int8"}`:               "'encoding_format' : value \"int8\" must be one of [float, base64]",
		`{"model":"m","input":["a"`:                                        "the body is not valid JSON",
		`{"model":"m","input":[` + strings.Repeat(`"a",`, 2048) + `"a"]}`:  "'input' : has 2049 inputs; allowed: up to 2048",
		`{"model":"m","input":"` + strings.Repeat(`long `, 240_001) + `"}`: "'input' : has about 300002 tokens; allowed: up to 300000",
	} {
		t.Run(body[:min(len(body), 60)], func(t *testing.T) {
			t.Parallel()
			r, inBase64, err := wire.ParseEmbedding([]byte(body))
			got, _ := json.Marshal(r)

			text := fmt.Sprint(err)
			if err != nil && !strings.Contains(text, want) || err == nil && string(got) != want {
				t.Errorf("got %.100s, %v; want %s", got, err, want)
			}

			if inBase64 != strings.Contains(body, "base64") {
				t.Errorf("base64 is %v, want %v", inBase64, !inBase64)
			}
		})
	}
}

func TestRerankingRequestsAreParsedOrNameTheField(t *testing.T) {
	t.Parallel()

	// The value is the parsed request, or part of the error.
	for body, want := range map[string]string{
		`{"model":"m","query":"q","documents":["a",{"text":"b"}],"top_n":1}`: `{"model":"m","query":"q","documents":["a","b"],"top_n":1}`,
		`{"model":"m","query":"q","documents":[]}`:                           "'documents' : must have at least one text",
		`{"model":"m","documents":["a"]}`:                                    "'query' : property 'query' is missing",
		`{"model":"m","query":"q","documents":["a",7]}`:                      "'documents[1]' : value must be a text",
		`{"model":"m","query":"q","documents":[{"title":"a"}]}`:              "'documents[0].text' : property 'text' is missing",
		`{"model":"m","query":"q","documents":"a"}`:                          "'documents' : value must be a list",
		`{"model":"m","query":"q","documents":["a"],"top_n":-1}`:             "'top_n' : -1 is not allowed; it must be between 0 and 2048",
		`{"model":"m","query":"` + strings.Repeat("q", 400_000) + `","documents":[` +
			strings.Repeat(`"a",`, 20) + `"a"]}`: "'documents' : have about 2100021 tokens with the query; allowed: up to 1200000",
	} {
		t.Run(body[:min(len(body), 60)], func(t *testing.T) {
			t.Parallel()
			r, _, err := wire.ParseReranking([]byte(body))
			got, _ := json.Marshal(r)

			text := fmt.Sprint(err)
			if err != nil && !strings.Contains(text, want) || err == nil && string(got) != want {
				t.Errorf("got %.100s, %v; want %s", got, err, want)
			}
		})
	}
}
