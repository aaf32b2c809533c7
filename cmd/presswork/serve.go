package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"presswork/internal/app"
	"presswork/internal/client"
	"presswork/internal/config"
	"presswork/internal/local"
	"presswork/internal/terminal"
)

func newServeCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Run everything on one machine: API, worker, and what they need",
		Long: "Run everything on one machine. Without REDIS_URL it runs a private redis-server under DATA_DIR;\n" +
			"without S3_ENDPOINT it keeps artifacts in PDF_OUTPUT_DIR. SIGTERM and Ctrl-C drain: no accepted job is\n" +
			"lost or repeated. A second Ctrl-C exits at once.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.runRoles(cmd.Context(), app.Roles{API: true, Worker: true})
		},
	}
}

func newAPICommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "api",
		Short: "Run one API node of a fleet",
		Long:  "Run one API node of a fleet. It needs REDIS_URL and an S3 store, which all nodes share.",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.runRoles(cmd.Context(), app.Roles{API: true})
		},
	}
}

func newWorkerCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "worker",
		Short: "Run one worker of a fleet",
		Long: "Run one worker of a fleet. It needs REDIS_URL and an S3 store, which all nodes share. It serves\n" +
			"/healthz, /readyz and /metrics on WORKER_ADDR.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.runRoles(cmd.Context(), app.Roles{Worker: true})
		},
	}
}

// runRoles runs the roles until the process receives a stop signal, then drains them.
func (p *program) runRoles(ctx context.Context, roles app.Roles) error {
	cfg, err := p.config()
	if err != nil {
		return err
	}
	o := app.Options{Config: cfg, Roles: roles, Version: version(), Log: newLogger(p.stderr, cfg)}

	for _, m := range config.Misspelt(os.Environ()) {
		o.Log.Warn("unknown setting; its value is ignored", "name", m.Name, "did_you_mean", m.Meant)
	}

	return app.Run(ctx, o, func(address string) {
		if roles.API && roles.Worker {
			fmt.Fprintf(p.stdout, "Presswork is ready: open %s\n", homepage(address, cfg.APITLSCert != ""))
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

func newConfigCommand(p *program) *cobra.Command {
	var asJSON, asMarkdown bool
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print every setting with its meaning, default and current value",
		Long: "Print every setting with its meaning, default and current value.\n" +
			"For a secret, it shows only whether it is set. If a value is invalid, the exit status is 2.",
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

func newWarmupCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "warmup",
		Short: "Prepare themes, fonts and the browser, so that the first conversion is fast",
		Args:  knownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var flags adviceFlags
	all := &cobra.Command{
		Use:   "all [FILE.md...]",
		Short: "Prepare themes, fonts and the browser, and analyse the given files",
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.warmUp(cmd.Context(), flags, args)
		},
	}
	addCacheFlags(all.Flags(), &flags.cache)
	all.ValidArgsFunction = cobra.FixedCompletions(markdownFiles(), cobra.ShellCompDirectiveFilterFileExt)
	cmd.AddCommand(all)

	return cmd
}

// warmUp prepares themes, fonts and browser and analyses the documents. It reports each step, and an error if one
// failed.
func (p *program) warmUp(ctx context.Context, flags adviceFlags, documents []string) error {
	cfg, err := p.config()
	if err != nil {
		return err
	}

	log := terminal.NewNotices(p.stderr)

	advice, err := flags.open(ctx, p.getenv, log)
	if err != nil {
		return err
	}

	converter, stop, err := startConverter(ctx, advice, local.Options{
		Browser: cfg.ChromiumPath, ThemesDir: cfg.ThemesDir, Jobs: runtime.NumCPU(), Log: log,
	})
	if err != nil {
		return err
	}
	defer stop()
	failed := 0

	err = converter.Warm(ctx, documents, func(s local.WarmStep, err error) {
		if err != nil {
			failed++
			fmt.Fprintln(p.stderr, terminal.Printable(s.Name+": "+local.Message(err)))

			return
		}
		fmt.Fprintln(p.stdout,
			terminal.Printable(fmt.Sprintf("%s: %s (%s)", s.Name, s.Detail, s.Elapsed.Round(time.Millisecond))))
	})
	switch {
	case ctx.Err() != nil:
		return interrupted{}
	case app.NoBrowser(err):
		return err
	case failed > 0:
		return fmt.Errorf("%s failed", terminal.Count(failed, "step"))
	}

	return nil
}

func newHealthCommand(p *program) *cobra.Command {
	var url string
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Ask a running API or worker whether it is ready (for container checks)",
		Long: "Ask a running API or worker whether it is ready. Without --url it asks the API at API_HOST and\n" +
			"API_PORT. Exit status 0: ready; 1: not ready, or no answer.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := p.config()
			if err != nil {
				return err
			}

			if url == "" {
				url = readyURL(cfg)
			}

			return client.Ready(cmd.Context(), url, p.stdout)
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
