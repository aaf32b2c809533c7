package main

import (
	"github.com/spf13/cobra"

	"presswork/cmd/presswork/command"
	"presswork/cmd/presswork/convert"
	"presswork/cmd/presswork/models"
	"presswork/cmd/presswork/pdf"
	"presswork/cmd/presswork/state"
)

func newRootCommand(p *command.Program) *cobra.Command {
	root := &cobra.Command{
		Use:           "presswork",
		Short:         "Markdown in, beautiful PDF out: a distributed worker system on a Redis queue",
		Version:       p.Version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          command.Known,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	root.SetVersionTemplate("presswork {{.Version}}\n")
	root.SetFlagErrorFunc(command.FlagError)
	root.AddCommand(
		newServeCommand(p),
		newAPICommand(p),
		newWorkerCommand(p),
		newNewCommand(p),
		newTopCommand(p),
		newKeysCommand(p),
		newWebhookCommand(p),
		newConfigCommand(p),
		newHealthCommand(p),
		newBackupCommand(p),
		newRestoreCommand(p),
		newVersionCommand(p),
		newManCommand(p),
		pdf.Command(p),
	)
	root.AddCommand(convert.Commands(p)...)
	root.AddCommand(models.Commands(p)...)
	root.AddCommand(state.Commands(p)...)
	root.InitDefaultCompletionCmd()

	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" { // cobra's own treats an unknown shell as a request for help
			cmd.Args = command.Known
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}

	return root
}
