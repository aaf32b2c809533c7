package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"presswork/cmd/presswork/command"
	"presswork/internal/terminal"
)

// sampleDocument is the template of `presswork new`, with the placeholders {{title}}, {{date}} and {{file}}.
//
//go:embed sample.md
var sampleDocument string

func newNewCommand(p *command.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "new [FILE.md]",
		Short: "Write a sample document with front matter to start from",
		Long: "Write a sample document with front matter to start from. FILE.md defaults to document.md. An existing\n" +
			"file is not overwritten.",
		Example: "  presswork new report.md\n  presswork md2pdf report.md --live",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return command.Usage(fmt.Errorf("%s writes one file, but %d were given", cmd.CommandPath(), len(args)))
			}

			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			name := "document.md"
			if len(args) == 1 {
				name = args[0]
			}

			return writeSample(p, name, time.Now())
		},
	}
}

// writeSample creates the file with today's date from now. It returns a usage error if the file exists.
func writeSample(p *command.Program, name string, now time.Time) error {
	if ext := strings.ToLower(filepath.Ext(name)); ext != ".md" && ext != ".markdown" {
		return command.Usage(fmt.Errorf("%q: the name must end in .md or .markdown", name))
	}

	// O_EXCL never overwrites a document.
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return command.Usage(fmt.Errorf("%s already exists; it was not changed", terminal.Printable(name)))
	}

	if err != nil {
		return err
	}

	placeholders := strings.NewReplacer(
		"{{title}}", titleFrom(name),
		"{{date}}", now.Format(time.DateOnly),
		"{{file}}", filepath.Base(name),
	)

	_, err = placeholders.WriteString(f, sampleDocument)
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	_, err = fmt.Fprintf(p.Stdout, "Created %s. Preview it live with: presswork md2pdf %s --live\n",
		terminal.Printable(name), terminal.Printable(name))

	return err
}

// titleFrom derives a title from a file name: "Annual report" for "annual-report.md". It removes characters that
// could end a line of YAML.
func titleFrom(name string) string {
	stem := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	words := strings.Join(
		strings.FieldsFunc(stem,
			func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) }),
		" ",
	)

	first, size := utf8.DecodeRuneInString(words)
	if words == "" {
		return "Document"
	}

	return string(unicode.ToUpper(first)) + words[size:]
}
