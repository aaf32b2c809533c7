// Command corpus converts each Markdown file below a folder and reports failures, warnings and times. It also reports
// words that cmark-gfm shows and Presswork does not, and pages that are nearly empty or empty at the end. It needs
// cmark-gfm and poppler.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"

	"presswork/themes"
)

func main() { os.Exit(start(os.Args[1:], os.Stdout, os.Stderr)) }

// start runs the command and returns its exit status.
func start(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	flags := flag.NewFlagSet("corpus", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var o options
	flags.StringVar(&o.dir, "dir", "", "folder of Markdown files")
	theme := flags.String("theme", themes.Default, "themes, with commas between, or all")
	flags.StringVar(&o.keep, "keep", "", "folder to keep the PDFs in")
	flags.IntVar(&o.jobs, "jobs", runtime.NumCPU(), "documents at a time")
	flags.IntVar(&o.rotate, "rotate", 0, "number of themes for each document, in rotation (default: all)")

	asJSON := flags.String("json", "", "file for the report as JSON")
	if err := flags.Parse(args); err != nil {
		return 2
	}

	if err := report(ctx, o, *theme, *asJSON, stdout); err != nil {
		fmt.Fprintf(stderr, "corpus: %v\n", err)
		return 1
	}

	return 0
}

// report converts the documents and prints the report.
func report(ctx context.Context, o options, theme, asJSON string, stdout io.Writer) (err error) {
	if o.dir == "" {
		return errors.New("name a folder of Markdown files: make corpus DIR=…")
	}

	if o.themes, err = themeNames(theme); err != nil {
		return err
	}

	if o.keep == "" {
		if o.keep, err = os.MkdirTemp("", "presswork-corpus"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(o.keep)) }()
	} else if err := os.MkdirAll(o.keep, 0o777); err != nil {
		return err
	}

	r, err := run(ctx, o)
	if err != nil {
		return err
	}
	r.table(stdout)

	if asJSON == "" {
		return nil
	}
	b, err := json.MarshalIndent(r, "", "  ")

	return cmp.Or(err, os.WriteFile(asJSON, b, 0o666))
}

// themeNames returns the names in a list with commas, or those of all themes for "all".
func themeNames(list string) ([]string, error) {
	names := strings.Split(list, ",")
	if list != "all" {
		return names, nil
	}
	catalogue := themes.Open(themes.Options{})

	names = nil
	for _, t := range catalogue.List() {
		names = append(names, t.Name)
	}
	slices.Sort(names)

	return names, nil
}
