package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"presswork/internal/analysis/finding"
	"presswork/internal/app"
	"presswork/internal/config"
	"presswork/internal/local"
	"presswork/internal/terminal"
	"presswork/themes"
)

// themePreview is one run of the command.
type themePreview struct {
	*program
	stdin     io.Reader
	explore   string
	advice    adviceFlags
	output    string
	themesDir string
	allow     []string
	jobs      int

	open, quiet bool
}

func newThemePreviewCommand(p *program) *cobra.Command {
	v := &themePreview{program: p}
	cmd := &cobra.Command{
		Use:   "theme-preview [THEME...]",
		Short: "Show themes side by side: the first page of a document, or of a sample, in each",
		Long: "Show themes side by side, to choose one: the first page of a document, or of a sample, in each of the\n" +
			"themes named, or in all. The result is a PDF, or one HTML page when -o ends in .html.\n\n" +
			"With --explore, the document is read, and the themes that suit it come first; --mood and --doc-type say\n" +
			"what it does not. Without a document, they show the themes that suit such a one.",
		Example: "  presswork theme-preview --explore report.md\n" +
			"  presswork theme-preview --mood=creative -o creative.html\n" +
			"  presswork theme-preview nord dracula silk -o choice.html",
		RunE: func(cmd *cobra.Command, args []string) error {
			v.stdin = cmd.InOrStdin()
			return v.run(cmd.Context(), args)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&v.explore, "explore", "e", "", "`FILE.md` whose first page is shown (default a sample)")
	v.advice.add(cmd)
	f.StringVarP(&v.output, "output", "o", "",
		"`FILE`, .pdf or .html, or - for a PDF on standard output (default FILE.themes.pdf)")
	f.StringVar(&v.themesDir, "themes-dir", "", "`DIR` of custom themes, NAME.css each (default THEMES_DIR)")
	f.StringArrayVar(&v.allow, "allow", nil,
		"`DIR` outside the document's folder from which images may be shown; repeatable")
	f.IntVarP(&v.jobs, "jobs", "j", runtime.NumCPU(), "how many pages (`N`) are rendered at a time")
	f.BoolVar(&v.open, "open", false, "open the result")
	f.BoolVarP(&v.quiet, "quiet", "q", false, "print errors only")
	addCacheFlags(f, &v.advice.cache)
	completeThemes(cmd, p)

	return cmd
}

func (v *themePreview) run(ctx context.Context, names []string) error {
	cfg, err := v.config()
	if err != nil {
		return err
	}

	output, err := v.plan(cfg)
	if err != nil {
		return usageError{err}
	}

	images, err := app.NewFetcher(cfg, version())
	if err != nil {
		return err
	}

	advice, err := v.advice.open(ctx, v.getenv, terminal.NewNotices(v.stderr))
	if err != nil {
		return err
	}

	converter, stop, err := startConverter(ctx, advice, local.Options{
		Browser: cfg.ChromiumPath, ThemesDir: v.themesDir, Allow: v.allow, Jobs: v.jobs, Timeout: cfg.RenderTimeout,
		Fetch: images.Fetch, Stdin: v.stdin, Stdout: v.stdout,
	})
	if err != nil {
		return err
	}
	defer stop()

	for _, name := range names {
		if err := converter.CheckTheme(name); err != nil {
			return usageError{errors.New(local.Message(err))}
		}
	}
	live := !v.quiet && v.live(v.stderr)

	out, err := converter.MakeGallery(ctx, local.Gallery{
		Document: v.explore, Themes: names, Output: output, Choose: v.explore != "" || v.advice.preferred(),
		Progress: func(theme string, done, of int) {
			if live {
				fmt.Fprintf(v.stderr, "\r\x1b[K[%d/%d] %s", done, of, terminal.Printable(theme))
			}
		},
	})
	if live {
		fmt.Fprint(v.stderr, "\r\x1b[K")
	}

	switch {
	case ctx.Err() != nil:
		return interrupted{}
	case err != nil && v.explore != "":
		return fileError{label(out), err}
	case err != nil:
		return fmt.Errorf("%s", terminal.Printable(local.Message(err)))
	}

	if !v.quiet && output != local.Std {
		fmt.Fprintf(v.stderr, "%s (%s, %d ms)\n", terminal.Printable(output), sizes(out), out.Elapsed.Milliseconds())
	}

	if out.Analysis != nil && !v.quiet {
		v.printChosen(*out.Analysis, converter.Themes())
	}

	if v.open {
		return openFile(output)
	}

	return nil
}

// printChosen prints which themes suit, on a terminal with their colours.
func (v *themePreview) printChosen(a finding.Analysis, list []themes.Theme) {
	paint := terminal.NewPainter(v.getenv, v.stderr)

	for i, name := range append([]string{a.Recommendation.Primary}, a.Recommendation.Alternatives...) {
		note := ""
		if i == 0 {
			note = fmt.Sprintf(" (%.0f %% sure)", 100*a.Recommendation.Confidence)
		}
		fmt.Fprintf(v.stderr, "  %s%s\n", swatchOf(paint, list, name), terminal.Printable(name+note))
	}

	for _, reason := range a.Recommendation.Reasons {
		fmt.Fprintln(v.stderr, terminal.Printable("  "+reason))
	}
}

// plan decides where the gallery goes; each error is one of usage.
func (v *themePreview) plan(cfg config.Config) (output string, err error) {
	if v.themesDir, err = themesFolder(v.themesDir, cfg); err != nil {
		return "", err
	}

	switch output = v.output; {
	case output != "":
	case v.explore == "", v.explore == local.Std:
		output = "themes.pdf"
	default:
		output = strings.TrimSuffix(v.explore, filepath.Ext(v.explore)) + ".themes.pdf"
	}

	ext := strings.ToLower(filepath.Ext(output))
	switch {
	case v.jobs < 1:
		return "", fmt.Errorf("--jobs is %d; it must be at least 1", v.jobs)
	case output != local.Std && ext != ".pdf" && ext != ".html" && ext != ".htm":
		return "", fmt.Errorf("-o %s: a gallery is a .pdf or an .html file", output)
	case output == local.Std && v.open:
		return "", errors.New("--open needs a file; choose one with -o")
	case output == local.Std && terminal.Is(v.stdout):
		return "", errors.New("standard output is a terminal; redirect it, or choose a file with -o")
	}

	return output, nil
}
