package app

import (
	"context"
	"fmt"
	"log/slog"

	"presswork/internal/chromium"
	"presswork/internal/config"
	"presswork/internal/guard"
	"presswork/internal/inference"
	"presswork/internal/inference/sandbox"
	"presswork/worker/tools"
)

// startTools makes the built-in tools of completions. exporter is nil in a worker without a browser. A tool that this
// machine cannot run is offered with the reason, and does not fail the start.
func startTools(
	ctx context.Context, o Options, outbound *guard.Policy, exporter *chromium.Exporter, life *lifecycle,
) ([]tools.Tool, error) {
	log := o.Log.With("component", "tools")

	// One sandbox serves both tools. Without it, browser_search still works, but reads no PDFs.
	box, missing := sandbox.Open(ctx, sandbox.Options{})
	if missing != nil {
		log.WarnContext(ctx, "code_interpreter is off and models cannot read PDFs: no sandbox", "error", missing)
	}

	if box != nil {
		log.InfoContext(ctx, "models' code runs in sandboxes", "cgroups", box.Grouped())
	}

	web, err := newWeb(o.Config, webOptions{
		policy: outbound, exporter: exporter, box: func() (*sandbox.Box, error) { return box, missing },
		version: o.Version, log: log,
	})
	if err != nil {
		return nil, err
	}

	return []tools.Tool{codeInterpreter(ctx, o.Config, box, log, life), tools.BrowserSearch(web)}, nil
}

// codeInterpreter starts interpreters in the box, which is nil if this machine has none.
func codeInterpreter(
	ctx context.Context, cfg config.Config, box *sandbox.Box, log *slog.Logger, life *lifecycle,
) tools.Tool {
	unavailable := func(why string) tools.Tool {
		return tools.Tool{Type: inference.CodeInterpreter, Unavailable: why}
	}

	switch {
	case cfg.ToolPython == "off":
		return unavailable("the operator has switched it off (TOOL_PYTHON)")
	case box == nil:
		return unavailable("this machine does not allow a sandbox; the worker's log says what to allow")
	}

	pool, err := newInterpreters(cfg, box, log)
	if err == nil {
		err = life.start(ctx, "interpreters", pool)
	}

	if err != nil {
		log.WarnContext(ctx, "code_interpreter is not available", "error", err)
		return unavailable("its Python does not run (TOOL_PYTHON); the worker's log says why")
	}

	return tools.CodeInterpreter(pool)
}

// newInterpreters makes the interpreters of code_interpreter as the settings say. Their Start begins to hold
// interpreters ready.
func newInterpreters(cfg config.Config, box *sandbox.Box, log *slog.Logger) (*sandbox.Pool, error) {
	return sandbox.NewPool(sandbox.PoolOptions{
		Box: box, Python: cfg.ToolPython, Setting: "TOOL_PYTHON",
		Memory: int64(cfg.ToolMemoryMB) << 20, Budget: int64(cfg.ToolMemoryTotalMB) << 20,
		Timeout: cfg.ToolTimeout, Log: log,
	})
}

// Interpreters opens the sandbox for Python as the settings say. The caller runs sessions in it and needs no Start.
func Interpreters(ctx context.Context, cfg config.Config, log *slog.Logger) (*sandbox.Pool, error) {
	if cfg.ToolPython == "off" {
		return nil, fmt.Errorf("%w: TOOL_PYTHON is off", sandbox.ErrUnavailable)
	}

	box, err := sandbox.Open(ctx, sandbox.Options{})
	if err != nil {
		return nil, err
	}

	return newInterpreters(cfg, box, log)
}
