package inference

// Usage is the tokens that an answer used, and its times in seconds.
type Usage struct {
	// QueueTime is the wait for a worker, plus the wait in the upstream's own queue if it reports one.
	QueueTime float64 `json:"queue_time"`
	// PromptTokens and CompletionTokens are the upstream's counts, summed over all
	// rounds of an answer with built-in tools, and over the model's corrections.
	PromptTokens int `json:"prompt_tokens"`
	// PromptTime is the upstream's own figure, or the time until its first piece. CompletionTime is the upstream's
	// own figure, or the time from the first piece to the last.
	PromptTime       float64 `json:"prompt_time"`
	CompletionTokens int     `json:"completion_tokens"` // see PromptTokens
	CompletionTime   float64 `json:"completion_time"`   // see PromptTime
	// TotalTokens and TotalTime are sums; TotalTime leaves QueueTime out.
	TotalTokens int     `json:"total_tokens"`
	TotalTime   float64 `json:"total_time"`
	// CachedTokens and ReasoningTokens are parts of the prompt and of the completion; nil when they are not known.
	CachedTokens    *int `json:"cached_tokens,omitempty"`
	ReasoningTokens *int `json:"reasoning_tokens,omitempty"`
	// WrittenTokens are the part of the prompt that the upstream put into its cache; nil when it is not known.
	WrittenTokens *int `json:"written_tokens,omitempty"`
	// EstimatedTokens are the part of TotalTokens that the upstream did not count.
	EstimatedTokens int `json:"estimated_tokens,omitempty"`
}

// Add adds what another call of an upstream used.
func (u *Usage) Add(o Usage) {
	u.PromptTokens += o.PromptTokens
	u.CompletionTokens += o.CompletionTokens
	u.TotalTokens = u.PromptTokens + u.CompletionTokens
	u.EstimatedTokens += o.EstimatedTokens
	addOptional(&u.CachedTokens, o.CachedTokens)
	addOptional(&u.ReasoningTokens, o.ReasoningTokens)
	addOptional(&u.WrittenTokens, o.WrittenTokens)

	u.QueueTime += o.QueueTime
	u.PromptTime += o.PromptTime
	u.CompletionTime += o.CompletionTime
	u.TotalTime = u.PromptTime + u.CompletionTime
}

// addOptional adds n to a sum that is nil until something is added. The sum may be shared, so it is not changed in
// place.
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
