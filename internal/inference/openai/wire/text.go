package wire

import (
	"bytes"
	"encoding/json"

	"presswork/internal/inference"
)

// maxChoices bounds the answers of a request, as in OpenAI's reference.
const maxChoices = 128

// defaultTextTokens bounds the answer of a text completion by default, as in OpenAI's reference. The defaults of
// engines differ.
const defaultTextTokens = 16

// ParseTextRequest reads the body of a text completion. Errors are those of ParseRequest.
func ParseTextRequest(body []byte, o ParseOptions) (*inference.Request, error) {
	return parseBody(body, o, func(p *parser) []func(*inference.Request) {
		return []func(*inference.Request){p.readModel, p.readText, p.readSampling, p.readChoices, p.readStream}
	})
}

// readText reads the options that only a text completion has.
func (p *parser) readText(r *inference.Request) {
	t := &inference.Text{Prompt: p.Raw("prompt"), Echo: p.IsTrue("echo"), Suffix: p.Str("suffix")}
	if n := p.Integer("logprobs", 0, 5); n != nil {
		t.Logprobs = new(int(*n))
	}

	if best := p.Integer("best_of", 1, 20); best != nil && *best != 1 && !p.lax {
		p.Failf("best_of", "must be 1: a model whose answers are streamed cannot choose the best one")
	}
	t.Prompts = p.readPrompts(t.Prompt)
	r.Text, r.MaxTokens = t, defaultTextTokens
}

// readPrompts counts the prompts: a text or its tokens, or a list of either.
func (p *parser) readPrompts(value json.RawMessage) int {
	var text string
	var texts []string
	var tokens []uint32
	var lists [][]uint32
	n := 0

	switch {
	case value == nil:
		p.Failf("prompt", "property 'prompt' is missing")
	case json.Unmarshal(value, &text) == nil, json.Unmarshal(value, &tokens) == nil && len(tokens) > 0:
		n = 1
	// encoding/json reads null as an empty text, so look for it.
	case json.Unmarshal(value, &texts) == nil && len(texts) > 0 && !bytes.Contains(value, []byte("null")):
		n = len(texts)
	case json.Unmarshal(value, &lists) == nil && len(lists) > 0:
		n = len(lists)
	default:
		p.FailType("prompt", "a text, a list of texts, or tokens in place of a text")
	}

	if n > maxChoices {
		p.Failf("prompt", "at most %d prompts are allowed", maxChoices)
	}

	return n
}
