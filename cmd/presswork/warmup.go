package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"presswork/internal/app"
	"presswork/internal/config"
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
	var cached cacheFlags
	all := &cobra.Command{
		Use:   "all [FILE.md...]",
		Short: "Make ready themes, fonts and browser, and the analyses of the files given",
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.warmUp(cmd.Context(), cached, args)
		},
	}
	addCacheFlags(all.Flags(), &cached)
	all.ValidArgsFunction = cobra.FixedCompletions(markdownFiles(), cobra.ShellCompDirectiveFilterFileExt)
	cmd.AddCommand(all)

	return cmd
}

func (p *program) warmUp(ctx context.Context, cached cacheFlags, documents []string) error {
	cfg, err := config.Load(p.getenv)
	if err != nil {
		return usageError{err}
	}

	remember, _, err := cached.load(p.getenv)
	if err != nil {
		return usageError{err}
	}
	log := terminal.NewNotices(p.stderr)

	recommender, done := app.NewRecommender(ctx, remember, nil, log)
	defer done()
	converter := local.New(
		local.Options{
			Browser:     cfg.ChromiumPath,
			ThemesDir:   cfg.ThemesDir,
			Jobs:        runtime.NumCPU(),
			Recommender: recommender,
			Log:         log,
		},
	)

	stop, err := begin(ctx, converter)
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
