package convert

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"presswork/cmd/presswork/command"
	"presswork/internal/analysis/finding"
	"presswork/internal/app"
	"presswork/internal/config"
	"presswork/internal/local"
	"presswork/internal/terminal"
	"presswork/themes"
)

func newThemeCommand(p *command.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "theme",
		Short: "List themes",
		Args:  command.Known,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newThemeListCommand(p))

	return cmd
}

func newThemeListCommand(p *command.Program) *cobra.Command {
	var asJSON bool
	var dir string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List every theme: the built-in ones and those of THEMES_DIR",
		Args:  command.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			cfg, err := p.Config()
			if err != nil {
				return err
			}

			if dir, err = command.ThemesFolder(dir, cfg); err != nil {
				return err
			}

			catalogue := themes.Open(themes.Options{Dir: dir, Log: terminal.NewNotices(p.Stderr)})
			if asJSON {
				return printThemesJSON(p, catalogue.List())
			}

			return printThemes(p, catalogue.List())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the same JSON as GET /api/themes")
	cmd.Flags().StringVar(&dir, "themes-dir", "", "`DIR` of custom themes, one NAME.css per theme (default THEMES_DIR)")

	return cmd
}

// printThemesJSON prints the JSON of GET /api/themes.
func printThemesJSON(p *command.Program, list []themes.Theme) error {
	return p.Encode(struct {
		Default string         `json:"default"`
		Count   int            `json:"count"`
		Themes  []themes.Theme `json:"themes"`
	}{themes.Default, len(list), list})
}

// printThemes prints a table of themes. On a terminal, a colour swatch precedes each name.
func printThemes(p *command.Program, list []themes.Theme) error {
	paint := p.Painter()
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSCHEME\tTEXT\tLINK\tDESCRIPTION")

	for _, t := range list {
		fmt.Fprintf(w, "%s\t%s\t%.1f\t%.1f\t%s\n", terminal.Printable(t.Name), t.Scheme, t.Contrast.Text,
			t.Contrast.Link, description(t))
	}

	if err := w.Flush(); err != nil {
		return err
	}
	// Add the swatches after the table is laid out: it would count escape sequences as text.
	for i, row := range strings.Split(strings.TrimSuffix(table.String(), "\n"), "\n") {
		if paint != nil {
			row = swatch(paint, list, i-1) + row
		}

		if _, err := fmt.Fprintln(p.Stdout, row); err != nil {
			return err
		}
	}

	return nil
}

// description returns a theme's description for the table, and says if the theme is custom or the default.
func description(t themes.Theme) string {
	text := terminal.Printable(t.Description)
	if t.Custom {
		text = strings.TrimSpace(text + " (custom)")
	}

	if t.Name == themes.Default {
		text = strings.TrimSpace(text + " (default)")
	}

	return text
}

// swatch shows the page colour, the text colour and the accents of theme i. For the head of the table it returns
// blanks.
func swatch(paint terminal.Painter, list []themes.Theme, i int) string {
	if i < 0 {
		return "         "
	}
	c := list[i].Colors
	var b strings.Builder
	b.WriteString(paint(48, c["base_100"]) + paint(38, c["base_content"]) + " Aa ")

	for _, name := range []string{"primary", "secondary", "accent", "neutral"} {
		if c[name] != "" {
			b.WriteString(paint(48, c[name]) + " ")
		} else {
			b.WriteString("\x1b[49m ")
		}
	}

	return b.String() + "\x1b[0m "
}

// themePreview holds the flags of `presswork theme-preview`.
type themePreview struct {
	*command.Program
	stdin     io.Reader
	explore   string
	advice    adviceFlags
	output    string
	themesDir string
	allow     []string
	jobs      int

	open, quiet bool
}

func newThemePreviewCommand(p *command.Program) *cobra.Command {
	v := &themePreview{Program: p}
	cmd := &cobra.Command{
		Use:   "theme-preview [THEME...]",
		Short: "Show themes side by side: the first page of a document, or of a sample, in each",
		Long: "Show themes side by side: the first page of a document, or of a sample, in each of the\n" +
			"named themes, or in all. The result is a PDF, or one HTML page when -o ends in .html.\n\n" +
			"With --explore, the document is analysed, and the themes recommended for it come first. --mood and\n" +
			"--doc-type override the analysis. Without a document, they alone decide the order.",
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
	f.StringVar(&v.themesDir, "themes-dir", "", "`DIR` of custom themes, one NAME.css per theme (default THEMES_DIR)")
	f.StringArrayVar(&v.allow, "allow", nil,
		"`DIR` outside the document's folder from which images may be shown; repeatable")
	f.IntVarP(&v.jobs, "jobs", "j", runtime.NumCPU(), "render `N` pages at the same time")
	f.BoolVar(&v.open, "open", false, "open the result")
	f.BoolVarP(&v.quiet, "quiet", "q", false, "print errors only")
	v.advice.cache.Add(f)
	completeThemes(cmd, p)

	return cmd
}

// run prints a gallery of the named themes, or of all.
func (v *themePreview) run(ctx context.Context, names []string) error {
	cfg, err := v.Config()
	if err != nil {
		return err
	}

	output, err := v.plan(cfg)
	if err != nil {
		return command.Usage(err)
	}

	images, err := app.NewFetcher(cfg, v.Version)
	if err != nil {
		return err
	}

	advice, err := v.advice.open(ctx, v.Getenv, terminal.NewNotices(v.Stderr))
	if err != nil {
		return err
	}

	converter, stop, err := startConverter(ctx, advice, local.Options{
		Browser: cfg.ChromiumPath, ThemesDir: v.themesDir, Allow: v.allow, Jobs: v.jobs, Timeout: cfg.RenderTimeout,
		Fetch: images.Fetch, Stdin: v.stdin, Stdout: v.Stdout,
	})
	if err != nil {
		return err
	}
	defer stop()

	for _, name := range names {
		if err := converter.CheckTheme(name); err != nil {
			return command.Usage(errors.New(local.Message(err)))
		}
	}
	live := !v.quiet && v.Live(v.Stderr)

	out, err := converter.MakeGallery(ctx, local.Gallery{
		Document: v.explore, Themes: names, Output: output, Choose: v.explore != "" || v.advice.preferred(),
		Progress: func(theme string, done, of int) {
			if live {
				fmt.Fprintf(v.Stderr, "\r\x1b[K[%d/%d] %s", done, of, terminal.Printable(theme))
			}
		},
	})
	if live {
		fmt.Fprint(v.Stderr, "\r\x1b[K")
	}

	switch {
	case ctx.Err() != nil:
		return command.Interrupted{}
	case err != nil && v.explore != "":
		return command.InFile(label(out), err)
	case err != nil:
		return fmt.Errorf("%s", terminal.Printable(local.Message(err)))
	}

	if !v.quiet && output != local.Std {
		fmt.Fprintf(v.Stderr, "%s (%s, %d ms)\n", terminal.Printable(output), sizes(out), out.Elapsed.Milliseconds())
	}

	if out.Analysis != nil && !v.quiet {
		v.printChosen(*out.Analysis, converter.Themes())
	}

	if v.open {
		return openFile(output)
	}

	return nil
}

// printChosen prints the recommended themes, on a terminal with their colours.
func (v *themePreview) printChosen(a finding.Analysis, list []themes.Theme) {
	paint := terminal.NewPainter(v.Getenv, v.Stderr)

	for i, name := range append([]string{a.Recommendation.Primary}, a.Recommendation.Alternatives...) {
		note := ""
		if i == 0 {
			note = fmt.Sprintf(" (%.0f %% sure)", 100*a.Recommendation.Confidence)
		}
		fmt.Fprintf(v.Stderr, "  %s%s\n", swatchOf(paint, list, name), terminal.Printable(name+note))
	}

	for _, reason := range a.Recommendation.Reasons {
		fmt.Fprintln(v.Stderr, terminal.Printable("  "+reason))
	}
}

// plan determines the gallery's output path. Every error is a usage error.
func (v *themePreview) plan(cfg config.Config) (output string, err error) {
	if v.themesDir, err = command.ThemesFolder(v.themesDir, cfg); err != nil {
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
		return "", fmt.Errorf("-o %s: the name must end in .pdf or .html", output)
	case output == local.Std && v.open:
		return "", errors.New("--open needs a file; choose one with -o")
	case output == local.Std && terminal.Is(v.Stdout):
		return "", errors.New("standard output is a terminal; redirect it, or choose a file with -o")
	}

	return output, nil
}
