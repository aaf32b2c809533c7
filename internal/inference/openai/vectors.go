package openai

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"

	"presswork/internal/inference"
	"presswork/internal/inference/jsonbody"
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

	var answer struct {
		Data []struct {
			Index     *int            `json:"index"`
			Embedding json.RawMessage `json:"embedding"`
		} `json:"data"`
		Usage tokenUsage      `json:"usage"`
		Error json.RawMessage `json:"error"`
	}
	if err := c.postJSON(ctx, "/embeddings", request, &answer); err != nil {
		return nil, err
	}

	if upstream.IsSet(answer.Error) {
		return nil, upstream.ErrorOf(http.StatusBadGateway, answer.Error)
	}
	v := &inference.Vectors{Data: make([][]byte, r.Inputs()), PromptTokens: answer.Usage.count()}

	for i, item := range answer.Data {
		at := i
		if item.Index != nil {
			at = *item.Index
		}

		if at < 0 || at >= len(v.Data) || v.Data[at] != nil {
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
		switch length := len(vector) / 4; {
		case vector == nil:
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

// readVector reads a vector from a list of numbers, or from the base64 of float32 in little-endian order.
func readVector(value json.RawMessage) ([]byte, error) {
	var vector []byte

	if len(value) > 0 && value[0] == '"' {
		if err := json.Unmarshal(value, &vector); err != nil || len(vector)%4 != 0 {
			return nil, upstream.Unreadable("a vector is not the base64 of 32-bit numbers")
		}
	} else {
		var numbers []float32
		if err := json.Unmarshal(value, &numbers); err != nil {
			return nil, upstream.Unreadable("a vector is not a list of numbers").WithCause(err)
		}
		vector = make([]byte, 0, 4*len(numbers))

		for _, f := range numbers {
			vector = binary.LittleEndian.AppendUint32(vector, math.Float32bits(f))
		}
	}

	if n := len(vector) / 4; n == 0 || n > inference.MaxDimensions {
		return nil, upstream.Unreadable("a vector has " + strconv.Itoa(n) + " numbers")
	}

	for i := 0; i < len(vector); i += 4 {
		if f := float64(numberAt(vector, i)); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, upstream.Unreadable("a vector has a number that is not finite")
		}
	}

	return vector, nil
}

// numberAt returns the number that begins at a byte of a vector.
func numberAt(vector []byte, at int) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(vector[at:]))
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

	err := c.postJSON(ctx, "/rerank", map[string]any{
		"model":            c.upstream.Model,
		"query":            r.Query,
		"documents":        r.Documents,
		"top_n":            len(r.Documents),
		"return_documents": false,
	}, &answer)
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

func (u tokenUsage) count() int { return upstream.Count(max(u.PromptTokens, u.TotalTokens)) }

// postJSON sends a request as JSON and decodes the whole answer. Errors are *inference.Error or the cause of ctx.
func (c *Client) postJSON(ctx context.Context, path string, request, answer any) error {
	payload, err := json.Marshal(request)
	if err != nil {
		return err
	}

	resp, err := c.conn.Do(ctx, http.MethodPost, path, payload, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()

	if resp.StatusCode != http.StatusOK {
		return upstream.ResponseError(resp)
	}

	b, err := io.ReadAll(io.LimitReader(resp.Body, maxVectorBody+1))
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return upstream.CutOff().WithCause(err)
	case len(b) > maxVectorBody:
		return upstream.Unreadable("it sent more than " + strconv.Itoa(maxVectorBody>>20) + " MB at once")
	}

	if err := json.Unmarshal(b, answer); err != nil {
		return upstream.Unreadable("its answer is not the expected JSON").WithCause(err)
	}

	return nil
}

// VectorCollector builds the answer to an embedding or a rerank request. It is not safe for concurrent use.
type VectorCollector struct {
	// Model is the model's id, ID the id of a ranking.
	Model, ID string
	// Base64 writes the vectors in base64, not as numbers.
	Base64 bool
	// Documents are returned with their ranks; nil returns the ranks alone.
	Documents []string

	vectors [][]byte
	ranking *inference.Ranking
	usage   inference.Usage
}

// Add adds the next frame.
func (c *VectorCollector) Add(f *inference.Frame) {
	if f.Vectors != nil {
		c.vectors = append(c.vectors, f.Vectors.Data...)
	}

	if f.Ranking != nil {
		c.ranking = f.Ranking
	}

	if f.Result != nil {
		c.usage = f.Result.Usage
	}
}

// Failed returns a failure unchanged.
func (c *VectorCollector) Failed(e *inference.Error) *inference.Error { return e }

// Append appends the response, a JSON object, to dst.
func (c *VectorCollector) Append(dst []byte) []byte {
	if c.ranking != nil {
		return c.appendRanking(dst)
	}
	dst = append(c.grow(dst), `{"object":"list","data":[`...)

	for i, vector := range c.vectors {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(append(dst, `{"object":"embedding","index":`...), int64(i), 10)
		dst = c.appendVector(append(dst, `,"embedding":`...), vector)
		dst = append(dst, '}')
	}
	dst = jsonbody.AppendString(append(dst, `],"model":`...), c.Model)

	return append(c.appendTokens(append(dst, `,"usage":`...)), '}')
}

// grow makes room for vectors in base64, so that dst is not copied while it grows.
func (c *VectorCollector) grow(dst []byte) []byte {
	const fields = 64 // bytes around each vector, and around the list

	size := fields
	for _, vector := range c.vectors {
		size += base64.StdEncoding.EncodedLen(len(vector)) + fields
	}

	return slices.Grow(dst, size)
}

// appendVector writes a vector as a list of numbers or in base64.
func (c *VectorCollector) appendVector(dst, vector []byte) []byte {
	if c.Base64 {
		dst = base64.StdEncoding.AppendEncode(append(dst, '"'), vector)
		return append(dst, '"')
	}
	dst = append(dst, '[')

	for i := 0; i+4 <= len(vector); i += 4 {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendFloat(dst, float64(numberAt(vector, i)), 'g', -1, 32)
	}

	return append(dst, ']')
}

// appendRanking writes a ranking with the fields of Cohere (meta) and of vLLM (usage).
func (c *VectorCollector) appendRanking(dst []byte) []byte {
	dst = jsonbody.AppendString(append(dst, `{"id":`...), c.ID)
	dst = jsonbody.AppendString(append(dst, `,"object":"list","model":`...), c.Model)
	dst = append(dst, `,"results":[`...)

	for i, rank := range c.ranking.Ranks {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(append(dst, `{"index":`...), int64(rank.Index), 10)
		dst = strconv.AppendFloat(append(dst, `,"relevance_score":`...), rank.Score, 'g', -1, 64)

		if rank.Index < len(c.Documents) {
			dst = jsonbody.AppendString(append(dst, `,"document":{"text":`...), c.Documents[rank.Index])
			dst = append(dst, '}')
		}
		dst = append(dst, '}')
	}
	dst = append(dst, `],"meta":{"api_version":{"version":"2"},"tokens":{"input_tokens":`...)
	dst = strconv.AppendInt(dst, int64(c.usage.PromptTokens), 10)

	return append(c.appendTokens(append(dst, `}},"usage":`...)), '}')
}

// appendTokens writes the usage object.
func (c *VectorCollector) appendTokens(dst []byte) []byte {
	dst = strconv.AppendInt(append(dst, `{"prompt_tokens":`...), int64(c.usage.PromptTokens), 10)
	dst = strconv.AppendInt(append(dst, `,"total_tokens":`...), int64(c.usage.PromptTokens), 10)

	if c.usage.EstimatedTokens > 0 {
		dst = append(dst, `,"estimated":true`...)
	}

	return append(dst, '}')
}
