package openai

import (
	"bytes"
	"encoding/json"

	"presswork/internal/inference"
)

// decoder turns the chunks of an upstream, or its whole answer, into deltas.
type decoder struct {
	delta inference.Delta
	// failure is the error object of a chunk.
	failure []byte
}

// decode reads one chunk; it must be valid JSON. The delta is used again by the
// next call.
func (d *decoder) decode(chunk []byte) *inference.Delta {
	d.delta = inference.Delta{ToolCalls: d.delta.ToolCalls[:0]}
	d.failure = nil
	var timings, own []byte
	fields(chunk, func(key, value []byte) {
		switch string(key) {
		case "choices":
			items(value, d.choice)
		case "usage":
			d.usage(value)
		case "system_fingerprint":
			d.delta.Fingerprint = text(value)
		case "error":
			if !null(value) {
				d.failure = value
			}
		case "object":
			if text(value) == "error" {
				d.failure = chunk
			}
		case "timings":
			timings = value
		case "x_groq":
			own = value
		}
	})
	if d.delta.Usage == nil && own != nil {
		fields(own, func(key, value []byte) {
			switch {
			case string(key) == "usage":
				d.usage(value)
			case string(key) == "error" && !null(value):
				d.failure = value
			}
		})
	}
	if timings != nil {
		d.timings(timings)
	}
	return &d.delta
}

func (d *decoder) choice(choice []byte) {
	var delta []byte
	var finish string
	other := false
	fields(choice, func(key, value []byte) {
		switch string(key) {
		case "index":
			other = number(value) != 0
		case "delta", "message":
			delta = value
		case "finish_reason":
			finish = text(value)
		}
	})
	if other {
		return
	}
	d.delta.Finish = finish
	var extra map[string]json.RawMessage
	fields(delta, func(key, value []byte) {
		if null(value) || string(value) == "[]" {
			return
		}
		switch string(key) {
		case "role":
		case "content":
			d.delta.Content += content(value)
		case "reasoning", "reasoning_content":
			// Some engines send both names with the same text.
			if d.delta.Reasoning == "" {
				d.delta.Reasoning = text(value)
			}
		case "tool_calls":
			items(value, d.call)
		case "function_call":
			d.function(inference.RawToolDelta{}, value)
		default:
			if extra == nil {
				extra = map[string]json.RawMessage{}
			}
			extra[string(key)] = value
		}
	})
	if extra != nil {
		b, _ := json.Marshal(extra)
		d.delta.Extra = bytes.ToValidUTF8(b, []byte("\ufffd"))
	}
}

// content is a string, or a list of parts with text.
func content(value []byte) string {
	if value[0] == '"' {
		return text(value)
	}
	var s string
	items(value, func(part []byte) {
		fields(part, func(key, value []byte) {
			if string(key) == "text" {
				s += text(value)
			}
		})
	})
	return s
}

func (d *decoder) call(value []byte) {
	// Calls without an index are distinguished by their place.
	raw := inference.RawToolDelta{Index: len(d.delta.ToolCalls)}
	var function []byte
	fields(value, func(key, value []byte) {
		switch string(key) {
		case "index":
			raw.Index = int(number(value))
		case "id":
			raw.ID = text(value)
		case "function":
			function = value
		}
	})
	d.function(raw, function)
}

func (d *decoder) function(raw inference.RawToolDelta, function []byte) {
	fields(function, func(key, value []byte) {
		switch string(key) {
		case "name":
			raw.Name = text(value)
		case "arguments":
			switch {
			case value[0] == '"':
				raw.Arguments = text(value)
			case !null(value):
				raw.Arguments = string(value) // an object, not a string of one
			}
		}
	})
	d.delta.ToolCalls = append(d.delta.ToolCalls, raw)
}

func (d *decoder) usage(value []byte) {
	if null(value) {
		return
	}
	u := &inference.RawUsage{}
	fields(value, func(key, value []byte) {
		switch string(key) {
		case "prompt_tokens":
			u.PromptTokens = count(value)
		case "completion_tokens":
			u.CompletionTokens = count(value)
		case "queue_time":
			u.QueueTime = seconds(value)
		case "prompt_time":
			u.PromptTime = seconds(value)
		case "completion_time":
			u.CompletionTime = seconds(value)
		case "prompt_tokens_details":
			u.CachedTokens = detail(value, "cached_tokens")
		case "completion_tokens_details":
			u.ReasoningTokens = detail(value, "reasoning_tokens")
		}
	})
	if u.PromptTokens+u.CompletionTokens > 0 {
		d.delta.Usage = u
	}
}

func detail(object []byte, name string) *int {
	var n *int
	fields(object, func(key, value []byte) {
		if string(key) == name && !null(value) {
			n = new(count(value))
		}
	})
	return n
}

// timings are llama-server's: counts and milliseconds.
func (d *decoder) timings(value []byte) {
	known := d.delta.Usage != nil
	u := d.delta.Usage
	if !known {
		u = &inference.RawUsage{}
	}
	cached := 0
	fields(value, func(key, value []byte) {
		switch string(key) {
		case "prompt_ms":
			u.PromptTime = seconds(value) / 1000
		case "predicted_ms":
			u.CompletionTime = seconds(value) / 1000
		case "prompt_n":
			if !known {
				u.PromptTokens += count(value)
			}
		case "predicted_n":
			if !known {
				u.CompletionTokens = count(value)
			}
		case "cache_n":
			cached = count(value)
		}
	})
	if !known {
		u.PromptTokens += cached
	}
	if u.CachedTokens == nil && cached > 0 {
		u.CachedTokens = new(cached)
	}
	if u.PromptTokens+u.CompletionTokens > 0 {
		d.delta.Usage = u
	}
}

// finishReason gives the four reasons callers know.
func finishReason(reason string) string {
	switch reason {
	case "length", "max_tokens":
		return "length"
	case "tool_calls", "function_call", "tool_use":
		return "tool_calls"
	case "content_filter":
		return "content_filter"
	}
	return "stop"
}
