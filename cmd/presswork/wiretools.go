package main

import (
	"presswork/internal/inference/browse"
	"presswork/tasks"
	"presswork/worker"
)

// handleTools wires the built-in tools of completions.
func (p *parts) handleTools(taker *tasks.Server) {
	log := p.log.With("component", "tools")
	tools := worker.NewTools(worker.ToolsOptions{
		Tools: []worker.Tool{worker.BrowserSearch(browse.New(browse.Options{Policy: p.outbound, UserAgent: "Presswork/" + version(), Log: log}))},
		Store: p.store, Metrics: p.metrics, Tracer: p.tracer, Log: log,
	})
	tasks.HandleTools(taker, tools.Offer, tools.Serve)
}
