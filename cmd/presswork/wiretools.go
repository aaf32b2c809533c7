package main

import (
	"context"
	"log/slog"

	"presswork/internal/chromium"
	"presswork/internal/config"
	"presswork/internal/inference"
	"presswork/internal/inference/sandbox"
	"presswork/tasks"
	"presswork/worker"
)

// handleTools wires the built-in tools of completions; exporter is nil in a worker
// without a browser. What this machine cannot do is told to callers, and is no reason
// not to start.
func (p *parts) handleTools(ctx context.Context, taker *tasks.Server, exporter *chromium.Exporter) error {
	log := p.log.With("component", "tools")
	box, err := sandbox.Open(ctx, sandbox.Options{})
	if err != nil {
		log.WarnContext(ctx, "models can run no code, and read no PDFs", "error", err)
	}
	web, err := newWeb(p.cfg, webOptions{policy: p.outbound, exporter: exporter, box: func() (*sandbox.Box, error) { return box, err }, log: log})
	if err != nil {
		return err
	}
	tools := worker.NewTools(worker.ToolsOptions{
		Tools: []worker.Tool{p.codeInterpreter(ctx, box, log), worker.BrowserSearch(web)},
		Store: p.store, Metrics: p.metrics, Tracer: p.tracer, Log: log,
	})
	tasks.HandleTools(taker, tools.Offer, tools.Serve)
	return nil
}

// codeInterpreter starts interpreters in the box; it is nil where this machine has none.
func (p *parts) codeInterpreter(ctx context.Context, box *sandbox.Box, log *slog.Logger) worker.Tool {
	unavailable := func(why string) worker.Tool {
		return worker.Tool{Type: inference.CodeInterpreter, Unavailable: why}
	}
	switch {
	case p.cfg.ToolPython == "off":
		return unavailable("the operator has switched it off (TOOL_PYTHON)")
	case box == nil:
		return unavailable("this machine does not allow a sandbox, and the log says what to allow")
	}
	pool, err := newInterpreters(p.cfg, box, log)
	if err == nil {
		err = p.life.start(ctx, "interpreters", pool)
	}
	if err != nil {
		log.WarnContext(ctx, "code_interpreter is not available", "error", err)
		return unavailable("its Python does not run (TOOL_PYTHON), and the log says why")
	}
	return worker.CodeInterpreter(pool)
}

// newInterpreters makes the interpreters of code_interpreter as the settings say. They
// wait started from Start on.
func newInterpreters(cfg config.Config, box *sandbox.Box, log *slog.Logger) (*sandbox.Pool, error) {
	return sandbox.NewPool(sandbox.PoolOptions{
		Box: box, Python: cfg.ToolPython, Setting: "TOOL_PYTHON", Memory: int64(cfg.ToolMemoryMB) << 20, Timeout: cfg.ToolTimeout, Log: log,
	})
}
