package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	neturl "net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

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
			cfg, err := config.Load(p.getenv)
			if err != nil {
				return usageError{err}
			}

			if url == "" {
				url = readyURL(cfg)
			}

			return askReady(cmd.Context(), url, p.stdout)
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

func askReady(ctx context.Context, url string, out io.Writer) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 5*time.Second, fmt.Errorf("%s did not answer within 5s", url))
	defer cancel()

	if _, err := serverAddress(url); err != nil {
		return usageError{fmt.Errorf("--url: %w", err)}
	}

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return usageError{err}
	}
	// The certificate names the public host; this asks the same machine.
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}

	res, err := client.Do(req)
	if err != nil {
		if e, ok := errors.AsType[*neturl.Error](err); ok {
			err = e.Err // whose address is named here
		}

		return fmt.Errorf("%s does not answer: %w", req.URL.Redacted(), err)
	}
	defer res.Body.Close()

	if _, err := io.Copy(out, io.LimitReader(res.Body, 64<<10)); err != nil {
		return err
	}
	fmt.Fprintln(out)

	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("not ready: %s answered %s", url, res.Status)
	}

	return nil
}
