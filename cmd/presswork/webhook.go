package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"presswork/cmd/presswork/command"
	"presswork/internal/client/webhooks"
)

func newWebhookCommand(p *command.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "webhook",
		Short: "Receive webhooks on this machine",
		Args:  command.Known,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newWebhookListenCommand(p))

	return cmd
}

func newWebhookListenCommand(p *command.Program) *cobra.Command {
	var address string
	cmd := &cobra.Command{
		Use:   "listen",
		Short: "Print each webhook that arrives",
		Long: "Listen for webhooks, print each one, and check its signature with WEBHOOK_SECRET. Ctrl-C ends it.\n" +
			"A server sends webhooks to this machine only if OUTBOUND_ALLOW_PRIVATE names the address.",
		Example: "  WEBHOOK_SECRET=whsec_… presswork webhook listen --addr 127.0.0.1:9000",
		Args:    command.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return listenForWebhooks(cmd.Context(), p, address) },
	}
	cmd.Flags().StringVar(&address, "addr", "127.0.0.1:9000", "listen on `HOST:PORT`")

	return cmd
}

// listenForWebhooks prints webhooks until ctx ends.
func listenForWebhooks(ctx context.Context, p *command.Program, address string) error {
	cfg, err := p.Config()
	if err != nil {
		return err
	}

	printer, err := webhooks.NewPrinter(p.Stdout, cfg.WebhookSecret)
	if err != nil {
		return command.Usage(fmt.Errorf("WEBHOOK_SECRET: %w", err))
	}
	listen := net.ListenConfig{}

	listener, err := listen.Listen(ctx, "tcp", address)
	if err != nil {
		return command.Usage(fmt.Errorf("--addr: %w", err))
	}
	fmt.Fprintf(p.Stderr, "Listening. Set webhook_url to http://%s/, and OUTBOUND_ALLOW_PRIVATE=%[1]s on the server.\n",
		listener.Addr())
	server := &http.Server{Handler: printer, ReadTimeout: 10 * time.Second}

	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // deliveries have nothing to finish
	defer stop()

	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}

	return nil
}
