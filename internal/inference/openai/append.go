package openai

import (
	"strconv"
	"unicode/utf8"

	"presswork/internal/inference"
)

const hexDigits = "0123456789abcdef"

// appendString appends a JSON string. Invalid UTF-8 becomes U+FFFD. The line separators of JavaScript are escaped,
// because some clients split lines there.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0

	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' && c != 0x7f {
				i++
				continue
			}
			dst = append(dst, s[from:i]...)

			switch c {
			case '"', '\\':
				dst = append(dst, '\\', c)
			case '\n':
				dst = append(dst, '\\', 'n')
			case '\r':
				dst = append(dst, '\\', 'r')
			case '\t':
				dst = append(dst, '\\', 't')
			default:
				dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			}
			i++
			from = i
			continue
		}

		r, size := utf8.DecodeRuneInString(s[i:])
		if (r == utf8.RuneError && size == 1) || r == '\u2028' || r == '\u2029' || r == '\u0085' {
			dst = append(dst, s[from:i]...)
			dst = append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
			from = i + size
		}
		i += size
	}

	return append(append(dst, s[from:]...), '"')
}

func appendStringOrNull(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}

	return appendString(dst, s)
}

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
