package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"presswork/internal/inference"
)

// body is a request in the form for upstreams (OpenAI: chat/completions). It has one of the two fields for the longest
// answer, and those fields for reasoning that the engine knows: see engines.go.
type body struct {
	Model               string          `json:"model"`
	Messages            []message       `json:"messages"`
	Stream              bool            `json:"stream"`
	StreamOptions       *streamOptions  `json:"stream_options,omitempty"`
	MaxTokens           int             `json:"max_tokens,omitempty"`
	MaxCompletionTokens int             `json:"max_completion_tokens,omitempty"`
	Temperature         *float64        `json:"temperature,omitempty"`
	TopP                *float64        `json:"top_p,omitempty"`
	FrequencyPenalty    *float64        `json:"frequency_penalty,omitempty"`
	PresencePenalty     *float64        `json:"presence_penalty,omitempty"`
	Stop                []string        `json:"stop,omitempty"`
	Seed                *int64          `json:"seed,omitempty"`
	User                string          `json:"user,omitempty"`
	Tools               []tool          `json:"tools,omitempty"`
	ToolChoice          any             `json:"tool_choice,omitempty"`
	ParallelToolCalls   *bool           `json:"parallel_tool_calls,omitempty"`
	ResponseFormat      *responseFormat `json:"response_format,omitempty"`
	ReasoningEffort     string          `json:"reasoning_effort,omitempty"`
	ReasoningFormat     string          `json:"reasoning_format,omitempty"`
	IncludeReasoning    *bool           `json:"include_reasoning,omitempty"`
	TemplateArguments   map[string]any  `json:"chat_template_kwargs,omitempty"`
	N                   int             `json:"n,omitempty"`
	Logprobs            bool            `json:"logprobs,omitempty"`
	TopLogprobs         int             `json:"top_logprobs,omitempty"`
}

// textBody is a request to continue texts.
type textBody struct {
	Model            string          `json:"model"`
	Prompt           json.RawMessage `json:"prompt"`
	Suffix           string          `json:"suffix,omitempty"`
	Echo             bool            `json:"echo,omitempty"`
	Stream           bool            `json:"stream"`
	StreamOptions    streamOptions   `json:"stream_options"`
	MaxTokens        int             `json:"max_tokens"`
	Temperature      *float64        `json:"temperature,omitempty"`
	TopP             *float64        `json:"top_p,omitempty"`
	FrequencyPenalty *float64        `json:"frequency_penalty,omitempty"`
	PresencePenalty  *float64        `json:"presence_penalty,omitempty"`
	Stop             []string        `json:"stop,omitempty"`
	Seed             *int64          `json:"seed,omitempty"`
	User             string          `json:"user,omitempty"`
	N                int             `json:"n,omitempty"`
	Logprobs         *int            `json:"logprobs,omitempty"`
}

// streamOptions asks for the usage at the end of a stream.
type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// message is a message of the conversation.
type message struct {
	Role             string     `json:"role"`
	Content          any        `json:"content"`
	Name             string     `json:"name,omitempty"`
	Reasoning        string     `json:"reasoning,omitempty"`
	ReasoningContent string     `json:"reasoning_content,omitempty"`
	ToolCalls        []toolCall `json:"tool_calls,omitempty"`
	ToolCallID       string     `json:"tool_call_id,omitempty"`
}

// part is a part of a message: text or an image.
type part struct {
	Type     string    `json:"type"`
	Text     string    `json:"text,omitempty"`
	ImageURL *imageURL `json:"image_url,omitempty"`
}

// imageURL is the address or the data: URI of an image.
type imageURL struct {
	URL    string `json:"url"`
	Detail string `json:"detail,omitempty"`
}

// toolCall is a call in an earlier message of the assistant.
type toolCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function functionCall `json:"function"`
}

// functionCall is the function of a toolCall. Its arguments are JSON in a string.
type functionCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// tool is a function of the client, or a built-in tool.
type tool struct {
	Type     string    `json:"type"`
	Function *function `json:"function,omitempty"` // nil for a built-in tool
}

// function describes a function of the client.
type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
	Strict      bool            `json:"strict,omitempty"`
}

// responseFormat is the format of the answer.
type responseFormat struct {
	Type       string      `json:"type"`
	JSONSchema *jsonSchema `json:"json_schema,omitempty"`
}

// jsonSchema is the schema of the answer.
type jsonSchema struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	Strict      bool            `json:"strict,omitempty"`
}

// encode writes the request for an upstream. It always requests a stream: only a stream shows progress, allows
// time-outs between pieces, and stops the engine when it is closed.
func encode(u inference.Upstream, m *inference.Model, r *inference.Request) ([]byte, error) {
	if t := r.Text; t != nil {
		return json.Marshal(textBody{
			Model:            u.Model,
			Prompt:           t.Prompt,
			Suffix:           t.Suffix,
			Echo:             t.Echo,
			Stream:           true,
			StreamOptions:    streamOptions{IncludeUsage: true},
			MaxTokens:        r.MaxTokens,
			Temperature:      r.Temperature,
			TopP:             r.TopP,
			FrequencyPenalty: r.FrequencyPenalty,
			PresencePenalty:  r.PresencePenalty,
			Stop:             r.Stop,
			Seed:             r.Seed,
			User:             r.User,
			N:                r.N,
			Logprobs:         t.Logprobs,
		})
	}
	b := newBody(u, m, r)
	b.Stream, b.StreamOptions = true, &streamOptions{IncludeUsage: true}

	payload, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}

	return u.AppendFields(payload, r)
}

// newBody returns a request for a chat completion in the form of the upstream.
func newBody(u inference.Upstream, m *inference.Model, r *inference.Request) *body {
	e := engines[u.Kind]

	b := &body{
		Model:            u.Model,
		Temperature:      r.Temperature,
		TopP:             r.TopP,
		FrequencyPenalty: r.FrequencyPenalty,
		PresencePenalty:  r.PresencePenalty,
		Stop:             r.Stop,
		Seed:             r.Seed,
		User:             r.User,
		N:                r.N,
		Logprobs:         r.Logprobs,
		TopLogprobs:      r.TopLogprobs,
	}
	if e.maxTokens == "max_tokens" {
		b.MaxTokens = r.MaxTokens
	} else {
		b.MaxCompletionTokens = r.MaxTokens
	}

	for _, msg := range r.Messages {
		b.Messages = append(b.Messages, e.message(msg))
	}
	e.addTools(b, r)
	e.addFormat(b, m, r)
	e.addReasoning(b, u, m, r)

	return b
}

// message returns a message in the form of the engine.
func (e engine) message(m inference.Message) message {
	// The chat API has no field for a failed call.
	if m.Failed {
		m.Parts = append([]inference.Part{{Text: "Error:"}}, m.Parts...)
	}

	out := message{Role: m.Role, Content: contentOf(m), ToolCallID: m.ToolCallID}
	if m.Role == inference.Developer && !e.developer {
		out.Role = inference.System
	}

	if e.names {
		out.Name = m.Name
	}

	switch e.reasoning {
	case "reasoning":
		out.Reasoning = m.Reasoning
	case "reasoning_content":
		out.ReasoningContent = m.Reasoning
	}

	for _, c := range m.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, toolCall{c.ID, inference.FunctionTool, functionCall{c.Name, c.Arguments}})
	}

	return out
}

// contentOf returns a string for text alone, because some engines mishandle or reject lists with one text.
func contentOf(m inference.Message) any {
	if !slices.ContainsFunc(m.Parts, func(p inference.Part) bool { return p.Image != nil }) {
		return m.Text()
	}
	var parts []part

	for _, p := range m.Parts {
		if p.Image != nil {
			parts = append(parts, part{Type: "image_url", ImageURL: &imageURL{p.Image.URL, p.Image.Detail}})
		} else {
			parts = append(parts, part{Type: "text", Text: p.Text})
		}
	}

	return parts
}

// addTools writes the tools that may be called. If the engine would ignore the tool choice, the list of tools and an
// instruction express it.
func (e engine) addTools(b *body, r *inference.Request) {
	for _, t := range r.Offered() {
		b.Tools = append(
			b.Tools,
			tool{inference.FunctionTool, &function{t.Name, t.Description, t.Parameters, t.Strict}},
		)
	}

	for _, t := range r.Tools {
		if t.Type != inference.FunctionTool { // the upstream must run it itself
			b.Tools = append(b.Tools, tool{Type: t.Type})
		}
	}

	if len(b.Tools) == 0 {
		return
	}

	if e.parallel {
		b.ParallelToolCalls = r.ParallelToolCalls
	}

	mode := r.ToolChoice.Mode
	if mode != inference.ChooseRequired && mode != inference.ChooseNamed {
		return
	}

	switch {
	case e.choice == choiceIgnored && mode == inference.ChooseNamed:
		b.instruct(fmt.Sprintf("You must answer by calling the function %s.", r.ToolChoice.Names[0]))
	case e.choice == choiceIgnored:
		b.instruct("You must answer by calling one of the functions.")
	case e.choice == choiceFull && mode == inference.ChooseNamed:
		b.ToolChoice = map[string]any{
			"type":     inference.FunctionTool,
			"function": map[string]string{"name": r.ToolChoice.Names[0]},
		}
	default:
		b.ToolChoice = inference.ChooseRequired
	}
}

// addFormat writes a JSON format into its field if the engine enforces it, and otherwise into an instruction.
func (e engine) addFormat(b *body, m *inference.Model, r *inference.Request) {
	f := r.Format
	switch {
	case !f.JSON():
	case e.traits.NativeJSON || m.Can(inference.CanJSONSchema):
		b.ResponseFormat = &responseFormat{Type: f.Type}
		if f.Type == inference.JSONSchema {
			b.ResponseFormat.JSONSchema = &jsonSchema{f.Name, f.Description, f.Schema, f.Strict}
		}
	case len(f.Schema) > 0:
		b.instruct("Answer with JSON and nothing else. It must satisfy this JSON Schema: " + string(f.Schema))
	default:
		b.instruct("Answer with one JSON object and nothing else.")
	}
}

// instruct adds a sentence to the system message. It adds no second system message, because many chat templates allow
// only one, at the start.
func (b *body) instruct(sentence string) {
	if len(b.Messages) > 0 && (b.Messages[0].Role == inference.System || b.Messages[0].Role == inference.Developer) {
		if s, ok := b.Messages[0].Content.(string); ok {
			b.Messages[0].Content = strings.TrimSpace(s + "\n\n" + sentence)
			return
		}
	}
	b.Messages = slices.Insert(b.Messages, 0, message{Role: inference.System, Content: sentence})
}

// addReasoning writes the reasoning effort in the way that the engine and the model understand.
func (e engine) addReasoning(b *body, u inference.Upstream, m *inference.Model, r *inference.Request) {
	effort := r.ReasoningEffort

	sent, mapped := e.efforts[effort]
	if !mapped {
		sent = effort
	}
	b.ReasoningEffort = sent

	if e.template && effort != "" && effort != "default" {
		name := m.Reasoning.Switch
		if name == "" {
			name = "enable_thinking"
		}

		b.TemplateArguments = map[string]any{name: effort != "none"}
		if sent != "" {
			b.TemplateArguments["reasoning_effort"] = sent
		}
	}

	if u.Kind == inference.Groq && m.Can(inference.CanReason) {
		// Groq must always separate the reasoning. This server then writes the format that the caller requested.
		if f := m.Reasoning.Formats; f != nil && len(*f) == 0 {
			b.IncludeReasoning = new(true)
		} else {
			b.ReasoningFormat = string(inference.Parsed)
		}
	}
}
