package inference

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
	"strings"
)

// The limits of requests for vectors and rankings.
const (
	// MaxInputs bounds the texts of an Embedding, as in OpenAI's reference.
	MaxInputs = 2048
	// MaxInputTokens bounds the tokens of all texts of an Embedding, as in OpenAI's reference.
	MaxInputTokens = 300_000
	// MaxDocuments bounds the documents of a Reranking.
	MaxDocuments = 2048
	// MaxDimensions bounds the numbers of one vector.
	MaxDimensions = 16_384
	// MaxVectorBytes bounds the base64 of all vectors of an answer. They are in the memory of Redis until the caller
	// has read them.
	MaxVectorBytes = 64 << 20
	// MaxBatch and MaxParallelBatches bound Batches.
	MaxBatch           = MaxInputs
	MaxParallelBatches = 16
)

// VectorEngine is an Engine that embeds texts and ranks documents. Failures of the upstream are *Error. Its methods
// return at once when ctx ends.
type VectorEngine interface {
	Engine
	// Embed returns one vector for each input of r, in their order.
	Embed(ctx context.Context, r *Embedding) (*Vectors, error)
	// Rerank returns one rank for each document of r, in any order.
	Rerank(ctx context.Context, r *Reranking) (*Ranking, error)
}

// Batches says how the lists of embedding and rerank requests are divided for a model.
type Batches struct {
	// Size is the largest number of texts or documents in one call of an upstream. Default 128.
	Size int `yaml:"size"`
	// Parallel is the number of calls of one request at a time. Default 2.
	Parallel int `yaml:"parallel"`
}

// Embedding is a request for the vectors of texts. It goes through the queue as JSON.
type Embedding struct {
	// Owner is as in Request.
	Model string `json:"model"`
	Owner string `json:"owner,omitempty"`
	// Texts are the inputs. A caller that has tokens sends Tokens instead, whose ids are those of the model.
	Texts  []string  `json:"texts,omitempty"`
	Tokens [][]int32 `json:"tokens,omitempty"`
	// Dimensions is the length of the vectors; 0 leaves it to the model.
	Dimensions int `json:"dimensions,omitempty"`
}

// Inputs returns the number of inputs.
func (r *Embedding) Inputs() int { return max(len(r.Texts), len(r.Tokens)) }

// Batch returns the request for the inputs with an index from first to end-1.
func (r *Embedding) Batch(first, end int) *Embedding {
	part := *r
	if r.Tokens != nil {
		part.Tokens = r.Tokens[first:end]
	} else {
		part.Texts = r.Texts[first:end]
	}

	return &part
}

// EstimateTokens returns the number of tokens, which is estimated for texts.
func (r *Embedding) EstimateTokens() int {
	tokens := 0
	for _, t := range r.Texts {
		tokens += TextTokens(len(t))
	}

	for _, t := range r.Tokens {
		tokens += len(t)
	}

	return tokens
}

// Vectors are the vectors of consecutive inputs.
type Vectors struct {
	// First marks the vectors that begin with the first input.
	First bool `json:"first,omitempty"`
	// Data has a vector for each input.
	Data []Vector `json:"data"`
	// PromptTokens is the upstream's count; 0 is unknown.
	PromptTokens int `json:"-"`
}

// Vector is the base64 of the numbers of a vector, as float32 in little-endian order. Engines send this form and
// callers ask for it, so that a vector reaches the caller without being decoded.
type Vector string

// NewVector returns the vector of the given bytes.
func NewVector(numbers []byte) Vector { return Vector(base64.StdEncoding.EncodeToString(numbers)) }

// Len returns the number of numbers.
func (v Vector) Len() int {
	padding := strings.Count(string(v[max(0, len(v)-2):]), "=")
	return (base64.StdEncoding.DecodedLen(len(v)) - padding) / 4
}

// Numbers returns the numbers. It returns an error for text that is not the base64 of 32-bit numbers.
func (v Vector) Numbers() ([]float32, error) {
	b, err := base64.StdEncoding.DecodeString(string(v))
	if err != nil {
		return nil, err
	}

	if len(b)%4 != 0 || base64.StdEncoding.EncodedLen(len(b)) != len(v) { // the decoder skips line ends
		return nil, errors.New("a vector is not whole 32-bit numbers")
	}
	numbers := make([]float32, len(b)/4)

	for i := range numbers {
		numbers[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}

	return numbers, nil
}

// Reranking is a request to rank documents by their relevance for a query. It goes through the queue as JSON.
type Reranking struct {
	// Owner is as in Request. Documents have at most MaxDocuments texts.
	Model     string   `json:"model"`
	Owner     string   `json:"owner,omitempty"`
	Query     string   `json:"query"`
	Documents []string `json:"documents"`
	// TopN is how many documents the answer has; 0 is all.
	TopN int `json:"top_n,omitempty"`
}

// EstimateTokens estimates the tokens of the request. An engine reads the query with each document.
func (r *Reranking) EstimateTokens() int {
	tokens := len(r.Documents) * TextTokens(len(r.Query))
	for _, d := range r.Documents {
		tokens += TextTokens(len(d))
	}

	return tokens
}

// Ranking is the ranks of documents.
type Ranking struct {
	Ranks []Rank `json:"ranks"`
	// PromptTokens is the upstream's count; 0 is unknown.
	PromptTokens int `json:"-"`
}

// Rank is the relevance of one document.
type Rank struct {
	// Index is the position of the document in the request.
	Index int `json:"index"`
	// Score is higher for more relevant documents. Its range depends on the model.
	Score float64 `json:"score"`
}
