// Package command has what the sub-commands of presswork share. A [Program] is their environment: settings, output and
// log. [Usage] marks the errors that end with the exit status for wrong usage, and [Interrupted] is the error after a
// signal. [Known], [NoArgs] and [Exactly] check arguments. [ServerFlags] and [CacheFlags] are flags that several
// commands have.
package command

import (
	"encoding/json"
	"io"
	"log/slog"

	"presswork/internal/config"
	"presswork/internal/terminal"
)

// Program holds what every command needs from its environment.
type Program struct {
	// Version is the version of the program.
	Version        string
	Getenv         func(string) string
	Stdout, Stderr io.Writer
}

// Config loads the settings. It returns a UsageError if one is invalid.
func (p *Program) Config() (config.Config, error) {
	cfg, err := config.Load(p.Getenv)
	if err != nil {
		return cfg, Usage(err)
	}

	return cfg, nil
}

// NewLogger returns a log to w in the format of LOG_FORMAT. On a terminal, plain lines replace the format "text".
func NewLogger(w io.Writer, cfg config.Config) *slog.Logger {
	var level slog.Level
	// config.Load has checked the level.
	_ = level.UnmarshalText([]byte(cfg.LogLevel))
	if cfg.Debug {
		level = slog.LevelDebug
	}
	opts := &slog.HandlerOptions{Level: level}

	switch {
	case cfg.LogFormat != "json" && terminal.Is(w):
		return terminal.NewConsole(w, level)
	case cfg.LogFormat == "text":
		return slog.New(slog.NewTextHandler(w, opts))
	}

	return slog.New(slog.NewJSONHandler(w, opts))
}

// Encode prints v as indented JSON. Errors: those of standard output.
func (p *Program) Encode(v any) error {
	enc := json.NewEncoder(p.Stdout)
	enc.SetIndent("", "  ")

	return enc.Encode(v)
}

// Live reports whether w is a terminal on which a line can be overwritten.
func (p *Program) Live(w io.Writer) bool { return terminal.Is(w) && p.Getenv("TERM") != "dumb" }

// Painter colours standard output. It is nil when colours are off.
func (p *Program) Painter() terminal.Painter { return terminal.NewPainter(p.Getenv, p.Stdout) }

// Table prints rows of tab-separated cells in aligned columns. Errors: those of standard output.
func (p *Program) Table(head string, rows func(io.Writer)) error {
	return terminal.Table(p.Stdout, head, rows)
}
