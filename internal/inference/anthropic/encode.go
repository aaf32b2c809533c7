package anthropic

import (
	"encoding/json"

	"presswork/internal/inference"
)

// defaultMaxTokens bounds answers if neither the request nor the model does. The API has no default.
const defaultMaxTokens = 8192

// body is a request of the Messages API.
type body struct {
	Model       string          `json:"model"`
	MaxTokens   int             `json:"max_tokens,omitempty"`
	Stream      bool            `json:"stream,omitempty"`
	System      []any           `json:"system,omitempty"`
	Messages    []message       `json:"messages"`
	Tools       []any           `json:"tools,omitempty"`
	ToolChoice  *toolChoice     `json:"tool_choice,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	TopP        *float64        `json:"top_p,omitempty"`
	Stop        []string        `json:"stop_sequences,omitempty"`
	Metadata    any             `json:"metadata,omitempty"`
	Thinking    json.RawMessage `json:"thinking,omitempty"`
	Output      any             `json:"output_config,omitempty"`
	// thinks means that the request turns thinking on. The API then rejects sampling options.
	thinks bool
}

type toolChoice struct {
	Type            string `json:"type"`
	Name            string `json:"name,omitempty"`
	DisableParallel bool   `json:"disable_parallel_tool_use,omitempty"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"input_schema"`
	Strict      bool            `json:"strict,omitempty"`
}

type outputConfig struct {
	Effort string        `json:"effort,omitempty"`
	Format *outputFormat `json:"format,omitempty"`
}

type outputFormat struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

// encode returns the body of a request, which always asks for a stream.
func encode(u inference.Upstream, m *inference.Model, r *inference.Request) ([]byte, error) {
	b, err := newBody(u, m, r)
	if err != nil {
		return nil, err
	}
	b.Stream = true

	return b.encode(u, r)
}

// encodeCount returns the body of a request for the number of tokens.
func encodeCount(u inference.Upstream, m *inference.Model, r *inference.Request) ([]byte, error) {
	b, err := newBody(u, m, r)
	if err != nil {
		return nil, err
	}
	// Only the prompt is counted, so leave out the options of the answer.
	b.MaxTokens, b.Temperature, b.TopP, b.Stop, b.Metadata = 0, nil, nil, nil, nil

	return b.encode(u, r)
}

// newBody returns a request in the form of the upstream. Fields that the client sent in that form are added by encode.
func newBody(u inference.Upstream, m *inference.Model, r *inference.Request) (*body, error) {
	b := &body{Model: u.Model, MaxTokens: r.MaxTokens, TopP: r.TopP}

	switch {
	case b.MaxTokens > 0:
	case m.MaxCompletionTokens > 0:
		b.MaxTokens = m.MaxCompletionTokens
	default:
		b.MaxTokens = defaultMaxTokens
	}

	if r.Temperature != nil {
		// Chat completions allow up to 2, this API up to 1.
		b.Temperature = new(min(*r.Temperature, 1))
	}

	for _, s := range r.Stop {
		if !isBlank(s) { // the API rejects it
			b.Stop = append(b.Stop, s)
		}
	}

	if r.User != "" && r.Fields["metadata"] == nil {
		b.Metadata = map[string]string{"user_id": r.User}
	}

	if err := b.addMessages(r); err != nil {
		return nil, err
	}

	if err := b.addTools(m, r); err != nil {
		return nil, err
	}
	b.addThinking(m, r)
	b.addOutput(m, r)

	return b, nil
}

// encode returns the JSON of the body with the fields that the client sent in the form of the upstream.
func (b *body) encode(u inference.Upstream, r *inference.Request) ([]byte, error) {
	fields := map[string]json.RawMessage{}

	// addThinking has decided about thinking, and a model that thinks rejects top_k.
	for name, value := range r.Fields {
		if name != "thinking" && (name != "top_k" || !b.thinks) {
			fields[name] = value
		}
	}

	payload, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}

	return u.AppendFields(payload, &inference.Request{Fields: fields})
}

// addTools adds the tools and the choice among them.
func (b *body) addTools(m *inference.Model, r *inference.Request) error {
	offered := r.Offered()
	if r.ToolChoice.Mode == inference.ChooseNone {
		// Earlier calls are only accepted next to the tools.
		all := *r
		all.ToolChoice = inference.ToolChoice{}
		offered = all.Offered()
	}

	for _, t := range offered {
		if t.Block != nil {
			b.Tools = append(b.Tools, t.Block)
			continue
		}

		schema := t.Parameters
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		strict := t.Strict && m.Can(inference.CanJSONSchema)

		whole, err := withFields(tool{t.Name, t.Description, schema, strict}, t.Fields)
		if err != nil {
			return err
		}
		b.Tools = append(b.Tools, whole)
	}

	if len(b.Tools) == 0 {
		return nil
	}
	choice := toolChoice{DisableParallel: r.ParallelToolCalls != nil && !*r.ParallelToolCalls}

	switch r.ToolChoice.Mode {
	case inference.ChooseRequired:
		choice.Type = "any"
	case inference.ChooseNamed:
		choice.Type, choice.Name = "tool", r.ToolChoice.Names[0]
	case inference.ChooseNone:
		choice = toolChoice{Type: "none"}
	default:
		choice.Type = "auto"
	}
	b.ToolChoice = &choice

	return nil
}

// addOutput adds the format of the answer: as a schema for models that enforce one, else as an instruction.
func (b *body) addOutput(m *inference.Model, r *inference.Request) {
	if r.Fields["output_config"] != nil || r.Fields["output_format"] != nil {
		return // the client's own field is sent
	}
	f := r.Format

	switch {
	case !f.JSON():
	case f.Type == inference.JSONSchema && m.Can(inference.CanJSONSchema) && len(f.Schema) > 0:
		config, _ := b.Output.(outputConfig)
		config.Format = &outputFormat{f.Type, f.Schema}
		b.Output = config
	case len(f.Schema) > 0:
		b.instruct("Answer with JSON and nothing else. It must satisfy this JSON Schema: " + string(f.Schema))
	default:
		b.instruct("Answer with one JSON object and nothing else.")
	}
}

// instruct adds a sentence to the system prompt.
func (b *body) instruct(sentence string) { b.System = append(b.System, textBlock{"text", sentence}) }

// withFields returns value as a JSON object with more members. Members that value has as well are left out.
func withFields(value any, fields json.RawMessage) (json.RawMessage, error) {
	object, err := json.Marshal(value)
	if err != nil || len(fields) == 0 {
		return object, err
	}
	var own, more map[string]json.RawMessage

	if err := json.Unmarshal(object, &own); err != nil {
		return nil, err
	}

	if err := json.Unmarshal(fields, &more); err != nil {
		return nil, err
	}

	for name := range own {
		delete(more, name)
	}

	return inference.AppendMembers(object, more)
}
