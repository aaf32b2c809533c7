package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"presswork/internal/app"
	"presswork/internal/config"
	"presswork/internal/terminal"
)

func newConfigCommand(p *program) *cobra.Command {
	var asJSON, asMarkdown bool
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print every setting with its meaning, default and present value",
		Long: "Print every setting with its meaning, default and present value.\n" +
			"Secrets show only whether they are set. A wrong value is named and the exit status is 2.",
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if asMarkdown {
				return config.WriteMarkdown(p.stdout)
			}

			cfg, err := p.config()
			if err != nil {
				return err
			}

			if err := app.CheckSettings(cfg); err != nil {
				return err
			}

			if asJSON {
				return p.encode(cfg.Settings())
			}
			w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "SETTING\tVALUE\tDEFAULT\tMEANING")

			for _, s := range cfg.Settings() {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", s.Name, terminal.Dash(s.Value), terminal.Dash(s.Default), s.Meaning)
			}

			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&asMarkdown, "markdown", false, "print the documentation page")

	return cmd
}
