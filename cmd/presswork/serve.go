package main

import (
	"context"
	"fmt"
	"net"
	"net/url"

	"github.com/spf13/cobra"

	"presswork/internal/app"
)

func newServeCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Run everything on one machine: API, worker, and what they need",
		Long: "Run everything on one machine. Without REDIS_URL it runs a private redis-server under DATA_DIR;\n" +
			"without S3_ENDPOINT it keeps artifacts in PDF_OUTPUT_DIR. SIGTERM and Ctrl-C drain: no accepted job is\n" +
			"lost or repeated. A second Ctrl-C ends at once.",
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

// runRoles plays the roles until the process gets a signal to stop, then drains.
func (p *program) runRoles(ctx context.Context, roles app.Roles) error {
	cfg, err := p.config()
	if err != nil {
		return err
	}
	o := app.Options{Config: cfg, Roles: roles, Version: version(), Log: newLogger(p.stderr, cfg)}

	return app.Run(ctx, o, func(address string) {
		if roles.API && roles.Worker {
			fmt.Fprintf(p.stdout, "Presswork is ready: open %s\n", homepage(address, cfg.APITLSCert != ""))
		}
	})
}

// homepage returns the address to open in a browser on this machine.
func homepage(address string, secure bool) string {
	host, port, _ := net.SplitHostPort(address) // the listener's own
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = "localhost"
	}

	page := url.URL{Scheme: "http", Host: net.JoinHostPort(host, port), Path: "/"}
	if secure {
		page.Scheme = "https"
	}

	return page.String()
}
