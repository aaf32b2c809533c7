package openai

import "presswork/internal/inference"

// engine is what one kind of upstream does differently.
type engine struct {
	traits inference.Traits
	// maxTokens is the field that bounds the answer.
	maxTokens string
	// choice is how far tool_choice is understood.
	choice choiceSupport
	// efforts maps reasoning_effort to the upstream's words; a value that is
	// not in it is passed on, one that maps to "" is left out.
	efforts map[string]string
	// template is set where thinking is switched in chat_template_kwargs.
	template bool
	// reasoning is the field that takes back an assistant's reasoning.
	reasoning string
	// developer and names are set where that role, and a message's name, are
	// known.
	developer, names bool
	// parallel is set where parallel_tool_calls is known.
	parallel bool
}

type choiceSupport int

const (
	choiceFull     choiceSupport = iota
	choiceRequired               // "required" but not a named function
	choiceIgnored                // only the tools that are sent count
)

// engines is the table of quirks, by kind.
var engines = map[string]engine{
	inference.Plain: {
		maxTokens: "max_tokens",
		efforts:   map[string]string{"default": ""},
	},
	inference.Ollama: {
		// It fetches no images, ignores max_completion_tokens and tool_choice,
		// and fails on an effort it does not know.
		traits:    inference.Traits{NativeJSON: true},
		maxTokens: "max_tokens",
		choice:    choiceIgnored,
		efforts:   map[string]string{"default": "", "minimal": "low", "xhigh": "high", "max": "high"},
		reasoning: "reasoning",
	},
	inference.LlamaServer: {
		// It takes a named tool_choice for auto.
		traits:    inference.Traits{NativeJSON: true},
		maxTokens: "max_tokens",
		choice:    choiceRequired,
		efforts:   map[string]string{"default": "", "none": ""},
		template:  true,
		reasoning: "reasoning_content",
		parallel:  true,
	},
	inference.VLLM: {
		traits:    inference.Traits{NativeJSON: true},
		maxTokens: "max_completion_tokens",
		efforts:   map[string]string{"default": "", "none": ""},
		template:  true,
		reasoning: "reasoning",
		names:     true,
		parallel:  true,
	},
	inference.WhisperServer: {
		// Its differences are in audio.go.
		maxTokens: "max_tokens",
	},
	inference.Groq: {
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
	},
}
