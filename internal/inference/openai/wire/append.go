package wire

import (
	"strconv"

	"presswork/internal/inference"
)

// appendUsage writes the usage object. It omits unknown details, and marks estimates (OpenAI: usage; Groq:
// queue_time and others).
func appendUsage(dst []byte, u *inference.Usage) []byte {
	dst = appendSeconds(append(dst, `{"queue_time":`...), u.QueueTime)
	dst = strconv.AppendInt(append(dst, `,"prompt_tokens":`...), int64(u.PromptTokens), 10)
	dst = appendSeconds(append(dst, `,"prompt_time":`...), u.PromptTime)
	dst = strconv.AppendInt(append(dst, `,"completion_tokens":`...), int64(u.CompletionTokens), 10)
	dst = appendSeconds(append(dst, `,"completion_time":`...), u.CompletionTime)
	dst = strconv.AppendInt(append(dst, `,"total_tokens":`...), int64(u.TotalTokens), 10)

	dst = appendSeconds(append(dst, `,"total_time":`...), u.TotalTime)
	if u.CachedTokens != nil {
		dst = strconv.AppendInt(
			append(dst, `,"prompt_tokens_details":{"cached_tokens":`...),
			int64(*u.CachedTokens),
			10,
		)
		dst = append(dst, '}')
	}

	if u.ReasoningTokens != nil {
		dst = strconv.AppendInt(
			append(dst, `,"completion_tokens_details":{"reasoning_tokens":`...),
			int64(*u.ReasoningTokens),
			10,
		)
		dst = append(dst, '}')
	}

	if u.EstimatedTokens > 0 {
		dst = append(dst, `,"estimated":true`...)
	}

	return append(dst, '}')
}

// appendSeconds writes a time in seconds with nanoseconds.
func appendSeconds(dst []byte, seconds float64) []byte {
	b := strconv.AppendFloat(dst, seconds, 'f', 9, 64)
	for b[len(b)-1] == '0' {
		b = b[:len(b)-1]
	}

	if b[len(b)-1] == '.' {
		b = b[:len(b)-1]
	}

	return b
}
