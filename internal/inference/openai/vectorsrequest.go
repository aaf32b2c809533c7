package openai

import (
	"cmp"
	"encoding/json"
	"strconv"

	"presswork/internal/inference"
)

// inputForms describes the input of a request for embeddings.
const inputForms = "a text, a list of texts, the tokens of a text, or a list of the tokens of texts"

// ParseEmbedding reads the body of a request for embeddings (OpenAI: embeddings). inBase64 reports whether the
// caller wants the vectors in base64. Unknown fields are ignored. Errors are *inference.Error: 400 with the field
// and the allowed values.
func ParseEmbedding(body []byte) (_ *inference.Embedding, inBase64 bool, err error) {
	o := newObject(body, "", &err)
	if err != nil {
		return nil, false, cmp.Or(syntaxError(body), err)
	}
	r := &inference.Embedding{Model: o.required("model")}
	o.inputs(r)

	if n := o.integer("dimensions", 1, inference.MaxDimensions); n != nil {
		r.Dimensions = int(*n)
	}
	inBase64 = o.enum("encoding_format", "float", "base64") == "base64"

	if tokens := r.EstimateTokens(); tokens > inference.MaxInputTokens {
		o.failf("input", "has about %d tokens; allowed: up to %d in one request", tokens, inference.MaxInputTokens)
	}

	return r, inBase64, err
}

// inputs reads the input of a request for embeddings.
func (o object) inputs(r *inference.Embedding) {
	value := o.raw("input")

	var text string
	var texts []*string
	var tokens []int32
	var lists [][]int32

	switch {
	case value == nil:
		o.failf("input", "property 'input' is missing")
	case json.Unmarshal(value, &text) == nil:
		r.Texts = []string{text}
	case json.Unmarshal(value, &texts) == nil:
		r.Texts = o.texts("input", texts)
	case json.Unmarshal(value, &tokens) == nil:
		r.Tokens = [][]int32{tokens}
	case json.Unmarshal(value, &lists) == nil:
		r.Tokens = lists
	default:
		o.failType("input", inputForms)
	}

	for i := range r.Inputs() {
		if part := r.Batch(i, i+1); part.EstimateTokens() == 0 {
			o.failf("input["+strconv.Itoa(i)+"]", "must not be empty")
		}
	}

	switch n := r.Inputs(); {
	case n == 0:
		o.failf("input", "must not be empty")
	case n > inference.MaxInputs:
		o.failf("input", "has %d inputs; allowed: up to %d", n, inference.MaxInputs)
	}
}

// texts returns the texts of a list. It rejects null.
func (o object) texts(name string, list []*string) []string {
	texts := make([]string, len(list))

	for i, t := range list {
		if t == nil {
			o.failType(name+"["+strconv.Itoa(i)+"]", "a string")
			break
		}
		texts[i] = *t
	}

	return texts
}

// required reads a string that must not be empty.
func (o object) required(name string) string {
	s := o.str(name)
	if s == "" {
		o.failf(name, "property '%s' is missing", name)
	}

	return s
}

// ParseReranking reads the body of a request to rank documents, in the form of Cohere, Jina and vLLM. withDocuments
// reports whether the answer repeats the documents. Unknown fields are ignored. Errors are as in ParseEmbedding.
func ParseReranking(body []byte) (_ *inference.Reranking, withDocuments bool, err error) {
	o := newObject(body, "", &err)
	if err != nil {
		return nil, false, cmp.Or(syntaxError(body), err)
	}
	r := &inference.Reranking{Model: o.required("model"), Query: o.required("query")}

	o.list("documents", func(item json.RawMessage, path string) {
		text := unquoted(item)
		if len(item) > 0 && item[0] == '{' {
			text = newObject(item, path+".", o.err).required("text")
		}

		if text == "" && !o.failed() {
			o.failType(path, "a text that is not empty, or an object with the field `text`")
		}
		r.Documents = append(r.Documents, text)
	})

	if n := o.integer("top_n", 0, inference.MaxDocuments); n != nil {
		r.TopN = int(*n)
	}

	switch n, tokens := len(r.Documents), r.EstimateTokens(); {
	case n == 0:
		o.failf("documents", "must have at least one text")
	case n > inference.MaxDocuments:
		o.failf("documents", "has %d texts; allowed: up to %d", n, inference.MaxDocuments)
	case tokens > maxRankTokens:
		o.failf("documents", "have about %d tokens with the query; allowed: up to %d", tokens, maxRankTokens)
	}

	return r, o.isTrue("return_documents"), err
}

// maxRankTokens bounds the tokens of a rerank request; the query counts with each document.
const maxRankTokens = 4 * inference.MaxInputTokens
