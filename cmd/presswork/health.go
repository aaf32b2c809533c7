package main

import (
	"net"
	"strconv"

	"github.com/spf13/cobra"

	"presswork/internal/client"
	"presswork/internal/config"
)

func newHealthCommand(p *program) *cobra.Command {
	var url string
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Ask a running API or worker whether it is ready (for container checks)",
		Long: "Ask a running API or worker whether it is ready. Without --url it asks the API where\n" +
			"API_HOST and API_PORT say it listens. Exit status 0: ready; 1: not ready or not there.",
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
