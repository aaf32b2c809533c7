package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"presswork/internal/client"
	"presswork/internal/config"
	"presswork/internal/input"
	"presswork/internal/terminal"
)

// program holds what every command needs from its environment.
type program struct {
	getenv         func(string) string
	stdout, stderr io.Writer
}

func newRootCommand(p *program) *cobra.Command {
	root := &cobra.Command{
		Use:           "presswork",
		Short:         "Markdown in, beautiful PDF out: a distributed worker system on a Redis queue",
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          knownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	root.SetVersionTemplate("presswork {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(
		newServeCommand(p),
		newAPICommand(p),
		newWorkerCommand(p),
		newMD2PDFCommand(p),
		newCheckCommand(p),
		newNewCommand(p),
		newThemeCommand(p),
		newThemePreviewCommand(p),
		newAnalyzeCommand(p),
		newExportCommand(p),
		newPDFCommand(p),
		newMCPCommand(p),
		newModelsCommand(p),
		newChatCommand(p),
		newTranscribeCommand(p),
		newSearchCommand(p),
		newFetchCommand(p),
		newRunPythonCommand(p),
		newCacheCommand(p),
		newWarmupCommand(p),
		newTelemetryCommand(p),
		newInfoCommand(p),
		newTopCommand(p),
		newKeysCommand(p),
		newWebhookCommand(p),
		newConfigCommand(p),
		newHealthCommand(p),
		newBackupCommand(p),
		newRestoreCommand(p),
		newVersionCommand(p),
		newManCommand(p),
	)
	root.InitDefaultCompletionCmd()

	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" { // cobra's own treats an unknown shell as a request for help
			cmd.Args = knownCommand
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}

	return root
}

// knownCommand rejects an unknown command and suggests a similar one.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}

	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}

	return usageError{
		fmt.Errorf("unknown command %q%s; `%s --help` lists them", args[0], input.DidYouMean(args[0], names),
			cmd.CommandPath()),
	}
}

// config loads the settings. It returns a usageError if one is invalid.
func (p *program) config() (config.Config, error) {
	cfg, err := config.Load(p.getenv)
	if err != nil {
		return cfg, usageError{err}
	}

	return cfg, nil
}

// newLogger returns a log to w in the format of LOG_FORMAT. On a terminal, plain lines replace the format "text".
func newLogger(w io.Writer, cfg config.Config) *slog.Logger {
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

// encode prints v as indented JSON.
func (p *program) encode(v any) error {
	enc := json.NewEncoder(p.stdout)
	enc.SetIndent("", "  ")

	return enc.Encode(v)
}

// live reports whether w is a terminal on which a line can be overwritten.
func (p *program) live(w io.Writer) bool { return terminal.Is(w) && p.getenv("TERM") != "dumb" }

// painter colours standard output. It is nil when colours are off.
func (p *program) painter() terminal.Painter { return terminal.NewPainter(p.getenv, p.stdout) }

// table prints rows of tab-separated cells in aligned columns.
func (p *program) table(head string, rows func(io.Writer)) error {
	return terminal.Table(p.stdout, head, rows)
}

// noArgs rejects arguments of a command that takes only flags.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}

	return usageError{fmt.Errorf("%s takes only flags; unexpected argument %q", cmd.CommandPath(), args[0])}
}

// exactly requires one argument per name.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}

		return usageError{
			fmt.Errorf("%s takes %s; %d arguments were given", cmd.CommandPath(), strings.Join(names, " and "),
				len(args)),
		}
	}
}

// allowedValues describes the values of a flag type whose parser returns an error of Go's strconv or time package.
// For other types it returns "".
func allowedValues(kind string) string {
	switch kind {
	case "int":
		return "a whole number"
	case "duration":
		return "a time with its unit, such as 2s"
	case "bool":
		return "true, false"
	}

	return ""
}

// flagError explains an invalid flag and suggests a similar one.
func flagError(cmd *cobra.Command, err error) error {
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		if what := allowedValues(wrong.GetFlag().Value.Type()); what != "" {
			return usageError{fmt.Errorf("--%s is %q; allowed: %s", wrong.GetFlag().Name, wrong.GetValue(), what)}
		}
	}

	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	switch {
	case !ok:
		return usageError{err}
	case unknown.GetSpecifiedShortnames() != "":
		return usageError{fmt.Errorf("%w; write ./-%s to name a file", err, unknown.GetSpecifiedShortnames())}
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })

	return usageError{fmt.Errorf("%w%s; `%s --help` lists them", err,
		input.DidYouMean("--"+unknown.GetSpecifiedName(), names), cmd.CommandPath())}
}

// serverFlags select the running Presswork that a command talks to.
type serverFlags struct{ address, key string }

func (s *serverFlags) add(f *pflag.FlagSet) {
	f.StringVar(&s.address, "server", "http://127.0.0.1:8000", "`ADDRESS` of the server")
	f.StringVar(&s.key, "key", "", "API `KEY` (default PRESSWORK_API_KEY)")
}

// open returns a client of the server.
func (s *serverFlags) open(getenv func(string) string) (*client.Server, error) {
	server, err := client.New(s.address, cmp.Or(s.key, getenv("PRESSWORK_API_KEY")))
	if err != nil {
		return nil, usageError{fmt.Errorf("--server: %w", err)}
	}

	return server, nil
}
