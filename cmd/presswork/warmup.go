package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"presswork/internal/app"
	"presswork/internal/local"
	"presswork/internal/terminal"
)

func newWarmupCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "warmup",
		Short: "Make ready what the first conversion would wait for",
		Args:  knownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var flags adviceFlags
	all := &cobra.Command{
		Use:   "all [FILE.md...]",
		Short: "Make ready themes, fonts and browser, and the analyses of the files given",
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.warmUp(cmd.Context(), flags, args)
		},
	}
	addCacheFlags(all.Flags(), &flags.cache)
	all.ValidArgsFunction = cobra.FixedCompletions(markdownFiles(), cobra.ShellCompDirectiveFilterFileExt)
	cmd.AddCommand(all)

	return cmd
}

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
		return fmt.Errorf("%s not ready", terminal.Count(failed, "thing"))
	}

	return nil
}
