package main

import (
	"context"
	"log/slog"

	"presswork/internal/inference"
	"presswork/internal/inference/browse"
	"presswork/internal/inference/sandbox"
	"presswork/tasks"
	"presswork/worker"
)

// handleTools wires the built-in tools of completions. What this machine cannot do
// is told to callers, and is no reason not to start.
func (p *parts) handleTools(ctx context.Context, taker *tasks.Server) {
	log := p.log.With("component", "tools")
	tools := worker.NewTools(worker.ToolsOptions{
		Tools: []worker.Tool{
			p.codeInterpreter(ctx, log),
			worker.BrowserSearch(browse.New(browse.Options{Policy: p.outbound, UserAgent: "Presswork/" + version(), Log: log})),
		},
		Store: p.store, Metrics: p.metrics, Tracer: p.tracer, Log: log,
	})
	tasks.HandleTools(taker, tools.Offer, tools.Serve)
}

// codeInterpreter starts interpreters behind the wall, where there is one.
func (p *parts) codeInterpreter(ctx context.Context, log *slog.Logger) worker.Tool {
	unavailable := func(why string) worker.Tool {
		return worker.Tool{Type: inference.CodeInterpreter, Unavailable: why}
	}
	if p.cfg.ToolPython == "off" {
		return unavailable("the operator has switched it off (TOOL_PYTHON)")
	}
	box, err := sandbox.Open(ctx, sandbox.Options{})
	if err != nil {
		log.WarnContext(ctx, "code_interpreter is not available", "error", err)
		return unavailable("this machine does not allow a sandbox, and the log says what to allow")
	}
	pool, err := sandbox.NewPool(sandbox.PoolOptions{
		Box: box, Python: p.cfg.ToolPython, Timeout: p.cfg.ToolTimeout, Memory: int64(p.cfg.ToolMemoryMB) << 20, Log: log,
	})
	if err == nil {
		err = p.life.start(ctx, "interpreters", pool)
	}
	if err != nil {
		log.WarnContext(ctx, "code_interpreter is not available", "error", err)
		return unavailable("its Python does not run (TOOL_PYTHON), and the log says why")
	}
	return worker.CodeInterpreter(pool)
}
