package openai

import "presswork/internal/inference"

// engine holds the differences of one kind of upstream.
type engine struct {
	traits inference.Traits
	// maxTokens is the field with the limit of the answer.
	maxTokens string
	// choice is the supported part of tool_choice.
	choice choiceSupport
	// efforts maps reasoning_effort to the upstream's values. A value that is not in the map is sent unchanged; one
	// that maps to "" is omitted.
	efforts map[string]string
	// template means that chat_template_kwargs switches thinking on and off.
	template bool
	// reasoning is the field for an assistant's earlier reasoning.
	reasoning string
	// developer means that the upstream accepts the role developer. names means that it accepts names of messages.
	developer, names bool
	// parallel means that the upstream accepts parallel_tool_calls.
	parallel bool
	// base64 means that the upstream can send vectors in base64.
	base64 bool
}

// choiceSupport is how much of tool_choice an engine obeys.
type choiceSupport int

const (
	choiceFull     choiceSupport = iota
	choiceRequired               // "required" but not a named function
	choiceIgnored                // tool_choice has no effect
)

// engines maps a kind of upstream to its differences.
var engines = map[string]engine{
	inference.Plain: {
		// Nothing is known about the server, so it gets only what all servers understand.
		maxTokens: "max_tokens",
		efforts:   map[string]string{"default": ""},
	},
	inference.Ollama: {
		// It loads no images, ignores max_completion_tokens and tool_choice, and fails on an unknown effort.
		traits:    inference.Traits{NativeJSON: true},
		maxTokens: "max_tokens",
		choice:    choiceIgnored,
		efforts:   map[string]string{"default": "", "minimal": "low", "xhigh": "high", "max": "high"},
		reasoning: "reasoning",
	},
	inference.LlamaServer: {
		// It treats a named tool_choice as auto.
		traits:    inference.Traits{NativeJSON: true},
		maxTokens: "max_tokens",
		choice:    choiceRequired,
		efforts:   map[string]string{"default": "", "none": ""},
		template:  true,
		reasoning: "reasoning_content",
		parallel:  true,
		base64:    true,
	},
	inference.VLLM: {
		// Its chat template switches thinking, so the effort "none" is not sent.
		traits:    inference.Traits{NativeJSON: true},
		maxTokens: "max_completion_tokens",
		efforts:   map[string]string{"default": "", "none": ""},
		template:  true,
		reasoning: "reasoning",
		names:     true,
		parallel:  true,
		base64:    true,
	},
	inference.WhisperServer: {
		// Its differences are in audio.go.
		maxTokens: "max_tokens",
	},
	inference.Groq: {
		// It rejects names of messages, and needs a reasoning format: see addReasoning.
		traits:    inference.Traits{FetchesImages: true, NativeJSON: true},
		maxTokens: "max_completion_tokens",
		reasoning: "reasoning",
		parallel:  true,
	},
	inference.OpenAI: {
		traits:    inference.Traits{FetchesImages: true, NativeJSON: true},
		maxTokens: "max_completion_tokens",
		efforts:   map[string]string{"default": ""},
		developer: true,
		names:     true,
		parallel:  true,
		base64:    true,
	},
}
