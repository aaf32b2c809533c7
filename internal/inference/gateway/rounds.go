package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"presswork/internal/inference"
	"presswork/internal/inference/schema"
	"presswork/internal/input"
)

// rounds is the state of an answer with built-in tools. Each round is one call of an upstream; the tools that the
// model calls run before the next one. It is not safe for concurrent use.
type rounds struct {
	c       *completion
	session inference.ToolSession
	// types are the built-in tools of the request.
	types []string
	// functions are the names of the functions that the tools became.
	functions []string
	// servers are the sessions with MCP servers. remote are their tools by the names of the functions.
	servers []inference.ServerSession
	remote  map[string]remoteTool
	// hints describe the servers to the model.
	hints []string
	// listings are those that were not emitted yet: the first token is emitted before them.
	listings []inference.Listing
	// approvals are calls that wait for the user.
	approvals []inference.ServerCall
	// images are pictures of the results of this round.
	images                    []inference.Part
	doneRounds, executedCalls int
	// timeLeft is the remaining time for tools.
	timeLeft time.Duration
	// begun reports that a worker runs the session. Until then, a call may also wait for a worker.
	begun bool
	// pictures is the size of the pictures that were emitted, in bytes of base64.
	pictures int
	// malformed reports that the previous round had arguments that are not JSON.
	malformed bool
	// sessionLost reports that a session was lost and replaced, which happens only once in an answer.
	sessionLost bool
	// noMoreCalls reports that the model may not call tools any more.
	noMoreCalls bool

	// content and reasoning separate the texts of the rounds.
	content, reasoning separator
	// text is the content of the answer so far. origins are the pages that it may cite.
	text    strings.Builder
	origins []inference.Origin
}

// separator puts an empty line between the texts of two rounds. earlier reports that an earlier round had text, now
// that this round has.
type separator struct{ earlier, now bool }

// next returns what to write before the next text of this round.
func (s *separator) next() string {
	first := s.earlier && !s.now
	s.now = true

	if first {
		return "\n\n"
	}

	return ""
}

// endRound ends this round and begins a new one.
func (s *separator) endRound() { *s = separator{earlier: s.earlier || s.now} }

// openTools opens the built-in tools of the request, if it has any, and returns the request of the first round. It
// leaves out optional tools if a tool is not available.
func (c *completion) openTools(ctx context.Context) (r *inference.Request, err error) {
	if !slices.ContainsFunc(c.request.Tools, func(t inference.Tool) bool { return t.Type != inference.FunctionTool }) {
		return c.request, nil
	}
	c.rounds, r, err = c.beginRounds(ctx)

	e, failed := errors.AsType[*inference.Error](err)
	if !failed || e.Code != inference.ToolUnavailable {
		return r, err
	}
	required := *c.request // without the optional tools

	required.Tools = slices.DeleteFunc(slices.Clone(required.Tools), func(t inference.Tool) bool { return t.Optional })
	if len(required.Tools) == len(c.request.Tools) {
		return nil, err
	}
	c.request = &required

	return c.openTools(ctx)
}

// beginRounds opens the built-in tools. It returns the request of the first round.
func (c *completion) beginRounds(ctx context.Context) (*rounds, *inference.Request, error) {
	d := &rounds{c: c, timeLeft: c.model.Routing.ToolTimeout, remote: map[string]remoteTool{}}
	r := *c.request
	r.Tools = nil
	hints := []string{hintUntrusted}

	for i, t := range c.request.Tools {
		if t.Type == inference.MCPTool {
			continue // openServers adds their functions, after all others
		}

		functions := inference.BuiltinFunctions(t.Type)
		if functions == nil {
			r.Tools = append(r.Tools, t)
			continue
		}

		if slices.Contains(d.types, t.Type) {
			continue
		}

		if c.g.opts.Tools == nil {
			return nil, nil, inference.Errorf(http.StatusBadRequest, inference.ToolUnavailable,
				"the built-in tool `%s` is not available here", t.Type).WithParam(fmt.Sprintf("tools[%d].type", i))
		}

		d.types, r.Tools = append(d.types, t.Type), append(r.Tools, functions...)
		for _, f := range functions {
			d.functions = append(d.functions, f.Name)
		}

		if t.Type == inference.BrowserSearch {
			hints = append(hints, hintCite)
		}
	}

	if err := d.openSessions(ctx, &r); err != nil {
		d.close()
		return nil, nil, err
	}

	if r.ToolChoice.Mode == inference.ChooseNone {
		d.noMoreCalls = true
		return d, &r, nil
	}
	hints = append(hints, d.hints...)

	if r.Format.JSON() {
		// An engine that enforces the format while it generates would allow no call of a tool.
		hints = append(hints, jsonHint(r.Format))
		r.Format = inference.Format{}
	}
	r.Messages = withHint(r.Messages, strings.Join(hints, " "))

	return d, &r, nil
}

// openSessions opens the built-in tools and the MCP servers of the request. It adds the functions of the servers to r.
func (d *rounds) openSessions(ctx context.Context, r *inference.Request) (err error) {
	if r.ToolChoice.Mode != inference.ChooseNone && len(d.types) > 0 {
		if d.session, err = d.c.g.opts.Tools.Open(ctx, d.c.request, d.types); err != nil {
			return err
		}
	}
	d.c.rounds = d // calls that the user has approved are emitted

	return d.openServers(ctx, r)
}

// functionNames lists the functions of the built-in tools. A nil d has none.
func (d *rounds) functionNames() []string {
	if d == nil {
		return nil
	}

	return d.functions
}

// close ends the sessions of the tools. A nil d has none.
func (d *rounds) close() {
	if d == nil {
		return
	}

	var group sync.WaitGroup
	for _, s := range d.servers {
		group.Go(func() { _ = s.Close() }) // the server may be gone, which takes a second
	}
	group.Wait()
	d.closeSession()
}

// closeSession ends the session of the built-in tools, if there is one.
func (d *rounds) closeSession() {
	if d.session == nil {
		return
	}

	if err := d.session.Close(); err != nil {
		d.c.g.opts.Log.Warn("closing a session of built-in tools failed", "error", err)
	}
}

// needsRound reports whether the model waits for results of built-in tools. A call of the caller's own functions
// ends the answer: the model calls the built-in tools again when the caller sends the results. If the tools may not
// run any more, needsRound sets the finish reason of the answer.
func (d *rounds) needsRound(n *normaliser) bool {
	if d == nil || n.finish != "tool_calls" || len(n.calls.list) == 0 {
		return false
	}

	if slices.ContainsFunc(n.calls.list, func(k *call) bool { return !slices.Contains(n.calls.builtin, k.name) }) {
		return false
	}

	r := d.c.request
	switch used := d.c.result.Usage.CompletionTokens; {
	case d.noMoreCalls, d.needsApproval(n):
		n.finish = "stop"
		return false
	case r.MaxTokens > 0 && used >= r.MaxTokens:
		n.finish = "length"
		return false
	}

	return true
}

// nextRound runs the tool calls of an answer in order. It returns the request of the next round.
func (d *rounds) nextRound(ctx context.Context, r *inference.Request, n *normaliser) (*inference.Request, error) {
	answer, calls, err := d.readCalls(n)
	if err != nil {
		return nil, err
	}
	d.doneRounds++
	next := *r
	next.Messages = append(slices.Clone(r.Messages), answer)

	for i, call := range calls {
		output := malformedCallOutput
		if call != nil {
			if output, err = d.runCall(ctx, *call); err != nil {
				return nil, err
			}
		}
		next.Messages = append(next.Messages, inference.Message{
			Role: inference.ToolRole, ToolCallID: answer.ToolCalls[i].ID, Parts: []inference.Part{{Text: output}},
		})
	}

	if len(d.images) > 0 {
		next.Messages = append(next.Messages, inference.Message{Role: inference.User, Parts: d.images})
		d.images = nil
	}

	next.ToolChoice = afterCalls(r.ToolChoice)
	if d.noMoreCalls = d.callsUsed() || d.doneRounds >= d.c.model.Routing.ToolRounds; d.noMoreCalls {
		// The last result: the messages of r, the answer with the calls, and one result for each call come first.
		parts := next.Messages[len(r.Messages)+len(calls)].Parts
		parts[0].Text += "\n\nThis was the last call of a tool. Answer now with what you have."
		next.ToolChoice, next.Format = inference.ToolChoice{Mode: inference.ChooseNone}, d.c.request.Format
	}

	// The limit of the request is for all rounds together.
	if limit := d.c.request.MaxTokens; limit > 0 {
		next.MaxTokens = limit - d.c.result.Usage.CompletionTokens
	}
	d.content.endRound()
	d.reasoning.endRound()

	return &next, nil
}

// afterCalls returns the tool choice of the rounds after the first. The model has made the call that the caller
// required.
func afterCalls(choice inference.ToolChoice) inference.ToolChoice {
	switch choice.Mode {
	case inference.ChooseRequired:
		return inference.ToolChoice{Mode: inference.ChooseAuto, Names: choice.Names}
	case inference.ChooseNamed:
		return inference.ToolChoice{}
	}

	return choice
}

// malformedCallOutput is the output that the model reads for a call with malformed arguments.
const malformedCallOutput = "It was not called, because the arguments are not a JSON object. " +
	"Call it again with corrected arguments."

// readCalls returns an answer as a message, and its tool calls. A call whose arguments are not JSON is nil. If the
// previous round also had such a call, the error ends the completion.
func (d *rounds) readCalls(n *normaliser) (inference.Message, []*inference.BuiltinCall, error) {
	answer := inference.Message{
		Role: inference.Assistant, Reasoning: string(n.reasoningText), Thoughts: n.thoughts,
	}
	if len(n.text) > 0 {
		answer.Parts = []inference.Part{{Text: string(n.text)}}
	}
	var calls []*inference.BuiltinCall
	malformed := false

	for _, k := range n.calls.list {
		id, written := k.rawID, k.arguments.String()
		if id == "" || slices.ContainsFunc(answer.ToolCalls, func(c inference.ToolCall) bool { return c.ID == id }) {
			id = newCallID()
		}

		arguments, ok := builtinArguments(k.name, written)
		if ok {
			calls = append(calls, &inference.BuiltinCall{Name: k.name, Arguments: arguments})
		} else {
			// Engines parse the arguments of earlier calls, so they must be JSON.
			quoted, _ := json.Marshal(input.Cut(written, maxToolOutput))
			calls, arguments, malformed = append(calls, nil), fmt.Sprintf(`{"malformed":%s}`, quoted), true
		}
		answer.ToolCalls = append(answer.ToolCalls, inference.ToolCall{ID: id, Name: k.name, Arguments: arguments})
	}

	if malformed && d.malformed {
		return answer, nil, failedf(inference.ToolUseFailed, n.calls.generation(),
			failedCallPrefix+"The arguments are wrong: %s", schema.ErrNotObject)
	}
	d.malformed = malformed

	return answer, calls, nil
}

// prepareChunk prepares a chunk for emission. It separates the text from that of an earlier round, and records the
// content for citations. A nil d does nothing.
func (d *rounds) prepareChunk(c *inference.Chunk) {
	if d == nil {
		return
	}

	if c.Reasoning != "" {
		c.Reasoning = d.reasoning.next() + c.Reasoning
	}

	if c.Content != "" {
		c.Content = d.content.next() + c.Content
		d.text.WriteString(c.Content)
	}
}

// urlCitation is an annotation in OpenAI's format.
type urlCitation struct {
	Type     string `json:"type"`
	Citation struct {
		Start int    `json:"start_index"`
		End   int    `json:"end_index"`
		URL   string `json:"url"`
		Title string `json:"title"`
	} `json:"url_citation"`
}

// annotate emits the addresses of the pages that the answer cites. The citations stay in the text.
func (d *rounds) annotate() error {
	var list []urlCitation

	for _, c := range inference.Citations(d.text.String(), d.origins) {
		a := urlCitation{Type: "url_citation"}
		a.Citation.Start, a.Citation.End, a.Citation.URL, a.Citation.Title = c.Start, c.End, c.URL, c.Title
		list = append(list, a)
	}

	if list == nil {
		return nil
	}

	extra, err := json.Marshal(map[string]any{"annotations": list})
	if err != nil {
		return err
	}

	return d.c.emit(&inference.Chunk{Extra: extra})
}
