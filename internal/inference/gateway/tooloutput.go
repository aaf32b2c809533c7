package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"presswork/internal/inference"
	"presswork/internal/lazyregexp"
)

const (
	// maxToolOutput is the largest output of a call that the model receives, in bytes.
	maxToolOutput = 16 << 10
	// maxPictures bounds the sum of all pictures of one answer, in bytes of base64. Redis holds them until the answer
	// ends, and buffers at most 16 MB for one reader.
	maxPictures = 8 << 20
)

// cutOutput returns the start of an output. A mark tells the model that the rest is missing.
func cutOutput(s string) string {
	if len(s) <= maxToolOutput {
		return s
	}
	mark := fmt.Sprintf("\n[cut: the output has %d bytes]", len(s))

	n := maxToolOutput - len(mark)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}

	return s[:n] + mark
}

// dropPictures removes pictures from r that would exceed maxPictures. It returns a line that tells the model about
// them, or "".
func (d *rounds) dropPictures(r *inference.ToolResult) string {
	kept := make([]inference.CodeResult, 0, len(r.Code))
	for _, c := range r.Code {
		if d.pictures+len(c.PNG) > maxPictures {
			continue
		}
		d.pictures += len(c.PNG)
		kept = append(kept, c)
	}

	n := len(r.Code) - len(kept)
	if n == 0 {
		return ""
	}
	r.Code = kept

	return fmt.Sprintf(
		"[%d pictures are not shown to the user: those of an answer may have %d MB together.]\n",
		n,
		maxPictures>>20,
	)
}

// The marks of chat templates. Engines read them as control tokens anywhere in a prompt.
var (
	// <|im_end|> of most models, <｜User｜> of DeepSeek.
	specialToken = lazyregexp.New(`<([|｜])([^|｜<>\n]{1,64})([|｜])>`)
	templateTag  = lazyregexp.New(`<(/?(?:[a-z]{1,16}:)?(?:` + strings.Join([]string{
		`tool_calls?|tool_response|tool_result|tool_sep|think|function_calls?`,              // Qwen, Hermes, Hunyuan
		`(?:start|end)_of_turn|(?:start|end)_function_(?:call|response|declaration)|escape`, // Gemma
		`arg_key|arg_value|observation|sop`,                                                 // GLM
		`(?:function|parameter|invoke)(?:[= ][^<>\n]{0,128})?`,                              // Llama 3, Qwen Coder, MiniMax
		`bos|eos|s`, // Llama 2, Mistral
	}, "|") + `))>`)
	// Mistral, Llama 2, GLM, LM Studio.
	bracketTag = lazyregexp.New(`\[(/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|` +
		`TOOL_REQUEST|END_TOOL_REQUEST|THINK|ARGS|CALL_ID|gMASK))\]`)
)

// escapeMarks puts spaces into the marks of chat templates in the output of a tool. Otherwise a page with such marks
// could end its message and begin another one.
func escapeMarks(s string) string {
	s = specialToken().ReplaceAllString(s, "<$1 $2 $3>")
	s = templateTag().ReplaceAllString(s, "< $1>")

	return bracketTag().ReplaceAllString(s, "[ $1]")
}

// escapeSchema is escapeMarks for the texts of a JSON Schema. Any character of a mark may be written as an escape of
// JSON, which the engine decodes, so it decodes them first.
func escapeSchema(schema json.RawMessage) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(schema))
	d.UseNumber()

	var value any
	if d.Decode(&value) != nil {
		return schema // the engine cannot read it either
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(value) // it was decoded from JSON

	return json.RawMessage(escapeMarks(strings.TrimSpace(b.String())))
}
