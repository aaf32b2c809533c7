package wire

import (
	"bytes"
	"encoding/json"
	"strconv"

	"presswork/internal/inference"
	"presswork/internal/inference/jsonbody"
)

// inputForms describes the input of a request for embeddings.
const inputForms = "a text, a list of texts, the tokens of a text, or a list of the tokens of texts"

// ParseEmbedding reads the body of a request for embeddings (OpenAI: embeddings). inBase64 reports whether the
// caller wants the vectors in base64. Unknown fields are ignored. Errors are *inference.Error: 400 with the field
// and the allowed values.
func ParseEmbedding(body []byte) (_ *inference.Embedding, inBase64 bool, err error) {
	o := jsonbody.Parse(body, &err)
	if err != nil {
		return nil, false, err
	}
	r := &inference.Embedding{Model: o.Required("model")}
	readInputs(o, r)

	if n := o.Integer("dimensions", 1, inference.MaxDimensions); n != nil {
		r.Dimensions = int(*n)
	}
	inBase64 = o.Enum("encoding_format", "float", "base64") == "base64"

	if tokens := r.EstimateTokens(); tokens > inference.MaxInputTokens {
		o.Failf("input", "has about %d tokens; allowed: up to %d in one request", tokens, inference.MaxInputTokens)
	}

	return r, inBase64, err
}

// readInputs reads the input of a request for embeddings.
func readInputs(o jsonbody.Object, r *inference.Embedding) {
	value := o.Raw("input")
	item := listOf(value)

	var err error

	switch {
	case value == nil:
		o.Failf("input", "property 'input' is missing")
	case value[0] == '"':
		r.Texts = make([]string, 1)
		err = json.Unmarshal(value, &r.Texts[0])
	case item == '[':
		err = json.Unmarshal(value, &r.Tokens)
	case item == '-' || item >= '0' && item <= '9':
		r.Tokens = make([][]int32, 1)
		err = json.Unmarshal(value, &r.Tokens[0])
	default:
		// Pointers tell null, which is not allowed, from an empty text.
		var texts []*string
		err = json.Unmarshal(value, &texts)
		r.Texts = readTexts(o, "input", texts)
	}

	if err != nil {
		o.FailType("input", inputForms)
	}

	for i := range r.Inputs() {
		if part := r.Batch(i, i+1); part.EstimateTokens() == 0 {
			o.Failf("input["+strconv.Itoa(i)+"]", "must not be empty")
		}
	}

	switch n := r.Inputs(); {
	case n == 0:
		o.Failf("input", "must not be empty")
	case n > inference.MaxInputs:
		o.Failf("input", "has %d inputs; allowed: up to %d", n, inference.MaxInputs)
	}
}

// listOf returns the first byte of the first item of a list, or 0 for another value.
func listOf(value json.RawMessage) byte {
	if items, ok := bytes.CutPrefix(value, []byte("[")); ok {
		if items = bytes.TrimLeft(items, " \t\r\n"); len(items) > 0 {
			return items[0]
		}
	}

	return 0
}

// readTexts returns the texts of a list. It rejects null.
func readTexts(o jsonbody.Object, name string, list []*string) []string {
	texts := make([]string, len(list))

	for i, t := range list {
		if t == nil {
			o.FailType(name+"["+strconv.Itoa(i)+"]", "a string")
			break
		}
		texts[i] = *t
	}

	return texts
}

// ParseReranking reads the body of a request to rank documents, in the form of Cohere, Jina and vLLM. withDocuments
// reports whether the answer repeats the documents. Unknown fields are ignored. Errors are as in ParseEmbedding.
func ParseReranking(body []byte) (_ *inference.Reranking, withDocuments bool, err error) {
	o := jsonbody.Parse(body, &err)
	if err != nil {
		return nil, false, err
	}
	r := &inference.Reranking{Model: o.Required("model"), Query: o.Required("query")}

	o.List("documents", func(item json.RawMessage, path string) {
		text := jsonbody.Text(item)
		if len(item) > 0 && item[0] == '{' {
			text = jsonbody.New(item, path+".", o.Err).Required("text")
		}

		if text == "" && !o.Failed() {
			o.FailType(path, "a text that is not empty, or an object with the field `text`")
		}
		r.Documents = append(r.Documents, text)
	})

	if n := o.Integer("top_n", 0, inference.MaxDocuments); n != nil {
		r.TopN = int(*n)
	}

	switch n, tokens := len(r.Documents), r.EstimateTokens(); {
	case n == 0:
		o.Failf("documents", "must have at least one text")
	case n > inference.MaxDocuments:
		o.Failf("documents", "has %d texts; allowed: up to %d", n, inference.MaxDocuments)
	case tokens > maxRankTokens:
		o.Failf("documents", "have about %d tokens with the query; allowed: up to %d", tokens, maxRankTokens)
	}

	return r, o.IsTrue("return_documents"), err
}

// maxRankTokens bounds the tokens of a rerank request; the query counts with each document.
const maxRankTokens = 4 * inference.MaxInputTokens
