package inference

import "slices"

// Fit changes a request so that its model accepts it as a fallback. It leaves out the options that the model lacks, and
// lowers MaxTokens. It adds the names of the changed fields to Ignored. Admit still rejects images, tools and several
// answers, because the answer would be another one without them.
func (c *Catalogue) Fit(r *Request) {
	m, err := c.Find(r.Model)
	if err != nil {
		return // Admit returns the error
	}

	ignore := func(field string) { r.Ignored = append(slices.Clip(r.Ignored), field) }
	r.Admitted = false // the defaults are those of the earlier model

	if !m.acceptsEffort(r.ReasoningEffort) {
		r.ReasoningEffort = ""

		ignore("reasoning_effort")
	}

	if f := m.Reasoning.Formats; f != nil && r.ReasoningFormat != "" && !r.IncludeReasoning &&
		!slices.Contains(*f, string(r.ReasoningFormat)) {
		r.ReasoningFormat = ""
	}

	if r.Logprobs && !m.Can(CanLogprobs) {
		r.Logprobs, r.TopLogprobs = false, 0

		ignore("logprobs")
	}

	if m.MaxCompletionTokens > 0 && r.MaxTokens > m.MaxCompletionTokens {
		r.MaxTokens = m.MaxCompletionTokens

		ignore("max_completion_tokens")
	}
}

// acceptsEffort reports whether requests of the model may have this reasoning effort; "" is none.
func (m *Model) acceptsEffort(effort string) bool {
	return effort == "" || m.Can(CanReason) &&
		(m.Reasoning.Efforts == nil || slices.Contains(*m.Reasoning.Efforts, effort))
}
