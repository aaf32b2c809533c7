package gateway

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"presswork/internal/inference"
	"presswork/internal/inference/schema"
	"presswork/internal/input"
)

// maxCalls is how many calls one answer may have.
const maxCalls = 128

// calls puts the tool calls of an answer together and gives their deltas one
// form: indices without gaps, id and name once.
type calls struct {
	list []*call
	// single drops every call after the first: parallel_tool_calls false.
	single bool
	// known are the tools whose calls may be shown before they are checked.
	known []string
	// builtin are the functions of built-in tools: their calls are not shown.
	builtin []string
	// shown is how many calls were shown.
	shown int
	// unchecked shows every call: disable_tool_validation.
	unchecked bool
	// validation is the model's; held keeps the calls back until release, because
	// the model may have to correct them.
	validation string
	held       bool
}

type call struct {
	name      string
	arguments strings.Builder
	rawIndex  int
	rawID     string
	index     int // among those shown; -1 before it is
	sent      int // bytes of arguments already shown
}

// push takes one delta and returns what to show of it.
func (c *calls) push(raw inference.RawToolDelta) (inference.ToolDelta, bool) {
	at := c.find(raw)
	if at < 0 {
		if len(c.list) == maxCalls {
			return inference.ToolDelta{}, false
		}
		c.list = append(c.list, &call{rawIndex: raw.Index, rawID: raw.ID, index: -1})
		at = len(c.list) - 1
	}

	k := c.list[at]
	if k.rawID == "" {
		k.rawID = raw.ID
	}

	if k.name == "" {
		k.name = c.nameOf(raw.Name)
	}
	k.arguments.WriteString(raw.Arguments)

	return c.show(at)
}

// find gives the call a delta continues, -1 for a new one. Some engines give
// every call index 0: then a new id means a new call.
func (c *calls) find(raw inference.RawToolDelta) int {
	for i, k := range slices.Backward(c.list) {
		if k.rawIndex != raw.Index {
			continue
		}

		if raw.ID != "" && k.rawID != "" && raw.ID != k.rawID {
			if slices.ContainsFunc(c.list, func(k *call) bool { return k.rawID == raw.ID }) {
				continue
			}

			return -1
		}

		return i
	}

	return -1
}

// nameOf is the function that a name of the model's means: gpt-oss writes its
// namespace before it.
func (c *calls) nameOf(name string) string {
	name = strings.TrimPrefix(name, "functions.")
	if under := strings.ReplaceAll(name, ".", "_"); slices.Contains(c.builtin, under) {
		return under
	}

	return name
}

func (c *calls) show(at int) (inference.ToolDelta, bool) {
	k := c.list[at]
	if c.held || k.name == "" || (c.single && at > 0) || slices.Contains(c.builtin, k.name) ||
		!(c.unchecked || slices.Contains(c.known, k.name)) {
		return inference.ToolDelta{}, false
	}

	first := k.index < 0
	if first {
		k.index = c.shown
		c.shown++
	}
	d := inference.ToolDelta{Index: k.index, Arguments: k.arguments.String()[k.sent:]}

	k.sent = k.arguments.Len()
	if first {
		d.ID, d.Name = k.rawID, k.name
		if d.ID == "" {
			d.ID = newCallID()
		}
	}

	return d, d.ID != "" || d.Arguments != ""
}

// end returns the deltas that complete the calls: a call without arguments gets
// an empty object, as every client parses them.
func (c *calls) end() []inference.ToolDelta {
	if c.single && len(c.list) > 1 {
		c.list = c.list[:1]
	}
	var out []inference.ToolDelta

	for i, k := range c.list {
		if strings.TrimSpace(k.arguments.String()) != "" {
			continue
		}
		k.arguments.WriteString("{}")

		if d, ok := c.show(i); ok {
			out = append(out, d)
		}
	}

	return out
}

// release shows the calls that were kept back.
func (c *calls) release() []inference.ToolDelta {
	if !c.held {
		return nil
	}
	c.held = false
	var out []inference.ToolDelta

	for i := range c.list {
		if d, ok := c.show(i); ok {
			out = append(out, d)
		}
	}

	return out
}

// generation writes the calls for a failed_generation.
func (c *calls) generation() string {
	var out []string

	for _, k := range c.list {
		name, _ := json.Marshal(k.name)

		args := k.arguments.String()
		if !json.Valid([]byte(args)) {
			quoted, _ := json.Marshal(args)
			args = string(quoted)
		}
		out = append(out, fmt.Sprintf(`{"name": %s, "arguments": %s}`, name, args))
	}

	return strings.Join(out, "\n")
}

// check holds the calls to the request. text is what the model wrote beside
// them; of a cut answer the arguments are not looked at: its finish reason shows
// the caller.
func (c *calls) check(r *inference.Request, text string, cut bool) error {
	const failed = "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details. "

	mode := r.ToolChoice.Mode
	if len(c.list) == 0 {
		if mode == inference.ChooseRequired || mode == inference.ChooseNamed {
			return failedf(
				inference.ToolUseFailed,
				text,
				failed+"A tool call was required, but the model did not call a tool.",
			)
		}

		return nil
	}

	if c.unchecked {
		return nil
	}
	var wrong *wrongArguments
	compiled := map[string]*schema.Schema{}

	for at, k := range c.list {
		i := slices.IndexFunc(
			r.Tools,
			func(t inference.Tool) bool { return t.Type == inference.FunctionTool && t.Name == k.name },
		)
		switch {
		case i < 0:
			return failedf(
				inference.ToolUseFailed,
				c.generation(),
				"Tool call validation failed: attempted to call tool '%s' which was not in request.tools",
				input.Cut(k.name, 64),
			)
		case !slices.Contains(c.known, k.name):
			return failedf(
				inference.ToolUseFailed,
				c.generation(),
				"Tool call validation failed: attempted to call tool '%s', which tool_choice does not allow",
				k.name,
			)
		}

		arguments := k.arguments.String()
		switch {
		case cut || slices.Contains(c.builtin, k.name):
			// Those of a built-in tool are looked at when it is to run.
			continue
		case !json.Valid([]byte(arguments)):
			return failedf(
				inference.ToolUseFailed,
				c.generation(),
				failed+"The arguments of '%s' are wrong: %s",
				k.name,
				schema.ErrNotJSON,
			)
		case c.validation != inference.ValidateFeedBack && c.validation != inference.ValidateStrict:
			continue
		}

		err := checkArguments(r.Tools[i], arguments, compiled)
		if err == nil {
			continue
		}

		if wrong == nil {
			wrong = &wrongArguments{
				reasons: map[int]string{},
				failure: failedf(
					inference.ToolUseFailed,
					c.generation(),
					failed+"The arguments of '%s' are wrong: %s",
					k.name,
					input.Cut(err.Error(), 300),
				),
			}
		}
		wrong.reasons[at] = input.Cut(err.Error(), 300)
	}

	if wrong == nil {
		return nil
	}

	return wrong
}

// wrongArguments is the failure of calls whose arguments miss their schema.
type wrongArguments struct {
	failure *inference.Error
	reasons map[int]string // by the call's place
}

func (e *wrongArguments) Error() string { return e.failure.Error() }
func (e *wrongArguments) Unwrap() error { return e.failure }

// feedBack is the request that shows the model what is wrong with its calls.
func (c *calls) feedBack(r *inference.Request, wrong *wrongArguments) *inference.Request {
	said := inference.Message{Role: inference.Assistant}
	var results []inference.Message

	for at, k := range c.list {
		id := k.rawID
		if id == "" {
			id = newCallID()
		}
		said.ToolCalls = append(
			said.ToolCalls,
			inference.ToolCall{ID: id, Name: k.name, Arguments: k.arguments.String()},
		)

		text := "It was not called, because another call is wrong. Make this call again, too."
		if reason := wrong.reasons[at]; reason != "" {
			text = fmt.Sprintf(
				"It was not called, because the arguments are wrong: %s. Call it again with corrected arguments.",
				reason,
			)
		}
		results = append(
			results,
			inference.Message{Role: inference.ToolRole, ToolCallID: id, Parts: []inference.Part{{Text: text}}},
		)
	}
	again := *r
	again.Messages = slices.Concat(r.Messages, []inference.Message{said}, results)

	return &again
}

func newCallID() string { return "call_" + rand.Text()[:24] }

// checkArguments holds the arguments of a call to its tool. A schema is compiled
// once for all the calls of an answer.
func checkArguments(t inference.Tool, arguments string, compiled map[string]*schema.Schema) error {
	if len(t.Parameters) == 0 {
		var object map[string]json.RawMessage
		if err := json.Unmarshal([]byte(arguments), &object); err != nil || object == nil {
			return schema.ErrNotObject
		}

		return nil
	}

	s := compiled[t.Name]
	if s == nil {
		var err error
		if s, err = schema.Compile(t.Parameters); err != nil {
			return err
		}
		compiled[t.Name] = s
	}

	return s.ValidateObject(arguments)
}
