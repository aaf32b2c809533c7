// Package tools runs the built-in tools of models in sessions. The worker of a completion has a Toolbox, and a worker
// of the queue tasks.Tools has a Server, perhaps in another process:
//  1. Toolbox.Open checks that a living worker offers the tools. It sends nothing.
//  2. At the first tool call, the session becomes a stream call. Its body has the files of the request.
//  3. Server.Serve takes the call. Each tool call arrives as an input, and each result is sent as a frame.
//  4. A tool is opened at its first use and keeps its state, such as variables, until the session ends.
//
// After its first result a session cannot move to another worker, because its state is lost. If its worker dies or
// stops, the caller gets the reason.
package tools

import (
	"context"
	"encoding/json"

	"presswork/internal/inference"
	"presswork/internal/inference/browse"
	"presswork/internal/inference/sandbox"
)

// CodeInterpreter returns the built-in tool code_interpreter. Its code finds the files of the session in
// sandbox.InputDir.
func CodeInterpreter(pool *sandbox.Pool) Tool {
	return Tool{Type: inference.CodeInterpreter, Open: func(ctx context.Context, files []File) (OpenTool, error) {
		inputs := make([]sandbox.File, len(files))
		for i, f := range files {
			inputs[i] = sandbox.File{Name: f.Name, Data: f.Data}
		}

		s, err := pool.Session(ctx, inputs)
		if err != nil {
			return nil, err
		}

		return interpreterSession{s}, nil
	}}
}

// interpreterSession is a session with its own interpreter.
type interpreterSession struct{ *sandbox.Session }

// Call runs the code in the arguments of a call.
func (s interpreterSession) Call(ctx context.Context, call inference.BuiltinCall) (inference.ToolResult, error) {
	var arguments struct {
		Code *string `json:"code"`
	}
	if err := json.Unmarshal([]byte(call.Arguments), &arguments); err != nil || arguments.Code == nil {
		return inference.ToolResult{Failed: true, Output: `The arguments must be {"code": "..."}.`}, nil
	}

	return s.Run(ctx, *arguments.Code)
}

// BrowserSearch returns the built-in tool browser_search. It is unavailable without a search engine. Each session
// has its own pages.
func BrowserSearch(b *browse.Browser) Tool {
	tool := Tool{Type: inference.BrowserSearch, Open: func(context.Context, []File) (OpenTool, error) {
		return browserSession{b.Session()}, nil
	}}
	if b.Available() != nil {
		tool.Unavailable = "no search engine is configured; set SEARXNG_URL or SEARCH_URL"
	}

	return tool
}

// browserSession is a session that holds its pages only in memory.
type browserSession struct{ *browse.Session }

// Close does nothing: the garbage collector frees the pages.
func (browserSession) Close() error { return nil }
