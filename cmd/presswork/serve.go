package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"presswork/cmd/presswork/command"
	"presswork/internal/app"
	"presswork/internal/client"
	"presswork/internal/config"
	"presswork/internal/terminal"
)

func newServeCommand(p *command.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Run everything on one machine: API, worker, and what they need",
		Long: "Run everything on one machine. Without REDIS_URL it runs a private redis-server under DATA_DIR;\n" +
			"without S3_ENDPOINT it keeps artifacts in PDF_OUTPUT_DIR. SIGTERM and Ctrl-C drain: no accepted job is\n" +
			"lost or repeated. A second Ctrl-C exits at once.",
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runRoles(cmd.Context(), p, app.Roles{API: true, Worker: true})
		},
	}
}

func newAPICommand(p *command.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "api",
		Short: "Run one API node of a fleet",
		Long:  "Run one API node of a fleet. It needs REDIS_URL and an S3 store, which all nodes share.",
		Args:  command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runRoles(cmd.Context(), p, app.Roles{API: true})
		},
	}
}

func newWorkerCommand(p *command.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "worker",
		Short: "Run one worker of a fleet",
		Long: "Run one worker of a fleet. It needs REDIS_URL and an S3 store, which all nodes share. It serves\n" +
			"/healthz, /readyz and /metrics on WORKER_ADDR.",
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runRoles(cmd.Context(), p, app.Roles{Worker: true})
		},
	}
}

// runRoles runs the roles until the process receives a stop signal, then drains them.
func runRoles(ctx context.Context, p *command.Program, roles app.Roles) error {
	cfg, err := p.Config()
	if err != nil {
		return err
	}
	o := app.Options{Config: cfg, Roles: roles, Version: p.Version, Log: command.NewLogger(p.Stderr, cfg)}

	for _, m := range config.Misspelt(os.Environ()) {
		o.Log.Warn("unknown setting; its value is ignored", "name", m.Name, "did_you_mean", m.Meant)
	}

	return app.Run(ctx, o, func(address string) {
		if roles.API && roles.Worker {
			fmt.Fprintf(p.Stdout, "Presswork is ready: open %s\n", homepage(address, cfg.APITLSCert != ""))
		}
	})
}

// homepage returns the address to open in a browser on this machine.
func homepage(address string, secure bool) string {
	host, port, _ := net.SplitHostPort(address) // the listener's address is valid
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = "localhost"
	}

	page := url.URL{Scheme: "http", Host: net.JoinHostPort(host, port), Path: "/"}
	if secure {
		page.Scheme = "https"
	}

	return page.String()
}

func newConfigCommand(p *command.Program) *cobra.Command {
	var asJSON, asMarkdown bool
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print every setting with its meaning, default and current value",
		Long: "Print every setting with its meaning, default and current value.\n" +
			"For a secret, it shows only whether it is set. If a value is invalid, the exit status is 2.",
		Args: command.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if asMarkdown {
				return config.WriteMarkdown(p.Stdout)
			}

			cfg, err := p.Config()
			if err != nil {
				return err
			}

			if err := app.CheckSettings(cfg); err != nil {
				return err
			}

			if asJSON {
				return p.Encode(cfg.Settings())
			}
			w := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
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

func newHealthCommand(p *command.Program) *cobra.Command {
	var url string
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Ask a running API or worker whether it is ready (for container checks)",
		Long: "Ask a running API or worker whether it is ready. Without --url it asks the API at API_HOST and\n" +
			"API_PORT. Exit status 0: ready; 1: not ready, or no answer.",
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := p.Config()
			if err != nil {
				return err
			}

			if url == "" {
				url = readyURL(cfg)
			}

			return client.Ready(cmd.Context(), url, p.Stdout)
		},
	}
	cmd.Flags().StringVar(&url, "url", "", "readiness `ADDRESS` (http://127.0.0.1:9090/readyz for a worker)")

	return cmd
}

// readyURL returns the address of /readyz of the API that runs with these settings on this machine.
func readyURL(cfg config.Config) string {
	scheme, host := "http", cfg.APIHost
	if cfg.APITLSCert != "" {
		scheme = "https"
	}

	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}

	return scheme + "://" + net.JoinHostPort(host, strconv.Itoa(cfg.APIPort)) + "/readyz"
}
