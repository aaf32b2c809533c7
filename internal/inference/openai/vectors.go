package openai

import (
	"context"
	"encoding/json"
	"net/http"

	"presswork/internal/inference"
	"presswork/internal/inference/upstream"
)

// maxVectorBody bounds the answer of an upstream to one batch, in bytes. A number takes about 12 bytes of JSON.
const maxVectorBody = 4 * inference.MaxVectorBytes

// Embed sends inputs to /embeddings (OpenAI: embeddings) and returns one vector for each input, in their order. It
// reads vectors as numbers and in base64. Errors are *inference.Error or the cause of ctx.
func (c *Client) Embed(ctx context.Context, r *inference.Embedding) (*inference.Vectors, error) {
	request := map[string]any{"model": c.upstream.Model, "input": r.Texts}
	if r.Tokens != nil {
		request["input"] = r.Tokens
	}

	if engines[c.upstream.Kind].base64 {
		request["encoding_format"] = "base64"
	}

	if r.Dimensions > 0 {
		request["dimensions"] = r.Dimensions
	}

	b, err := c.postJSON(ctx, "/embeddings", request)
	if err != nil {
		return nil, err
	}

	answer, err := readEmbeddings(b)
	if err != nil {
		return nil, err
	}

	if upstream.IsSet(answer.Error) {
		return nil, upstream.ErrorOf(http.StatusBadGateway, answer.Error)
	}
	v := &inference.Vectors{Data: make([]inference.Vector, r.Inputs()), PromptTokens: answer.Usage.count()}

	for i, item := range answer.Data {
		at := i
		if item.Index != nil {
			at = *item.Index
		}

		if at < 0 || at >= len(v.Data) || v.Data[at] != "" {
			return nil, upstream.Unreadable("its vectors have wrong indices")
		}

		vector, err := readVector(item.Embedding)
		if err != nil {
			return nil, err
		}
		v.Data[at] = vector
	}

	return v, checkVectors(r, v)
}

// checkVectors returns an error unless there is a vector for each input and all have the requested length.
func checkVectors(r *inference.Embedding, v *inference.Vectors) error {
	for _, vector := range v.Data {
		switch length := vector.Len(); {
		case vector == "":
			return upstream.Unreadable("it returned fewer vectors than inputs")
		case r.Dimensions > 0 && length != r.Dimensions:
			return inference.Invalidf("dimensions", "the model `%s` gives vectors of %d numbers, not %d; "+
				"leave `dimensions` out", r.Model, length, r.Dimensions)
		case len(vector) != len(v.Data[0]):
			return upstream.Unreadable("its vectors differ in length")
		}
	}

	return nil
}

// Rerank sends documents to /rerank, in the form that Cohere, Jina, vLLM and llama-server share. It returns a rank for
// each document, in the order of the upstream. Errors are as in Embed.
func (c *Client) Rerank(ctx context.Context, r *inference.Reranking) (*inference.Ranking, error) {
	type result struct {
		Index     *int     `json:"index"`
		Relevance *float64 `json:"relevance_score"`
		Score     *float64 `json:"score"`
	}

	var answer struct {
		Results []result        `json:"results"`
		Data    []result        `json:"data"` // Voyage's name
		Usage   tokenUsage      `json:"usage"`
		Error   json.RawMessage `json:"error"`
	}

	b, err := c.postJSON(ctx, "/rerank", map[string]any{
		"model":            c.upstream.Model,
		"query":            r.Query,
		"documents":        r.Documents,
		"top_n":            len(r.Documents),
		"return_documents": false,
	})
	if err == nil {
		err = decodeAnswer(b, &answer)
	}

	if err != nil {
		return nil, err
	}

	if upstream.IsSet(answer.Error) {
		return nil, upstream.ErrorOf(http.StatusBadGateway, answer.Error)
	}
	ranking := &inference.Ranking{PromptTokens: answer.Usage.count()}
	known := make([]bool, len(r.Documents))

	for _, result := range append(answer.Results, answer.Data...) {
		score := result.Relevance
		if score == nil {
			score = result.Score
		}

		if result.Index == nil || score == nil {
			return nil, upstream.Unreadable("a rank has no index or no score")
		}

		at := *result.Index
		if at < 0 || at >= len(known) || known[at] {
			return nil, upstream.Unreadable("its ranks have wrong indices")
		}
		known[at] = true
		ranking.Ranks = append(ranking.Ranks, inference.Rank{Index: at, Score: *score})
	}

	if len(ranking.Ranks) < len(known) {
		return nil, upstream.Unreadable("it returned fewer ranks than documents")
	}

	return ranking, nil
}

// tokenUsage is the usage of an embedding or a rerank. Servers fill in either or both.
type tokenUsage struct {
	PromptTokens float64 `json:"prompt_tokens"`
	TotalTokens  float64 `json:"total_tokens"`
}

// count returns the larger number: some servers leave one of them 0.
func (u tokenUsage) count() int { return upstream.Count(max(u.PromptTokens, u.TotalTokens)) }

// postJSON sends a request as JSON and returns the whole answer. Errors are *inference.Error or the cause of ctx.
func (c *Client) postJSON(ctx context.Context, path string, request any) ([]byte, error) {
	payload, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}

	resp, err := c.conn.Do(ctx, http.MethodPost, path, payload, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()

	if resp.StatusCode != http.StatusOK {
		return nil, upstream.ResponseError(resp)
	}

	return upstream.ReadWhole(ctx, resp.Body, maxVectorBody)
}

// decodeAnswer decodes an answer of postJSON. Errors are *inference.Error.
func decodeAnswer(b []byte, answer any) error {
	if err := json.Unmarshal(b, answer); err != nil {
		return upstream.Unreadable("its answer is not the expected JSON").WithCause(err)
	}

	return nil
}
