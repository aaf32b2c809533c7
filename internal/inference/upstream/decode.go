package upstream

import (
	"encoding/json"
	"errors"
	"strings"
)

// DecodeLenient decodes JSON of an upstream. A value of an unexpected type is treated as absent. An error means that
// the text is not JSON.
func DecodeLenient(b []byte, v any) error {
	err := json.Unmarshal(b, v)
	if _, mismatch := errors.AsType[*json.UnmarshalTypeError](err); mismatch {
		return nil
	}

	return err
}

// IsSet reports whether a field is present and not null.
func IsSet(value []byte) bool { return len(value) > 0 && !IsNull(value) }

// IsNull reports whether a value is null.
func IsNull(value []byte) bool { return string(value) == "null" }

// Count bounds a number of tokens, so that sums of hostile values stay valid.
func Count(n float64) int { return int(min(max(n, 0), 1<<40)) }

// CountOrNil is Count for a number that may be absent.
func CountOrNil(n *float64) *int {
	if n == nil {
		return nil
	}

	return new(Count(*n))
}

// FinishReason maps an upstream's finish reason to one of the four that callers know. It returns "" for an unknown
// one, because the answer may be cut off.
func FinishReason(word string) string {
	word, _, _ = strings.Cut(strings.ToLower(word), ":") // Gemini appends a detail
	switch word {
	case "stop", "stop_sequence", "end_turn", "eos", "eos_token", "complete":
		return "stop"
	case "length", "max_tokens", "max_output_tokens", "max_length", "model_length", "model_context_window_exceeded":
		return "length"
	case "tool_calls", "function_call", "tool_use":
		return "tool_calls"
	case "content_filter", "safety", "recitation", "blocklist", "prohibited_content", "spii", "refusal", "sensitive":
		return "content_filter"
	}

	return ""
}
