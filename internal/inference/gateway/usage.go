package gateway

import (
	"time"

	"presswork/internal/inference"
)

// callTimes holds the times of one call of an upstream.
type callTimes struct {
	begun time.Time // the call began
	first time.Time // the first piece of the answer arrived
	last  time.Time // the last one arrived
}

// usageOf returns the usage of one call of an upstream. If the upstream sent no counts, it estimates them, provided
// that the upstream has answered or promptRead reports that it may have read the prompt. Times are in seconds. Several
// choices share one prompt, so the last counts of any of them are those of the call.
func usageOf(r *inference.Request, answers []*normaliser, times callTimes, promptRead bool) (u inference.Usage) {
	var all counts
	var raw *inference.RawUsage
	tokens := 0

	for _, n := range answers {
		if n.usage != nil {
			raw = n.usage
		}
		all.reasoning += n.answer.reasoning
		all.content += n.answer.content
		all.arguments += n.answer.arguments
		tokens, promptRead = tokens+n.answer.tokens(), promptRead || n.finish != ""
	}

	if raw == nil {
		raw = &inference.RawUsage{}
		if promptRead || !times.first.IsZero() {
			raw.PromptTokens, raw.CompletionTokens = r.EstimateTokens(), tokens
		}
		u.EstimatedTokens = raw.PromptTokens + raw.CompletionTokens
	}
	u.PromptTokens, u.CompletionTokens = raw.PromptTokens, raw.CompletionTokens

	u.CachedTokens, u.ReasoningTokens, u.WrittenTokens = raw.CachedTokens, raw.ReasoningTokens, raw.WrittenTokens
	if u.ReasoningTokens == nil && all.reasoning > 0 {
		u.ReasoningTokens = new(all.reasoningOf(raw.CompletionTokens))
	}

	u.QueueTime, u.PromptTime, u.CompletionTime = raw.QueueTime, raw.PromptTime, raw.CompletionTime
	// An upstream without times is timed here: until its first delta, and from there to its last one.
	if u.PromptTime == 0 && !times.first.IsZero() {
		u.PromptTime = times.first.Sub(times.begun).Seconds()
	}

	if u.CompletionTime == 0 && !times.first.IsZero() {
		u.CompletionTime = times.last.Sub(times.first).Seconds()
	}

	return u
}

// EstimateUsage estimates the usage of an answer from its request and its chunks. It serves answers whose worker died
// before it could count.
func EstimateUsage(r *inference.Request, chunks []*inference.Chunk) inference.Usage {
	var c counts
	for _, chunk := range chunks {
		c.deltas++
		c.content += len(chunk.Content)

		c.reasoning += len(chunk.Reasoning)
		for _, call := range chunk.ToolCalls {
			c.arguments += len(call.Name) + len(call.Arguments)
		}
	}

	u := inference.Usage{PromptTokens: r.EstimateTokens(), CompletionTokens: c.tokens()}
	if c.reasoning > 0 {
		u.ReasoningTokens = new(c.reasoningOf(u.CompletionTokens))
	}
	u.TotalTokens = u.PromptTokens + u.CompletionTokens
	u.EstimatedTokens = u.TotalTokens

	return u
}

// tokens estimates the number of tokens in an answer. Most engines send one token per delta. If the deltas have more
// than 12 bytes on average, they hold several tokens, and four bytes count as one token.
func (c counts) tokens() int {
	bytes := c.content + c.reasoning + c.arguments
	if c.deltas > 0 && bytes/c.deltas <= 12 {
		return c.deltas
	}

	return inference.TextTokens(bytes)
}

// reasoningOf returns how many of the tokens are reasoning, by its share of the bytes.
func (c counts) reasoningOf(tokens int) int {
	return tokens * c.reasoning / max(1, c.content+c.reasoning+c.arguments)
}
