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

// maxCalls is the largest number of calls in one answer. Further calls are dropped.
const maxCalls = 128

// failedCallPrefix is the start of the message of a ToolUseFailed.
const failedCallPrefix = "Failed to call a function. Please adjust your prompt. " +
	"See 'failed_generation' for more details. "

// calls joins the tool calls of an answer from their deltas. It returns the deltas to emit in one form: indices without
// gaps, id and name once.
type calls struct {
	list []*call
	// single drops every call after the first, for parallel_tool_calls false.
	single bool
	// known are the tools whose calls may be emitted before they are checked.
	known []string
	// builtin are the functions of built-in tools. Their calls are not emitted.
	builtin []string
	// emitted counts the calls that were emitted.
	emitted int
	// unchecked emits every call without checks, for disable_tool_validation.
	unchecked bool
	// validation is the ToolValidation of the model.
	validation string
	// held reports that calls are not emitted before releaseHeld, because the model may have to correct them.
	held bool
}

// call is one tool call of an answer.
type call struct {
	name      string
	arguments strings.Builder
	rawIndex  int    // as the upstream sends it
	rawID     string // as the upstream sends it
	index     int    // among the calls that were emitted; -1 for one that was not
	sent      int    // bytes of the arguments that were emitted
}

// push adds one delta. It returns the delta to emit, if there is one.
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
	// Some servers send the id or the name only in a later piece.
	if k.rawID == "" {
		k.rawID = raw.ID
	}

	if k.name == "" {
		k.name = c.resolveName(raw.Name)
	}
	k.arguments.WriteString(raw.Arguments)

	return c.nextDelta(at)
}

// find returns the index of the call that a delta continues, or -1 for a new call. Some engines give every call the
// index 0: then a new id means a new call.
func (c *calls) find(raw inference.RawToolDelta) int {
	for i, k := range slices.Backward(c.list) {
		if k.rawIndex != raw.Index {
			continue
		}

		if raw.ID != "" && k.rawID != "" && raw.ID != k.rawID {
			// The id is that of another call with the same index.
			if slices.ContainsFunc(c.list, func(k *call) bool { return k.rawID == raw.ID }) {
				continue
			}

			return -1
		}

		return i
	}

	return -1
}

// resolveName returns the function that the model means by a name. gpt-oss writes a namespace before the name.
func (c *calls) resolveName(name string) string {
	name = strings.TrimPrefix(name, "functions.")
	if builtin := strings.ReplaceAll(name, ".", "_"); slices.Contains(c.builtin, builtin) {
		return builtin
	}

	return name
}

// nextDelta returns the part of a call that was not emitted yet. ok is false if there is none, or if the call must
// not be emitted now.
func (c *calls) nextDelta(at int) (_ inference.ToolDelta, ok bool) {
	k := c.list[at]
	dropped := c.single && at > 0

	// The gateway runs the calls of built-in tools itself, so the caller does not see them.
	public := !slices.Contains(c.builtin, k.name) && (c.unchecked || slices.Contains(c.known, k.name))
	if c.held || k.name == "" || dropped || !public {
		return inference.ToolDelta{}, false
	}

	first := k.index < 0
	if first {
		k.index = c.emitted
		c.emitted++
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

// finish returns the deltas that complete the calls. A call without arguments gets an empty object, because every
// client parses the arguments.
func (c *calls) finish() []inference.ToolDelta {
	if c.single && len(c.list) > 1 {
		c.list = c.list[:1]
	}
	var out []inference.ToolDelta

	for i, k := range c.list {
		if strings.TrimSpace(k.arguments.String()) != "" {
			continue
		}
		k.arguments.WriteString("{}")

		if d, ok := c.nextDelta(i); ok {
			out = append(out, d)
		}
	}

	return out
}

// releaseHeld returns the calls that were held back.
func (c *calls) releaseHeld() []inference.ToolDelta {
	if !c.held {
		return nil
	}
	c.held = false
	var out []inference.ToolDelta

	for i := range c.list {
		if d, ok := c.nextDelta(i); ok {
			out = append(out, d)
		}
	}

	return out
}

// generation returns the calls as text for a failed_generation.
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

// check returns an error if the calls are not those that the request allows: a ToolUseFailed, or wrongArguments, which
// the model may correct. text is the content of the answer. If cut reports that the answer reached the token limit, the
// arguments are not checked: the finish reason tells the caller.
func (c *calls) check(r *inference.Request, text string, cut bool) error {
	mode := r.ToolChoice.Mode
	if len(c.list) == 0 {
		if mode == inference.ChooseRequired || mode == inference.ChooseNamed {
			return failedf(
				inference.ToolUseFailed,
				text,
				failedCallPrefix+"A tool call was required, but the model did not call a tool.",
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
		mismatch, err := c.checkCall(r, k, cut, compiled)
		if err != nil {
			return err
		}

		if mismatch == nil {
			continue
		}
		reason := input.Cut(mismatch.Error(), 300)

		if wrong == nil {
			wrong = &wrongArguments{map[int]string{}, c.failedArguments(k, reason)}
		}
		wrong.reasons[at] = reason
	}

	if wrong == nil {
		return nil // not wrong itself, which as an error would not be nil
	}

	return wrong
}

// checkCall checks one call. err fails the request: the function is unknown or not allowed, or the arguments are not
// JSON. mismatch says why the arguments do not satisfy the schema of the tool. It is nil if they do, or if the model's
// ToolValidation does not ask for the check.
func (c *calls) checkCall(
	r *inference.Request, k *call, cut bool, compiled map[string]*schema.Schema,
) (mismatch, err error) {
	i := slices.IndexFunc(r.Tools, func(t inference.Tool) bool {
		return t.Type == inference.FunctionTool && t.Name == k.name
	})
	switch {
	case i < 0:
		return nil, failedf(inference.ToolUseFailed, c.generation(),
			"Tool call validation failed: attempted to call tool '%s' which was not in request.tools",
			input.Cut(k.name, 64))
	case !slices.Contains(c.known, k.name):
		return nil, failedf(inference.ToolUseFailed, c.generation(),
			"Tool call validation failed: attempted to call tool '%s', which tool_choice does not allow", k.name)
	}

	arguments := k.arguments.String()
	switch {
	case cut || slices.Contains(c.builtin, k.name):
		// The arguments of a built-in tool are checked when it runs.
		return nil, nil
	case !json.Valid([]byte(arguments)):
		return nil, c.failedArguments(k, schema.ErrNotJSON.Error())
	case c.validation != inference.ValidateFeedBack && c.validation != inference.ValidateStrict:
		return nil, nil
	}

	return checkArguments(r.Tools[i], arguments, compiled), nil
}

// failedArguments returns the error for a call with wrong arguments.
func (c *calls) failedArguments(k *call, reason string) *inference.Error {
	return failedf(inference.ToolUseFailed, c.generation(),
		failedCallPrefix+"The arguments of '%s' are wrong: %s", k.name, reason)
}

// wrongArguments is the error of calls whose arguments do not satisfy their schema.
type wrongArguments struct {
	reasons map[int]string   // by the index of the call
	failure *inference.Error // for the caller, if the model does not correct the calls
}

func (e *wrongArguments) Error() string { return e.failure.Error() }
func (e *wrongArguments) Unwrap() error { return e.failure }

// feedBack returns the request r, followed by the calls of the model and what is wrong with each.
func (c *calls) feedBack(r *inference.Request, wrong *wrongArguments) *inference.Request {
	answer := inference.Message{Role: inference.Assistant}
	var results []inference.Message

	// A request must have a result for each call in it, so calls that are not wrong get one as well.
	for at, k := range c.list {
		id := k.rawID
		if id == "" {
			id = newCallID()
		}
		answer.ToolCalls = append(
			answer.ToolCalls,
			inference.ToolCall{ID: id, Name: k.name, Arguments: k.arguments.String()},
		)

		text := "It was not called, because another call is wrong. Make this call again, too."
		if reason := wrong.reasons[at]; reason != "" {
			text = fmt.Sprintf(
				"It was not called, because the arguments are wrong: %s. Call it again with corrected arguments.",
				reason,
			)
		}
		result := textMessage(inference.ToolRole, text)
		result.ToolCallID = id
		results = append(results, result)
	}
	retry := *r
	retry.Messages = slices.Concat(r.Messages, []inference.Message{answer}, results)

	return &retry
}

// newCallID returns a random id for a call without one.
func newCallID() string { return "call_" + rand.Text()[:24] }

// checkArguments checks the arguments of a call against the schema of its tool. compiled holds the schemas that were
// already compiled, by the name of the tool.
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
