package convert

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"presswork"
	"presswork/cmd/presswork/command"
	"presswork/internal/local"
	"presswork/internal/terminal"
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
