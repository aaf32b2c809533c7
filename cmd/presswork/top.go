package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"presswork/cmd/presswork/command"
	"presswork/internal/client"
	"presswork/internal/terminal"
)

// topCommand holds the flags of `presswork top`.
type topCommand struct {
	*command.Program
	server   command.ServerFlags
	interval time.Duration
	asJSON   bool
}

func newTopCommand(p *command.Program) *cobra.Command {
	c := &topCommand{Program: p}
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Show the queues, workers and jobs of a running Presswork",
		Long: "Show the queues, workers and newest jobs of a running server, updated every few seconds until Ctrl-C.\n" +
			"If the output is not a terminal, or with --json, the command prints once and exits. The server's page\n" +
			"/admin shows more.",
		Example: "  presswork top --server http://10.0.0.5:8000\n  presswork top --json | jq '.queues[] | " +
			"select(.waiting > 0)'",
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd.Context()) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	c.server.Add(f)
	f.Lookup("key").Usage = "an admin's API `KEY` (default PRESSWORK_API_KEY)"
	f.DurationVar(&c.interval, "interval", 2*time.Second, "`TIME` between updates, at least 500ms")
	f.BoolVar(&c.asJSON, "json", false, "print once, as JSON")

	return cmd
}

// run prints the state of the fleet once, or follows it on a terminal.
func (c *topCommand) run(ctx context.Context) error {
	server, err := c.server.Open(c.Getenv)
	if err != nil {
		return err
	}

	if c.interval < 500*time.Millisecond {
		return command.Usage(fmt.Errorf("--interval is %s; allowed: 500ms or more", c.interval))
	}

	now, err := server.Fleet(ctx)
	switch {
	case err != nil:
		return err
	case c.asJSON:
		return c.Encode(now)
	case !c.Live(c.Stdout):
		return now.Write(c.Stdout)
	}

	return c.follow(ctx, server, now)
}

// follow redraws the screen until ctx ends. It uses the alternate screen, so the terminal restores the earlier text at
// the end.
func (c *topCommand) follow(ctx context.Context, server *client.Server, now client.Fleet) error {
	fmt.Fprint(c.Stdout, "\x1b[?1049h\x1b[?25l") // the alternate screen, without a cursor
	defer fmt.Fprint(c.Stdout, "\x1b[?25h\x1b[?1049l")

	tick := time.NewTicker(c.interval)
	defer tick.Stop()

	trouble := ""
	for {
		if err := c.draw(now, trouble); err != nil {
			return err
		}

		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}

		next, err := server.Fleet(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			trouble = terminal.Printable(err.Error())
		default:
			now, trouble = next, ""
		}
	}
}

// draw writes as many lines as fit on the screen.
func (c *topCommand) draw(now client.Fleet, trouble string) error {
	var text strings.Builder
	if err := now.Write(&text); err != nil {
		return err
	}

	lines := strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
	if trouble != "" {
		lines = append([]string{trouble + " (the tables are out of date)"}, lines...)
	}
	width, height := terminal.Columns(c.Getenv, c.Stdout), terminal.Rows(c.Stdout)
	var screen strings.Builder
	// Each line is overwritten in place and its rest deleted. A screen that is cleared first would flicker.
	screen.WriteString("\x1b[H")

	for i, line := range lines[:min(len(lines), height-1)] {
		if i > 0 {
			screen.WriteString("\n")
		}
		runes := []rune(line)
		screen.WriteString(string(runes[:min(len(runes), width)]) + "\x1b[K")
	}
	screen.WriteString("\x1b[J")
	_, err := io.WriteString(c.Stdout, screen.String())

	return err
}
