package inference

import "slices"

// Images counts the images of the request.
func (r *Request) Images() int {
	n := 0

	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if p.Image != nil {
				n++
			}
		}
	}

	return n
}

// Offered returns the function tools that the model may call: none with ChooseNone, and those of the choice if it
// has names.
func (r *Request) Offered() []Tool {
	if r.ToolChoice.Mode == ChooseNone {
		return nil
	}
	var tools []Tool

	for _, t := range r.Tools {
		if t.Type == FunctionTool && (len(r.ToolChoice.Names) == 0 || slices.Contains(r.ToolChoice.Names, t.Name)) {
			tools = append(tools, t)
		}
	}

	return tools
}

// EstimateTokens estimates the tokens of the prompt: one for four bytes, a few per message, 800 per image. It is
// for limits, not for billing.
func (r *Request) EstimateTokens() int {
	tokens := 3
	if r.Text != nil {
		tokens += TextTokens(len(r.Text.Prompt) + len(r.Text.Suffix))
	}

	for _, m := range r.Messages {
		tokens += 4 + TextTokens(len(m.Reasoning))
		for _, p := range m.Parts {
			if tokens += TextTokens(len(p.Text)); p.Image != nil {
				tokens += 800
			}
		}

		for _, c := range m.ToolCalls {
			tokens += 8 + TextTokens(len(c.Name)+len(c.Arguments))
		}
	}

	for _, t := range r.Tools {
		tokens += 8 + TextTokens(len(t.Name)+len(t.Description)+len(t.Parameters))
	}

	return tokens + TextTokens(len(r.Format.Schema))
}

// TextTokens estimates the tokens of a text with that many bytes.
func TextTokens(bytes int) int { return (bytes + 3) / 4 }
