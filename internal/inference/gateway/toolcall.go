package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"presswork/internal/inference"
)

// maxToolCalls bounds the calls of built-in tools in one answer. One round may have several calls.
const maxToolCalls = 32

// toolWaitMargin is how much later than ToolWait a session may report that no worker has begun it. The report passes
// through Redis.
const toolWaitMargin = 15 * time.Second

// errToolTime ends a call when the time for tools is over.
var errToolTime = errors.New("the time for tools is over")

// builtinArguments returns the arguments of a call as a JSON object, or false if they are malformed. gpt-oss writes
// Python code without JSON around it.
func builtinArguments(name, written string) (string, bool) {
	trimmed := strings.TrimSpace(written)

	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(trimmed), &object) == nil && object != nil {
		return trimmed, true
	}

	if name != inference.PythonFunction || trimmed == "" || trimmed == "null" || trimmed[0] == '{' {
		return "", false
	}
	code := written
	_ = json.Unmarshal([]byte(trimmed), &code) // the code may be a JSON string
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(map[string]string{"code": code})

	return strings.TrimSpace(b.String()), true
}

// callLimit returns how many calls of built-in tools the answer may have.
func (d *rounds) callLimit() int {
	if n := d.c.request.MaxToolCalls; n > 0 {
		return min(n, maxToolCalls)
	}

	return maxToolCalls
}

// runCall runs one call, emits its result and returns the output for the model. An error ends the completion.
func (d *rounds) runCall(ctx context.Context, call inference.BuiltinCall) (string, error) {
	tool, isRemote := d.remote[call.Name]
	if tool.approval {
		return "It was not called, because the user must approve it first.", nil
	}

	if isRemote {
		return d.callServer(ctx, tool, inference.ServerCall{
			Server: tool.label, Tool: tool.Name, Arguments: call.Arguments,
		})
	}

	if d.callsUsed() || d.session == nil {
		return d.refuseCall(), nil
	}

	result, err := d.callSession(ctx, call)
	if err != nil {
		return "", err
	}

	return d.emitCall(inference.ExecutedTool{BuiltinCall: call, ToolResult: result})
}

// callsUsed reports whether the answer has used its calls or its time for tools.
func (d *rounds) callsUsed() bool {
	return d.noMoreCalls || d.executedCalls >= d.callLimit() || d.timeLeft <= 0
}

// refuseCall ends the calls of the answer. It returns the output for the model.
func (d *rounds) refuseCall() string {
	d.noMoreCalls = true
	return "It was not called: no more calls are possible in this answer."
}

// emitCall bounds the result of a call and emits it. It returns the output for the model.
func (d *rounds) emitCall(e inference.ExecutedTool) (string, error) {
	dropped := d.dropPictures(&e.ToolResult)
	e.Output = cutOutput(dropped + strings.ToValidUTF8(e.Output, "\uFFFD"))
	d.origins = append(d.origins, e.Origins...)
	e.Origins = nil // only annotate needs them
	e.Index = d.executedCalls
	d.executedCalls++

	return escapeMarks(e.Output), d.c.emit(&inference.Chunk{Executed: []inference.ExecutedTool{e}})
}

// callSession runs a call in the session. If the call fails, the result says so to the model. An error is returned
// only when ctx has ended.
func (d *rounds) callSession(ctx context.Context, call inference.BuiltinCall) (inference.ToolResult, error) {
	limit := d.timeLeft
	// The first call also waits for a worker, which does not count as time of the tools.
	if !d.begun {
		limit += inference.ToolWait + toolWaitMargin
	}

	limited, cancel := context.WithTimeoutCause(ctx, limit, errToolTime)
	defer cancel()
	result, err := d.session.Call(limited, call)
	d.timeLeft -= result.Took

	switch {
	case err == nil:
		d.begun = true
		return result, nil
	case ctx.Err() != nil:
		return inference.ToolResult{}, context.Cause(ctx)
	case errors.Is(err, inference.ErrToolsBusy):
		d.noMoreCalls = true
		const busy = "The tool did not run: no worker was free within %s. Answer without it, and say that it was busy."

		return failedTool(busy, inference.ToolWait), nil
	case errors.Is(context.Cause(limited), errToolTime):
		d.noMoreCalls = true
		const late = "The call was ended: the tools of an answer have %s together."

		return failedTool(late, d.c.model.Routing.ToolTimeout), nil
	}
	d.c.g.opts.Log.LogAttrs(
		ctx,
		slog.LevelWarn,
		"a session of built-in tools was lost",
		slog.String("model", d.c.model.ID),
		slog.String("function", call.Name),
		slog.Any("error", err),
	)

	return d.replaceSession(ctx), nil
}

// replaceSession opens a session in place of one that was lost, once in an answer. It returns the result of the call
// that was lost.
func (d *rounds) replaceSession(ctx context.Context) inference.ToolResult {
	d.closeSession()
	d.session, d.begun = nil, false

	if !d.sessionLost {
		d.sessionLost = true

		session, err := d.c.g.opts.Tools.Open(ctx, d.c.request, d.types)
		if err == nil {
			d.session = session

			return failedTool("The tool stopped unexpectedly. Its variables, files and pages are lost; " +
				"what you still need must be made again.")
		}
	}
	d.noMoreCalls = true

	return failedTool("The tool stopped unexpectedly and is not available any more.")
}

// failedTool returns the result of a call that did not run to its end.
func failedTool(format string, args ...any) inference.ToolResult {
	return inference.ToolResult{Failed: true, Output: fmt.Sprintf(format, args...)}
}
