package wire

import (
	"slices"
	"strconv"

	"presswork/internal/inference"
	"presswork/internal/inference/jsonbody"
)

// VectorCollector builds the answer to an embedding or a rerank request. It is not safe for concurrent use.
type VectorCollector struct {
	// Model is the model's id, ID the id of a ranking.
	Model, ID string
	// Base64 writes the vectors in base64, not as numbers.
	Base64 bool
	// Documents are returned with their ranks; nil returns the ranks alone.
	Documents []string

	vectors []inference.Vector
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
		size += len(vector) + fields
	}

	return slices.Grow(dst, size)
}

// appendVector writes a vector as a list of numbers or in base64.
func (c *VectorCollector) appendVector(dst []byte, vector inference.Vector) []byte {
	if c.Base64 {
		return append(append(append(dst, '"'), vector...), '"')
	}
	numbers, _ := vector.Numbers() // the worker has checked it
	dst = append(dst, '[')

	for i, f := range numbers {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendFloat(dst, float64(f), 'g', -1, 32)
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
