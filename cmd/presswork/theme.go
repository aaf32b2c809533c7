package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"presswork/internal/config"
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
			cfg, err := config.Load(p.getenv)
			if err != nil {
				return usageError{err}
			}

			if dir == "" {
				dir = cfg.ThemesDir
			} else if _, err := os.ReadDir(dir); err != nil {
				return usageError{fmt.Errorf("--themes-dir: %w", err)}
			}

			catalogue := themes.Open(themes.Options{Dir: dir, Log: newNotices(p.stderr)})
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
		fmt.Fprintf(w, "%s\t%s\t%.1f\t%.1f\t%s\n", printable(t.Name), t.Scheme, t.Contrast.Text, t.Contrast.Link,
			description(t))
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
	text := printable(t.Description)
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
func swatch(paint painter, list []themes.Theme, i int) string {
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

// painter writes the escape sequence that sets a foreground (38) or background
// (48) to "#rrggbb".
type painter func(layer int, hex string) string

// painter is what standard output can show: 16 million colours, 256, or nil for
// none.
func (p *program) painter() painter { return p.painterFor(p.stdout) }

func (p *program) painterFor(w io.Writer) painter {
	term := p.getenv("TERM")
	switch {
	case !isTerminal(w), p.getenv("NO_COLOR") != "", term == "", term == "dumb":
		return nil
	case p.getenv("COLORTERM") == "truecolor", p.getenv("COLORTERM") == "24bit", p.getenv("WT_SESSION") != "",
		strings.HasSuffix(term, "-direct"), slices.Contains([]string{"xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm"}, term):
		return trueColor
	}

	return indexedColor
}

func trueColor(layer int, hex string) string {
	r, g, b, ok := parseHex(hex)
	if !ok {
		return ""
	}

	return fmt.Sprintf("\x1b[%d;2;%d;%d;%dm", layer, r, g, b)
}

// indexedColor takes the nearest of the 6 × 6 × 6 cube or of the 24 greys that
// xterm has.
func indexedColor(layer int, hex string) string {
	r, g, b, ok := parseHex(hex)
	if !ok {
		return ""
	}

	if max(r, g, b)-min(r, g, b) < 10 && r >= 8 && r < 238 {
		return fmt.Sprintf("\x1b[%d;5;%dm", layer, 232+(r-3)/10)
	}
	// The cube's steps are 0, 95, 135, 175, 215 and 255.
	step := func(v int) int {
		if v < 48 {
			return 0
		}

		return max(1, (v-35)/40)
	}

	return fmt.Sprintf("\x1b[%d;5;%dm", layer, 16+36*step(r)+6*step(g)+step(b))
}

func parseHex(hex string) (r, g, b int, ok bool) {
	v, err := strconv.ParseUint(strings.TrimPrefix(hex, "#"), 16, 24)
	return int(v >> 16), int(v >> 8 & 0xff), int(v & 0xff), err == nil
}
