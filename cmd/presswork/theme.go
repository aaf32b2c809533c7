package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"presswork/internal/terminal"
	"presswork/themes"
)

func newThemeCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "theme",
		Short: "Look at the themes",
		Args:  knownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newThemeListCommand(p))

	return cmd
}

func newThemeListCommand(p *program) *cobra.Command {
	var asJSON bool
	var dir string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List every theme: the built-in ones and those of THEMES_DIR",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			cfg, err := p.config()
			if err != nil {
				return err
			}

			if dir, err = themesFolder(dir, cfg); err != nil {
				return err
			}

			catalogue := themes.Open(themes.Options{Dir: dir, Log: terminal.NewNotices(p.stderr)})
			if asJSON {
				return p.printThemesJSON(catalogue.List())
			}

			return p.printThemes(catalogue.List())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the object that GET /api/themes answers")
	cmd.Flags().StringVar(&dir, "themes-dir", "", "`DIR` of custom themes, NAME.css each (default THEMES_DIR)")

	return cmd
}

func (p *program) printThemesJSON(list []themes.Theme) error {
	return p.encode(struct {
		Default string         `json:"default"`
		Count   int            `json:"count"`
		Themes  []themes.Theme `json:"themes"`
	}{themes.Default, len(list), list})
}

// printThemes prints a table; on a terminal with a swatch of colours before
// each name.
func (p *program) printThemes(list []themes.Theme) error {
	paint := p.painter()
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSCHEME\tTEXT\tLINK\tDESCRIPTION")

	for _, t := range list {
		fmt.Fprintf(
			w,
			"%s\t%s\t%.1f\t%.1f\t%s\n",
			terminal.Printable(t.Name),
			t.Scheme,
			t.Contrast.Text,
			t.Contrast.Link,
			description(t),
		)
	}

	if err := w.Flush(); err != nil {
		return err
	}
	// The swatches are put before whole rows: the table counts escape sequences
	// as text.
	for i, row := range strings.Split(strings.TrimSuffix(table.String(), "\n"), "\n") {
		if paint != nil {
			row = swatch(paint, list, i-1) + row
		}

		if _, err := fmt.Fprintln(p.stdout, row); err != nil {
			return err
		}
	}

	return nil
}

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

// swatch shows the page and text colours and the accents of the i-th theme; the
// head of the table gets blanks.
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
