package inference

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"presswork/internal/input"
)

// Admit checks the request against its model and sets fields that depend on it: the id for an alias, the reasoning
// format and effort. It may be called again on its own result. Errors are *Error: 404 for an unknown model,
// otherwise 400.
func (c *Catalogue) Admit(r *Request) (*Model, error) {
	m, err := c.Find(r.Model)
	if err != nil {
		return nil, err
	}

	for _, check := range []func(*Model, *Request) error{
		admitKind, admitSize, admitTools, c.admitServers, admitReasoning,
	} {
		if err := check(m, r); err != nil {
			return nil, err
		}
	}
	r.Model = m.ID

	return m, nil
}

// admitKind checks that the model gives the kind and number of answers that the request asks for.
func admitKind(m *Model, r *Request) error {
	switch {
	case r.Text != nil && !m.Can(CanText):
		return Invalidf("model", "the model `%s` does not continue texts; use /v1/chat/completions", m.ID)
	case r.Text == nil && !m.Can(CanChat):
		return Invalidf("model", "the model `%s` does not support chat completions", m.ID)
	case r.N > 1 && !m.Can(CanChoices):
		return Invalidf("n", "must be 1 with the model `%s`, which returns one answer per request", m.ID)
	case (r.Logprobs || r.Text != nil && r.Text.Logprobs != nil) && !m.Can(CanLogprobs):
		return Invalidf("logprobs", "log probabilities are not supported with the model `%s`", m.ID)
	}

	return nil
}

// admitSize checks the images and the length of the request.
func admitSize(m *Model, r *Request) error {
	if r.Images() > 0 && !m.Can(CanVision) {
		return Invalidf("messages", "the model `%s` does not support images; content must be text", m.ID)
	}

	if m.MaxCompletionTokens > 0 && r.MaxTokens > m.MaxCompletionTokens {
		return Invalidf(
			"max_completion_tokens",
			"`max_completion_tokens` must be at most %d for the model `%s`",
			m.MaxCompletionTokens,
			m.ID,
		)
	}

	if tokens := r.EstimateTokens(); m.ContextWindow > 0 && tokens > 4*m.ContextWindow {
		// The estimate is rough, so only requests far beyond the limit are rejected here.
		return Errorf(http.StatusBadRequest, ContextLength,
			"Please reduce the length of the messages or completion: "+
				"about %d tokens were sent, and the context of `%s` is %d.", tokens, m.ID, m.ContextWindow).
			WithParam("messages")
	}

	return nil
}

// admitTools checks the tools. It turns validation on again if the request forbids calls.
func admitTools(m *Model, r *Request) error {
	var builtin []Tool // functions of the built-in tools
	for _, t := range r.Tools {
		builtin = append(builtin, BuiltinFunctions(t.Type)...)
	}

	for i, t := range r.Tools {
		if t.Type == FunctionTool && slices.ContainsFunc(builtin, func(f Tool) bool { return f.Name == t.Name }) {
			return Invalidf(
				fmt.Sprintf("tools[%d].function.name", i),
				"`%s` is also a function of a built-in tool in this request; rename the function",
				t.Name,
			)
		}
	}

	if r.N > 1 && len(builtin) > 0 {
		return Invalidf("n", "must be 1 with a built-in tool")
	}

	if r.ToolChoice.Mode == ChooseNone {
		// A caller that forbids calls must not receive unchecked ones either.
		r.DisableToolValidation = false
	}

	if len(r.Tools) > 0 && !m.Can(CanTools) {
		return Invalidf("tools", "the model `%s` does not support tool calling", m.ID)
	}

	return nil
}

// admitServers checks that the MCP servers of the request exist and are permitted.
func (c *Catalogue) admitServers(_ *Model, r *Request) error {
	for _, t := range r.Tools {
		if t.Type != MCPTool {
			continue
		}

		if _, err := c.Server(t.Server); err != nil {
			return err
		}

		if r.N > 1 {
			return Invalidf("n", "must be 1 with an MCP server")
		}
	}

	return nil
}

// admitReasoning checks the reasoning effort and format, and sets their defaults.
func admitReasoning(m *Model, r *Request) error {
	// The first admission has set the defaults, which the checks below might reject as the caller's values.
	if r.Admitted {
		return nil
	}

	r.Admitted = true
	if effort := r.ReasoningEffort; effort != "" {
		allowed := Efforts()
		if m.Reasoning.Efforts != nil {
			allowed = *m.Reasoning.Efforts
		}

		if len(allowed) == 0 || !m.Can(CanReason) {
			return Invalidf("reasoning_effort", "`reasoning_effort` is not supported with the model `%s`", m.ID)
		}

		if !slices.Contains(allowed, effort) {
			return Invalidf(
				"reasoning_effort",
				"`reasoning_effort` must be one of %s for the model `%s`%s",
				quoted(allowed),
				m.ID,
				input.DidYouMean(effort, allowed),
			)
		}
	}

	if r.ReasoningEffort == "" {
		r.ReasoningEffort = m.Reasoning.Default
	}

	switch {
	case r.ReasoningFormat == "" && (r.Format.JSON() || len(r.Tools) > 0) && m.Reasoning.DefaultFormat == Raw:
		// JSON and tools cannot be separated from reasoning in the same text.
		r.ReasoningFormat = Parsed
	case r.ReasoningFormat == "":
		r.ReasoningFormat = m.Reasoning.DefaultFormat
	case m.Reasoning.Formats != nil && !r.IncludeReasoning:
		allowed := *m.Reasoning.Formats
		if len(allowed) == 0 {
			return Invalidf(
				"reasoning_format",
				"`reasoning_format` is not supported with the model `%s`; use `include_reasoning`",
				m.ID,
			)
		}

		if !slices.Contains(allowed, string(r.ReasoningFormat)) {
			return Invalidf(
				"reasoning_format",
				"`reasoning_format` must be one of %s for the model `%s`",
				quoted(allowed),
				m.ID,
			)
		}
	}

	return nil
}

// quoted returns a list for a message: `a`, `b`, `c`.
func quoted(values []string) string {
	return "`" + strings.Join(values, "`, `") + "`"
}
