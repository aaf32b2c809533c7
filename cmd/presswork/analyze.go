package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"presswork"
	"presswork/internal/local"
	"presswork/internal/terminal"
)

// analyze is one run of the command.
type analyze struct {
	*program
	stdin     io.Reader
	advice    adviceFlags
	themesDir string
	json      bool
}

func newAnalyzeCommand(p *program) *cobra.Command {
	a := &analyze{program: p}
	cmd := &cobra.Command{
		Use:   "analyze FILE.md",
		Short: "Tell what a document is: type, tone, sentiment, formality, keywords, language, and the theme that suits",
		Long: "Tell what a document is: type, tone, sentiment, formality, keywords, language, and the theme that suits.\n" +
			"\"-\" reads standard input. Everything is computed on this machine, unless --analysis-model names a model.",
		Example: "  presswork analyze report.md\n" +
			"  presswork analyze - --json < notes.md",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{fmt.Errorf("name one Markdown file, or %s for standard input", local.Std)}
			}
			a.stdin = cmd.InOrStdin()

			return a.run(cmd.Context(), args[0])
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&a.json, "json", false, "print JSON")
	a.advice.add(cmd)
	f.StringVar(&a.themesDir, "themes-dir", "", "`DIR` of custom themes, NAME.css each (default THEMES_DIR)")
	addCacheFlags(f, &a.advice.cache)
	cmd.ValidArgsFunction = cobra.FixedCompletions(markdownFiles(), cobra.ShellCompDirectiveFilterFileExt)
	complete(cmd, "themes-dir", cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))

	return cmd
}

func (a *analyze) run(ctx context.Context, path string) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}

	if a.themesDir, err = themesFolder(a.themesDir, cfg); err != nil {
		return err
	}

	advice, err := a.advice.open(ctx, a.getenv, terminal.NewNotices(a.stderr))
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
		return interrupted{}
	case err != nil:
		return fileError{label(local.Output{Input: path}), errors.New(local.Message(err))}
	case a.json:
		return a.encode(result.Analysis)
	}

	return a.printAnalysis(label(local.Output{Input: path}), result.Analysis, converter.Themes())
}
