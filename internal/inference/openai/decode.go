package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"

	"presswork/internal/inference"
	"presswork/internal/inference/jsonbody"
	"presswork/internal/inference/upstream"
)

// decoder turns the chunks of an upstream, or its whole answer, into deltas.
type decoder struct {
	// choices is the number of requested answers.
	choices int
	deltas  []inference.Delta
	// chunk is the chunk decoded last. The next call of decode reuses its memory.
	chunk chunk
	// text is the text of the last delta, if its JSON has no escapes.
	text []byte
	// template recognises chunks that differ from the last one only in their text.
	template textTemplate
	// failure is the error object in the last chunk, for readError; nil without an error.
	failure []byte
}

// chunk has the fields that are read of a chunk or of a whole answer (OpenAI: chat.completion.chunk and
// chat.completion).
type chunk struct {
	Object      string          `json:"object"`
	Choices     []choice        `json:"choices"`
	Usage       *usage          `json:"usage"`
	Fingerprint string          `json:"system_fingerprint"`
	Error       json.RawMessage `json:"error"`
	Timings     *timings        `json:"timings"`
	Groq        struct {
		Usage *usage          `json:"usage"`
		Error json.RawMessage `json:"error"`
	} `json:"x_groq"`
}

// choice is an answer or a chunk of one.
type choice struct {
	Index   float64 `json:"index"`
	Delta   piece   `json:"delta"`
	Message piece   `json:"message"` // of a whole answer
	// Text is the answer of /completions.
	Text     string          `json:"text"`
	Logprobs json.RawMessage `json:"logprobs"`
	Finish   string          `json:"finish_reason"`
	// Stop is the text that ended the answer, or the number of a token (vLLM).
	Stop json.RawMessage `json:"stop_reason"`
}

// usage is the upstream's count of tokens and seconds. Engines may send fractions.
type usage struct {
	PromptTokens     float64 `json:"prompt_tokens"`
	CompletionTokens float64 `json:"completion_tokens"`
	QueueTime        float64 `json:"queue_time"`
	PromptTime       float64 `json:"prompt_time"`
	CompletionTime   float64 `json:"completion_time"`
	PromptDetails    struct {
		Cached *float64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning *float64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// timings are those of llama-server: counts and milliseconds.
type timings struct {
	PromptMS    float64 `json:"prompt_ms"`
	PredictedMS float64 `json:"predicted_ms"`
	Prompt      float64 `json:"prompt_n"`
	Predicted   float64 `json:"predicted_n"`
	Cached      float64 `json:"cache_n"`
}

// call is a piece of a tool call.
type call struct {
	Index    *float64       `json:"index"`
	ID       string         `json:"id"`
	Function calledFunction `json:"function"`
}

// calledFunction is a function that the model calls.
type calledFunction struct {
	Name      string    `json:"name"`
	Arguments arguments `json:"arguments"`
}

// arguments is a string of JSON. Some engines write the object itself instead of a string.
type arguments string

// UnmarshalJSON accepts a string, or any other JSON value as its text, because some engines send an object.
func (a *arguments) UnmarshalJSON(b []byte) error {
	switch {
	case b[0] == '"':
		return json.Unmarshal(b, (*string)(a))
	case !upstream.IsNull(b):
		*a = arguments(b)
	}

	return nil
}

// content is a string, or a list of parts with text.
type content string

// UnmarshalJSON accepts a string or a list of text parts, which it joins.
func (c *content) UnmarshalJSON(b []byte) error {
	if b[0] != '[' {
		return upstream.DecodeLenient(b, (*string)(c))
	}
	var parts []struct {
		Text string `json:"text"`
	}

	err := upstream.DecodeLenient(b, &parts)
	for _, part := range parts {
		*c += content(part.Text)
	}

	return err
}

// unescaped returns the text of a JSON string that has no escapes.
func unescaped(value []byte) (text []byte, ok bool) {
	if len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
		return nil, false
	}
	text = value[1 : len(value)-1]

	return text, inference.Unescaped(text)
}

// decode reads one chunk. It returns a delta for each answer in it, and at least one. The next call reuses their
// memory. An error means that the text is not JSON.
func (d *decoder) decode(b []byte) ([]inference.Delta, error) {
	d.deltas, d.text, d.failure = d.deltas[:0], nil, nil
	if delta, ok := d.template.match(b); ok {
		d.deltas = append(d.deltas, delta)
		return d.deltas, nil
	}
	// Decoding into reused memory would keep fields of the last chunk that this one does not have.
	clear(d.chunk.Choices)
	d.chunk = chunk{Choices: d.chunk.Choices[:0]}

	c := &d.chunk
	if err := upstream.DecodeLenient(b, c); err != nil {
		return nil, err
	}

	for _, choice := range c.Choices {
		hasContent := choice.Delta.present || choice.Message.present || choice.Text != "" || choice.Finish != ""
		if hasContent && choice.Index >= 0 && choice.Index < float64(d.choices) {
			d.addChoice(choice)
		}
	}

	if len(d.deltas) == 0 {
		d.addDelta(0)
	}
	first := &d.deltas[0]

	first.Fingerprint = c.Fingerprint
	if first.Usage = readUsage(c.Usage); first.Usage == nil {
		first.Usage = readUsage(c.Groq.Usage)
	}

	if c.Timings != nil {
		c.Timings.addTo(first)
	}

	switch {
	case upstream.IsSet(c.Error) || c.Object == "error":
		d.failure = b
	case upstream.IsSet(c.Groq.Error):
		d.failure = c.Groq.Error
	}

	if d.failure == nil && len(d.deltas) == 1 {
		d.template.remember(b, d.text, *first)
	}

	return d.deltas, nil
}

// addDelta returns a new delta, in the memory of an earlier one if possible.
func (d *decoder) addDelta(choice int) *inference.Delta {
	var calls []inference.RawToolDelta
	if n := len(d.deltas); n < cap(d.deltas) {
		calls = d.deltas[:n+1][n].ToolCalls[:0]
	}
	d.deltas = append(d.deltas, inference.Delta{Choice: choice, ToolCalls: calls})

	return &d.deltas[len(d.deltas)-1]
}

// addChoice adds the delta of one answer.
func (d *decoder) addChoice(c choice) {
	delta := d.addDelta(int(c.Index))

	delta.Finish, delta.Content, delta.StopSequence = c.Finish, c.Text, jsonbody.Text(c.Stop)
	if upstream.IsSet(c.Logprobs) && c.Logprobs[0] == '{' {
		delta.Logprobs = bytes.ToValidUTF8(c.Logprobs, []byte("\ufffd"))
	}

	answer := c.Delta
	if !answer.present {
		answer = c.Message
	}

	d.text = answer.text
	if answer.reasoning {
		delta.Reasoning = string(answer.text)
	} else {
		delta.Content += string(answer.text)
	}

	fields := answer.fields
	if inner, ok := unescaped(fields["content"]); ok {
		delta.Content += string(inner)
		delete(fields, "content")
	}
	delete(fields, "role")

	if len(fields) > 0 { // rare: most chunks have only text
		readFields(delta, fields)
	}
}

// readFields reads the fields of a piece other than plain text.
func readFields(delta *inference.Delta, fields map[string]json.RawMessage) {
	// take decodes a known field and removes it. The remaining fields become Extra.
	take := func(name string, v any) {
		if value, present := fields[name]; present {
			_ = upstream.DecodeLenient(value, v) // no error: value is a part of valid JSON
			delete(fields, name)
		}
	}
	var text content
	var reasoning, reasoningContent string
	var calls []call
	var function *calledFunction
	take("content", &text)
	take("reasoning", &reasoning)
	take("reasoning_content", &reasoningContent) // some engines send both with the same text
	take("tool_calls", &calls)
	take("function_call", &function)
	delta.Content += string(text)

	delta.Reasoning = cmp.Or(delta.Reasoning, reasoning, reasoningContent)
	for _, c := range calls {
		// Calls without an index are distinguished by their position.
		index := len(delta.ToolCalls)
		if c.Index != nil {
			index = int(*c.Index)
		}
		delta.ToolCalls = append(
			delta.ToolCalls,
			inference.RawToolDelta{
				Index:     index,
				ID:        c.ID,
				Name:      c.Function.Name,
				Arguments: string(c.Function.Arguments),
			},
		)
	}

	if function != nil {
		delta.ToolCalls = append(
			delta.ToolCalls,
			inference.RawToolDelta{Name: function.Name, Arguments: string(function.Arguments)},
		)
	}
	// Engines send many fields without a value. Clients need not see them.
	maps.DeleteFunc(
		fields,
		func(_ string, value json.RawMessage) bool { return upstream.IsNull(value) || string(value) == "[]" },
	)

	if len(fields) > 0 {
		b, _ := json.Marshal(fields)
		delta.Extra = bytes.ToValidUTF8(b, []byte("\ufffd"))
	}
}

// readUsage returns the usage that an upstream reported, or nil if it has no tokens.
func readUsage(u *usage) *inference.RawUsage {
	if u == nil || upstream.Count(u.PromptTokens)+upstream.Count(u.CompletionTokens) == 0 {
		return nil
	}

	return &inference.RawUsage{
		PromptTokens:     upstream.Count(u.PromptTokens),
		CompletionTokens: upstream.Count(u.CompletionTokens),
		QueueTime:        seconds(u.QueueTime),
		PromptTime:       seconds(u.PromptTime),
		CompletionTime:   seconds(u.CompletionTime),
		CachedTokens:     upstream.CountOrNil(u.PromptDetails.Cached),
		ReasoningTokens:  upstream.CountOrNil(u.CompletionDetails.Reasoning),
	}
}

// addTo sets the times of the usage of d, and also the counts if the upstream reported none.
func (t timings) addTo(d *inference.Delta) {
	u := d.Usage
	if u == nil {
		u = &inference.RawUsage{
			PromptTokens:     upstream.Count(t.Prompt) + upstream.Count(t.Cached),
			CompletionTokens: upstream.Count(t.Predicted),
		}
	}

	u.PromptTime, u.CompletionTime = seconds(t.PromptMS)/1000, seconds(t.PredictedMS)/1000
	if cached := upstream.Count(t.Cached); u.CachedTokens == nil && cached > 0 {
		u.CachedTokens = &cached
	}

	if u.PromptTokens+u.CompletionTokens > 0 {
		d.Usage = u
	}
}

// seconds bounds a time, so that sums of hostile values stay finite.
func seconds(s float64) float64 { return min(max(s, 0), 1<<40) }
