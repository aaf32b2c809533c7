package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"presswork"
	"presswork/internal/chromium"
	"presswork/internal/config"
	"presswork/internal/guard"
	"presswork/internal/local"
	"presswork/internal/pdf"
)

// stopLimit bounds the browser's end: nothing is worth waiting for.
const stopLimit = 5 * time.Second

// md2pdf is one run of the command: its flags and what they lead to.
type md2pdf struct {
	*program
	cfg       config.Config
	stdin     io.Reader
	theme     string
	options   presswork.Options
	output    string
	cssFile   string
	themesDir string
	allow     []string
	jobs      int

	html, watch, open, json, quiet bool

	// shared is, for --watch, what every document depends on.
	shared local.Snapshot
}

func newMD2PDFCommand(p *program) *cobra.Command {
	m := &md2pdf{program: p}
	cmd := &cobra.Command{
		Use:   "md2pdf FILE.md [FILE.md...]",
		Short: "Convert Markdown files to PDF on this machine, without server or queue",
		Long: "Convert Markdown files to PDF on this machine, without server or queue. \"-\" reads standard input.\n" +
			"FILE.pdf is written beside each input unless -o says otherwise. Flags win over a file's front matter.\n" +
			"When a conversion fails, no partial PDF is left and an older one stays as it is.\n\n" +
			"Exit status: 0 done; 1 a file failed; 2 wrong usage; 3 no Chromium; 130 interrupted.",
		Example: "  presswork md2pdf report.md --theme nord\n" +
			"  presswork md2pdf docs/*.md -o out/ --jobs 4\n" +
			"  cat notes.md | presswork md2pdf - > notes.pdf",
		RunE: func(cmd *cobra.Command, args []string) error {
			m.stdin = cmd.InOrStdin()
			return m.run(cmd.Context(), args)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&m.output, "output", "o", "", "`FILE`, or a folder (always one for several inputs), or - for standard output")
	f.StringVarP(&m.theme, "theme", "t", "", "theme `NAME`; `presswork theme list` shows them")
	f.StringVar(&m.themesDir, "themes-dir", "", "`DIR` of custom themes, NAME.css each (default THEMES_DIR)")
	addOptionFlags(f, &m.options)
	f.StringVar(&m.cssFile, "css", "", "stylesheet `FILE`, applied last")
	f.StringArrayVar(&m.allow, "allow", nil, "`DIR` outside the input's folder from which images may be shown; repeatable")
	f.BoolVar(&m.html, "html", false, "write the themed HTML page instead of a PDF")
	f.IntVarP(&m.jobs, "jobs", "j", runtime.NumCPU(), "how many files are converted at a time")
	f.BoolVarP(&m.watch, "watch", "w", false, "convert again whenever a file, its images, the stylesheet or a theme changes")
	f.BoolVar(&m.open, "open", false, "open the result")
	f.BoolVar(&m.json, "json", false, "print a JSON line for each file")
	f.BoolVarP(&m.quiet, "quiet", "q", false, "print errors only")
	return cmd
}

func (m *md2pdf) run(ctx context.Context, paths []string) error {
	inputs, err := m.prepare(paths)
	if err != nil {
		return usageError{err}
	}
	policy, err := guard.New(guard.Options{Allow: m.cfg.OutboundAllowPrivate, Setting: "OUTBOUND_ALLOW_PRIVATE"})
	if err != nil {
		return usageError{fmt.Errorf("OUTBOUND_ALLOW_PRIVATE: %w", err)}
	}
	report := newReporter(m, len(inputs))
	converter := local.New(local.Options{
		ThemesDir: m.themesDir,
		Allow:     m.allow,
		HTML:      m.html,
		Jobs:      min(m.jobs, len(inputs)),
		Timeout:   m.cfg.RenderTimeout,
		Fetch:     guard.NewFetcher(policy, guard.FetchOptions{UserAgent: "Presswork/" + version()}).Fetch,
		Stdin:     m.stdin,
		Stdout:    m.stdout,
		Progress:  report.stage,
		Log:       m.logger(),
	})
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
		defer cancel()
		_ = converter.Stop(ctx) // the results are written; nothing depends on it
	}()
	if err := converter.Start(ctx); errors.Is(err, chromium.ErrNotFound) {
		return err
	} else if err != nil {
		return usageError{err}
	}
	if m.theme != "" {
		if err := converter.CheckTheme(m.theme); err != nil {
			return usageError{errors.New("--theme: " + local.Message(err))}
		}
	}
	outputs, err := m.convert(ctx, converter, report, inputs)
	if m.open && err == nil {
		err = openFile(inputs[0].Output)
	}
	if !m.watch || ctx.Err() != nil {
		return err
	}
	return m.follow(ctx, converter, report, inputs, outputs)
}

// prepare turns the command line into inputs; each error is one of usage.
func (m *md2pdf) prepare(paths []string) ([]local.Input, error) {
	cfg, err := config.Load(m.getenv)
	if err != nil {
		return nil, err
	}
	m.cfg = cfg
	if m.themesDir == "" {
		m.themesDir = cfg.ThemesDir
	} else if _, err := os.ReadDir(m.themesDir); err != nil {
		return nil, fmt.Errorf("--themes-dir: %w", err)
	}
	m.shared = local.Take(m.watched()...)
	if m.cssFile != "" {
		if err := m.readCSS(); err != nil {
			return nil, err
		}
	}
	if err := pdf.CheckOptions(m.options); err != nil {
		return nil, fmt.Errorf("%s%s", flagOf(err), local.Message(err))
	}
	ext := ".pdf"
	if m.html {
		ext = ".html"
	}
	inputs, err := local.Plan(paths, m.output, ext)
	if err != nil {
		return nil, err
	}
	for i := range inputs {
		inputs[i].Theme, inputs[i].Options = m.theme, m.options
	}
	return inputs, m.checkFlags(inputs)
}

// checkFlags refuses flags that do not go together.
func (m *md2pdf) checkFlags(inputs []local.Input) error {
	usesStdin, usesStdout := false, false
	for _, in := range inputs {
		usesStdin = usesStdin || in.Path == local.Std
		usesStdout = usesStdout || in.Output == local.Std
	}
	switch {
	case m.jobs < 1:
		return fmt.Errorf("--jobs is %d; it must be at least 1", m.jobs)
	case usesStdout && m.json:
		return errors.New("--json prints to standard output, where the document would go; choose a file with -o")
	case usesStdout && m.open:
		return errors.New("--open needs a file; choose one with -o")
	case usesStdout && !m.html && isTerminal(m.stdout):
		return errors.New("standard output is a terminal; redirect it, or choose a file with -o")
	case m.watch && (usesStdin || usesStdout):
		return errors.New("--watch needs files, not standard input or output")
	case m.open && len(inputs) > 1:
		return fmt.Errorf("--open takes one document, and %d are given", len(inputs))
	}
	return nil
}

func (m *md2pdf) readCSS() error {
	css, err := os.ReadFile(m.cssFile)
	if err != nil {
		return fmt.Errorf("--css: %w", err)
	}
	m.options.CSS = string(css)
	return nil
}

// convert converts inputs and reports each. The error says which failed, and
// holds chromium.ErrNotFound or the interruption if that was the reason.
func (m *md2pdf) convert(ctx context.Context, c *local.Converter, report *reporter, inputs []local.Input) ([]local.Output, error) {
	var outputs []local.Output
	var failures []error
	report.begin(len(inputs))
	for out, err := range c.Batch(ctx, inputs) {
		if ctx.Err() != nil {
			report.clear()
			return outputs, interrupted{}
		}
		outputs = append(outputs, out)
		if err != nil {
			err = fileError{out.Input, err}
			failures = append(failures, err)
		}
		if err := report.done(out, err); err != nil {
			return outputs, err
		}
	}
	report.end(len(failures))
	switch {
	case len(failures) == 0:
		return outputs, nil
	case len(inputs) == 1:
		return outputs, failures[0]
	}
	return outputs, fmt.Errorf("%d of %d files failed", len(failures), len(inputs))
}

// interrupted is the end by a signal, in words for the terminal.
type interrupted struct{}

func (interrupted) Error() string { return "interrupted" }
func (interrupted) Unwrap() error { return context.Canceled }

// fileError is what went wrong with one input, in words fit for the user.
type fileError struct {
	input string
	err   error
}

func (e fileError) Error() string {
	name := e.input
	if name == local.Std {
		name = "standard input"
	}
	return printable(name + ": " + local.Message(e.err))
}

func (e fileError) Unwrap() error { return e.err }

// logger writes what a user should see; with DEBUG, everything.
func (m *md2pdf) logger() *slog.Logger {
	if m.cfg.Debug {
		return newLogger(m.stderr, m.cfg)
	}
	return slog.New(slog.DiscardHandler)
}
