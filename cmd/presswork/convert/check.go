package convert

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"

	"github.com/spf13/cobra"

	"presswork"
	"presswork/cmd/presswork/command"
	"presswork/internal/app"
	"presswork/internal/fault"
	"presswork/internal/local"
	"presswork/internal/terminal"
)

// checkCommand holds the flags of `presswork check`.
type checkCommand struct {
	*command.Program
	stdin     io.Reader
	allow     []string
	themesDir string
	json      bool
}

func newCheckCommand(p *command.Program) *cobra.Command {
	c := &checkCommand{Program: p}
	cmd := &cobra.Command{
		Use:   "check FILE.md|BOOKFOLDER [FILE.md...]",
		Short: "List what is wrong with Markdown files, without converting them",
		Long: "List what is wrong with Markdown files, without converting them: missing images, broken links, skipped\n" +
			"heading levels, missing alternative texts, citations, front matter. A line is FILE:LINE: MESSAGE (CODE).\n" +
			"The command makes no PDF and fetches nothing. It needs a browser only for diagrams. `md2pdf --strict` also\n" +
			"finds lines that overflow their page.\n\n" +
			"Exit status: 0 nothing found; 1 findings, or a file that cannot be read; 2 wrong usage.",
		Example: "  presswork check README.md docs/*.md\n" +
			"  presswork check handbook/ --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return command.Usage(fmt.Errorf("name a Markdown file, or %s for standard input", local.Std))
			}
			c.stdin = cmd.InOrStdin()

			return c.run(cmd.Context(), args)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(
		&c.allow,
		"allow",
		nil,
		"`DIR` outside the file's folder from which images may be shown; repeatable",
	)
	f.StringVar(&c.themesDir, "themes-dir", "", "`DIR` of custom themes, one NAME.css per theme (default THEMES_DIR)")
	f.BoolVar(&c.json, "json", false, "print a JSON line for each file")
	cmd.ValidArgsFunction = cobra.FixedCompletions(markdownFiles(), cobra.ShellCompDirectiveFilterFileExt)
	completeFolders(cmd)

	return cmd
}

// run checks the files at paths and prints the findings. It returns an error if there is one, for the exit status.
func (c *checkCommand) run(ctx context.Context, paths []string) error {
	cfg, err := c.Config()
	if err != nil {
		return err
	}

	if c.themesDir, err = command.ThemesFolder(c.themesDir, cfg); err != nil {
		return err
	}
	// A check loads no remote images: a blank picture stands for each.
	offline := func(context.Context, string) ([]byte, string, error) { return blankPNG() }

	converter, stop, err := startConverter(ctx, &app.Advice{Close: func() {}}, local.Options{
		Browser: cfg.ChromiumPath, ThemesDir: c.themesDir, Allow: c.allow, Output: presswork.HTML,
		Timeout: cfg.RenderTimeout, Fetch: offline, Stdin: c.stdin, Log: terminal.NewNotices(c.Stderr),
	})
	if err != nil {
		return err
	}
	defer stop()

	found, failed := 0, 0

	for _, path := range paths {
		out, err := converter.Check(ctx, local.Input{Path: path})
		if ctx.Err() != nil {
			return command.Interrupted{}
		}
		found += len(out.Warnings)

		if err != nil {
			failed++
		}

		if err := c.print(out, err); err != nil {
			return err
		}
	}

	if found+failed == 0 {
		return nil
	}

	return fmt.Errorf("findings: %d; files that cannot be read: %d", found, failed)
}

// checkedFile is the JSON line of a file.
type checkedFile struct {
	Input    string          `json:"input"`
	Findings []fault.Warning `json:"findings"`
	Error    string          `json:"error,omitempty"`
}

// print prints the findings of a file, or why it cannot be read.
func (c *checkCommand) print(out local.Output, failure error) error {
	line := checkedFile{Input: out.Input, Findings: out.Warnings}
	if failure != nil {
		line.Error = local.Message(failure)
	}

	if c.json {
		return json.NewEncoder(c.Stdout).Encode(line)
	}

	var errs []error
	show := func(text string) {
		_, err := fmt.Fprintln(c.Stdout, terminal.Printable(text))
		errs = append(errs, err)
	}

	for _, w := range out.Warnings {
		place := label(out)
		if w.Line > 0 {
			place = fmt.Sprintf("%s:%d", place, w.Line)
		}
		show(fmt.Sprintf("%s: %s (%s)", place, w.Message, w.Code))
	}

	if line.Error != "" {
		show(fmt.Sprintf("%s: %s", label(out), line.Error))
	}

	return errors.Join(errs...)
}

// blankPNG returns the picture that stands for remote images, which are not fetched.
func blankPNG() ([]byte, string, error) {
	var b bytes.Buffer
	err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1)))

	return b.Bytes(), "image/png", err
}
