package inference

import "time"

// clock holds the moments of a completion.
type clock struct {
	begun time.Time // the upstream was called
	first time.Time // its first piece came
	last  time.Time
}

// spend adds up what one call of an upstream used. Counts the upstream did not
// give are estimated.
func (u *Usage) spend(r *Request, answers []*normaliser, at clock) {
	var all counts
	var raw *RawUsage
	tokens, finished := 0, false
	for _, n := range answers {
		if n.usage != nil {
			raw = n.usage
		}
		all.reasoning += n.answer.reasoning
		all.content += n.answer.content
		all.arguments += n.answer.arguments
		tokens, finished = tokens+n.answer.tokens(), finished || n.finish != ""
	}
	if raw == nil {
		raw = &RawUsage{}
		if !at.first.IsZero() || finished {
			raw.PromptTokens, raw.CompletionTokens = r.EstimateTokens(), tokens
		}
		u.Estimated = u.Estimated || raw.PromptTokens > 0
	}
	u.PromptTokens += raw.PromptTokens
	u.CompletionTokens += raw.CompletionTokens
	u.TotalTokens = u.PromptTokens + u.CompletionTokens
	addOptional(&u.CachedTokens, raw.CachedTokens)
	if raw.ReasoningTokens == nil && all.reasoning > 0 {
		raw.ReasoningTokens = new(all.reasoningOf(raw.CompletionTokens))
	}
	addOptional(&u.ReasoningTokens, raw.ReasoningTokens)

	u.QueueTime += raw.QueueTime
	prompt, completion := raw.PromptTime, raw.CompletionTime
	if prompt == 0 && !at.first.IsZero() {
		prompt = at.first.Sub(at.begun).Seconds()
	}
	if completion == 0 && !at.first.IsZero() {
		completion = at.last.Sub(at.first).Seconds()
	}
	u.PromptTime += prompt
	u.CompletionTime += completion
	u.TotalTime = u.PromptTime + u.CompletionTime
}

// Spent estimates what an answer has used whose worker died: its chunks are all
// that is known of it.
func Spent(r *Request, chunks []*Chunk) Usage {
	var c counts
	for _, chunk := range chunks {
		c.deltas++
		c.content += len(chunk.Content)
		c.reasoning += len(chunk.Reasoning)
		for _, call := range chunk.ToolCalls {
			c.arguments += len(call.Name) + len(call.Arguments)
		}
	}
	u := Usage{PromptTokens: r.EstimateTokens(), CompletionTokens: c.tokens(), Estimated: true}
	if c.reasoning > 0 {
		u.ReasoningTokens = new(c.reasoningOf(u.CompletionTokens))
	}
	u.TotalTokens = u.PromptTokens + u.CompletionTokens
	return u
}

func addOptional(sum **int, n *int) {
	if n == nil {
		return
	}
	total := *n
	if *sum != nil {
		total += **sum
	}
	*sum = &total
}

// tokens guesses how many tokens an answer has. Most engines send one per
// delta; where the deltas are larger than that, four bytes make a token.
func (c counts) tokens() int {
	bytes := c.content + c.reasoning + c.arguments
	if c.deltas > 0 && bytes/c.deltas <= 12 {
		return c.deltas
	}
	return textTokens(bytes)
}

// reasoningOf is the share of reasoning in a number of tokens.
func (c counts) reasoningOf(tokens int) int {
	return tokens * c.reasoning / max(1, c.content+c.reasoning+c.arguments)
}
