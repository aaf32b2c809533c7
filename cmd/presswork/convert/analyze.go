package convert

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"presswork"
	"presswork/cmd/presswork/command"
	"presswork/internal/local"
	"presswork/internal/local/runlog"
	"presswork/internal/terminal"
	"presswork/themes"
)

// analyze holds the flags of `presswork analyze`.
type analyze struct {
	*command.Program
	stdin     io.Reader
	advice    adviceFlags
	themesDir string
	json      bool
}

func newAnalyzeCommand(p *command.Program) *cobra.Command {
	a := &analyze{Program: p}
	cmd := &cobra.Command{
		Use:   "analyze FILE.md",
		Short: "Analyse a document: type, tone, sentiment, formality, keywords, language and recommended theme",
		Long: "Analyse a document: type, tone, sentiment, formality, keywords, language and recommended theme.\n" +
			"\"-\" reads standard input. The text stays on this machine, unless --analysis-model names a model.",
		Example: "  presswork analyze report.md\n" +
			"  presswork analyze - --json < notes.md",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return command.Usage(fmt.Errorf("name one Markdown file, or %s for standard input", local.Std))
			}
			a.stdin = cmd.InOrStdin()

			return a.run(cmd.Context(), args[0])
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&a.json, "json", false, "print JSON")
	a.advice.add(cmd)
	f.StringVar(&a.themesDir, "themes-dir", "", "`DIR` of custom themes, one NAME.css per theme (default THEMES_DIR)")
	a.advice.cache.Add(f)
	cmd.ValidArgsFunction = cobra.FixedCompletions(markdownFiles(), cobra.ShellCompDirectiveFilterFileExt)
	command.Complete(cmd, "themes-dir", cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))

	return cmd
}

// run analyses the document at path and prints the result.
func (a *analyze) run(ctx context.Context, path string) error {
	cfg, err := a.Config()
	if err != nil {
		return err
	}

	if a.themesDir, err = command.ThemesFolder(a.themesDir, cfg); err != nil {
		return err
	}

	advice, err := a.advice.open(ctx, a.Getenv, terminal.NewNotices(a.Stderr))
	if err != nil {
		return err
	}

	converter, stop, err := startConverter(ctx, advice, local.Options{
		ThemesDir: a.themesDir, Output: presswork.HTML, Stdin: a.stdin,
	})
	if err != nil {
		return err
	}
	defer stop()

	result, err := converter.Analyze(ctx, path)
	switch {
	case ctx.Err() != nil:
		return command.Interrupted{}
	case err != nil:
		return command.InFile(label(local.Output{Input: path}), errors.New(local.Message(err)))
	case a.json:
		return a.Encode(result.Analysis)
	}

	return printAnalysis(a.Program, label(local.Output{Input: path}), result.Analysis, converter.Themes())
}

// prepareChoice checks the flags for theme choice and opens the run log. Every error is a usage error.
func (m *md2pdf) prepareChoice() error {
	if m.aiTheme && m.theme != "" {
		return errors.New("--theme and --ai-theme cannot be combined")
	}

	if m.advice.preferred() && m.theme != "" && m.theme != themes.Auto {
		return errors.New("--mood and --doc-type choose a theme, and --theme names one; leave one out")
	}

	if m.aiTheme || m.advice.preferred() {
		m.theme = themes.Auto
	}

	dir, err := runlog.Folder(m.Getenv)
	if dir != "" {
		m.runLog = runlog.Open(dir)
	}

	return err
}

// recordRun appends a round of conversions to the run log. It only warns when the run log cannot be written.
func (m *md2pdf) recordRun(outputs []local.Output, failures int) {
	if m.runLog == nil || len(outputs) == 0 {
		return
	}
	r := runlog.Run{At: time.Now().UTC(), Documents: len(outputs), Failures: failures}
	share := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(len(outputs)) }

	for _, out := range outputs {
		r.Pages += out.Pages
		r.Bytes += int64(out.Bytes)
		r.TotalMS += share(out.Elapsed)
		r.AnalyzeMS += share(out.Times.Analyze)
		r.RenderMS += share(out.Times.Render)
		r.PrintMS += share(out.Times.Print)
		r.Lookups += out.Lookups
		r.Hits += out.Hits
	}

	if err := m.runLog.Add(r); err != nil {
		m.logger().Warn("the run was not recorded", "error", err)
	}
}
