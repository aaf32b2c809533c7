package inference

import "encoding/json"

// Normalise runs deltas through the normaliser of a model and joins what comes
// of them.
func Normalise(m *Model, r *Request, deltas []Delta) (content, reasoning string, calls []ToolCall, err error) {
	n := newNormaliser(m, r, func(c *Chunk) error {
		content += c.Content
		reasoning += c.Reasoning
		for _, d := range c.ToolCalls {
			if d.ID != "" {
				calls = append(calls, ToolCall{Name: d.Name})
			}
			calls[d.Index].Arguments += d.Arguments
		}
		return nil
	})
	for i := range deltas {
		if err := n.push(&deltas[i]); err != nil {
			return "", "", nil, err
		}
	}
	return content, reasoning, calls, n.end()
}

// NormaliseLoop returns a function that pushes one delta, for benchmarks.
func NormaliseLoop(m *Model, r *Request, emit func(*Chunk) error) func(*Delta) error {
	return newNormaliser(m, r, emit).push
}

// Validate checks a text against a schema.
func Validate(schema json.RawMessage, text string) error {
	s, err := compileSchema(schema)
	if err != nil {
		return err
	}
	return s.validate(text, false)
}
