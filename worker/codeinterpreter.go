package worker

import (
	"context"
	"encoding/json"

	"presswork/internal/inference"
	"presswork/internal/inference/sandbox"
)

// CodeInterpreter is the built-in tool of that name. Code finds the files of its
// session in sandbox.InputDir.
func CodeInterpreter(pool *sandbox.Pool) Tool {
	return Tool{Type: inference.CodeInterpreter, Open: func(ctx context.Context, files []ToolFile) (OpenTool, error) {
		given := make([]sandbox.File, len(files))
		for i, f := range files {
			given[i] = sandbox.File{Name: f.Name, Data: f.Data}
		}

		s, err := pool.Session(ctx, given)
		if err != nil {
			return nil, err
		}

		return coding{s}, nil
	}}
}

// coding is a session with an interpreter of its own.
type coding struct{ *sandbox.Session }

// Call runs the code of a call.
func (c coding) Call(ctx context.Context, call inference.BuiltinCall) (inference.ToolResult, error) {
	var arguments struct {
		Code *string `json:"code"`
	}
	if err := json.Unmarshal([]byte(call.Arguments), &arguments); err != nil || arguments.Code == nil {
		return inference.ToolResult{Failed: true, Output: `The arguments must be {"code": "..."}.`}, nil
	}

	return c.Run(ctx, *arguments.Code)
}
