package inference

import "time"

// clock holds the moments of a completion.
type clock struct {
	begun time.Time // the upstream was called
	first time.Time // its first piece came
	last  time.Time
}

// spent returns what one call of an upstream used. Counts that the upstream did not
// give are estimated, once it has answered or read reports that it may have read the
// prompt.
func spent(r *Request, answers []*normaliser, at clock, read bool) (u Usage) {
	var all counts
	var raw *RawUsage
	tokens := 0

	for _, n := range answers {
		if n.usage != nil {
			raw = n.usage
		}
		all.reasoning += n.answer.reasoning
		all.content += n.answer.content
		all.arguments += n.answer.arguments
		tokens, read = tokens+n.answer.tokens(), read || n.finish != ""
	}

	if raw == nil {
		raw = &RawUsage{}
		if read || !at.first.IsZero() {
			raw.PromptTokens, raw.CompletionTokens = r.EstimateTokens(), tokens
		}
		u.EstimatedTokens = raw.PromptTokens + raw.CompletionTokens
	}
	u.PromptTokens, u.CompletionTokens = raw.PromptTokens, raw.CompletionTokens

	u.CachedTokens, u.ReasoningTokens = raw.CachedTokens, raw.ReasoningTokens
	if u.ReasoningTokens == nil && all.reasoning > 0 {
		u.ReasoningTokens = new(all.reasoningOf(raw.CompletionTokens))
	}

	u.QueueTime, u.PromptTime, u.CompletionTime = raw.QueueTime, raw.PromptTime, raw.CompletionTime
	if u.PromptTime == 0 && !at.first.IsZero() {
		u.PromptTime = at.first.Sub(at.begun).Seconds()
	}

	if u.CompletionTime == 0 && !at.first.IsZero() {
		u.CompletionTime = at.last.Sub(at.first).Seconds()
	}

	return u
}

// add adds what another call of an upstream used.
func (u *Usage) add(o Usage) {
	u.PromptTokens += o.PromptTokens
	u.CompletionTokens += o.CompletionTokens
	u.TotalTokens = u.PromptTokens + u.CompletionTokens
	u.EstimatedTokens += o.EstimatedTokens
	addOptional(&u.CachedTokens, o.CachedTokens)
	addOptional(&u.ReasoningTokens, o.ReasoningTokens)

	u.QueueTime += o.QueueTime
	u.PromptTime += o.PromptTime
	u.CompletionTime += o.CompletionTime
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

	u := Usage{PromptTokens: r.EstimateTokens(), CompletionTokens: c.tokens()}
	if c.reasoning > 0 {
		u.ReasoningTokens = new(c.reasoningOf(u.CompletionTokens))
	}
	u.TotalTokens = u.PromptTokens + u.CompletionTokens
	u.EstimatedTokens = u.TotalTokens

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
