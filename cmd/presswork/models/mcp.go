package models

import (
	"context"
	"errors"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"presswork/cmd/presswork/command"
	"presswork/internal/app"
	"presswork/internal/fault"
	"presswork/internal/local"
	"presswork/internal/mcp"
	"presswork/internal/terminal"
)

// mcpCommand holds the flags of `presswork mcp`.
type mcpCommand struct {
	*command.Program
	stdin     io.Reader
	roots     []string
	themesDir string
	server    command.ServerFlags
}

func newMCPCommand(p *command.Program) *cobra.Command {
	m := &mcpCommand{Program: p}
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Offer Presswork's tools to AI clients over the Model Context Protocol, on standard input and output",
		Long: "Offer Presswork's tools to AI clients over the Model Context Protocol, on standard input and output.\n" +
			"Clients such as Claude Code, Codex, Cursor and VS Code start this command. It needs no other server, except\n" +
			"for the tool transcribe. It reads and writes files in the folder it is started in, and in those of --root.",
		Example: "  claude mcp add presswork -- presswork mcp\n" +
			"  codex mcp add presswork -- presswork mcp --root ~/reports",
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m.stdin = cmd.InOrStdin()
			return m.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&m.roots, "root", nil,
		"another `DIR` whose files the tools may read and write, in addition to the start folder; repeatable")
	f.StringVar(&m.themesDir, "themes-dir", "", "`DIR` of custom themes, one NAME.css per theme (default THEMES_DIR)")
	m.server.Add(f)
	command.Complete(cmd, "root", cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
	command.Complete(cmd, "themes-dir", cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))

	return cmd
}

// run serves the protocol on standard input and output until the input ends.
func (m *mcpCommand) run(ctx context.Context) (err error) {
	cfg, err := m.Config()
	if err != nil {
		return err
	}

	if m.themesDir, err = command.ThemesFolder(m.themesDir, cfg); err != nil {
		return err
	}

	server, err := m.server.Open(m.Getenv)
	if err != nil {
		return err
	}
	log := terminal.NewNotices(m.Stderr) // log only warnings and errors: clients show each line as an error

	tools, err := app.OpenLocalTools(ctx, app.LocalToolsOptions{
		Config: cfg, Roots: append([]string{"."}, m.roots...), ThemesDir: m.themesDir, Server: server,
		Jobs: runtime.NumCPU(), Version: m.Version, Log: log,
	})
	if fault.CodeOf(err) == fault.InvalidOption {
		return command.Usage(errors.New(local.Message(err)))
	}

	if err != nil {
		return err
	}

	defer func() { err = errors.Join(err, tools.Stop()) }()

	s := mcp.New(mcp.Options{Version: m.Version, Files: true, Message: local.Message, Log: log})
	err = s.Serve(ctx, tools, io.NopCloser(m.stdin), nopCloser{m.Stdout})

	if ctx.Err() != nil {
		return command.Interrupted{}
	}

	return err
}

// nopCloser is standard output, which the server must not close.
type nopCloser struct{ io.Writer }

// Close does nothing.
func (nopCloser) Close() error { return nil }
