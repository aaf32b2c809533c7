package convert

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"presswork/cmd/presswork/command"
	"presswork/internal/app"
	"presswork/internal/local"
	"presswork/internal/terminal"
)

func newWarmupCommand(p *command.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "warmup",
		Short: "Prepare themes, fonts and the browser, so that the first conversion is fast",
		Args:  command.Known,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var flags adviceFlags
	all := &cobra.Command{
		Use:   "all [FILE.md...]",
		Short: "Prepare themes, fonts and the browser, and analyse the given files",
		RunE: func(cmd *cobra.Command, args []string) error {
			return warmUp(cmd.Context(), p, flags, args)
		},
	}
	flags.cache.Add(all.Flags())
	all.ValidArgsFunction = cobra.FixedCompletions(markdownFiles(), cobra.ShellCompDirectiveFilterFileExt)
	cmd.AddCommand(all)

	return cmd
}

// warmUp prepares themes, fonts and browser and analyses the documents. It reports each step, and an error if one
// failed.
func warmUp(ctx context.Context, p *command.Program, flags adviceFlags, documents []string) error {
	cfg, err := p.Config()
	if err != nil {
		return err
	}

	log := terminal.NewNotices(p.Stderr)

	advice, err := flags.open(ctx, p.Getenv, log)
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
			fmt.Fprintln(p.Stderr, terminal.Printable(s.Name+": "+local.Message(err)))

			return
		}
		fmt.Fprintln(p.Stdout,
			terminal.Printable(fmt.Sprintf("%s: %s (%s)", s.Name, s.Detail, s.Elapsed.Round(time.Millisecond))))
	})
	switch {
	case ctx.Err() != nil:
		return command.Interrupted{}
	case app.NoBrowser(err):
		return err
	case failed > 0:
		return fmt.Errorf("%s failed", terminal.Count(failed, "step"))
	}

	return nil
}
