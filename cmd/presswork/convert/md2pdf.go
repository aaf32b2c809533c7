package convert

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
	"presswork/cmd/presswork/command"
	"presswork/internal/app"
	"presswork/internal/config"
	"presswork/internal/local"
	"presswork/internal/local/livepage"
	"presswork/internal/local/runlog"
	"presswork/internal/terminal"
)

// md2pdf holds the flags of `presswork md2pdf` and the values derived from them.
type md2pdf struct {
	*command.Program
	cfg     config.Config
	stdin   io.Reader
	theme   string
	aiTheme bool
	advice  adviceFlags
	options presswork.Options
	output  string
	// to is the output format: the value of --to, or the format that the output's file name implies.
	to string
	// format is the output format that the flags resolve to.
	format    presswork.Output
	cssFile   string
	themesDir string
	allow     []string
	jobs      int
	// passwordFile keeps the password out of the process list, which other users can read.
	passwordFile string
	// epoch is SOURCE_DATE_EPOCH, or the zero time if it is unset.
	epoch time.Time

	html, merge, watch, live, open, json, quiet bool

	// runLog records each run. It is nil when telemetry is off.
	runLog *runlog.Log

	// shared lists the files that every document depends on, for --watch.
	shared local.Snapshot
	// page serves the live page of --live. It is nil without --live.
	page *livepage.Server
	// warnedThemes holds the themes whose low-contrast warning was already printed.
	warnedThemes map[string]bool
}

func newMD2PDFCommand(p *command.Program) *cobra.Command {
	m := &md2pdf{Program: p}
	cmd := &cobra.Command{
		Use:   "md2pdf FILE.md|BOOKFOLDER [FILE.md...]",
		Short: "Convert Markdown files to PDF, HTML or EPUB on this machine, without server or queue",
		Long: "Convert Markdown files to PDF, HTML or EPUB on this machine, without server or queue. \"-\" reads\n" +
			"standard input. The command also reads HTML files (.html), Jupyter notebooks (.ipynb) with their stored\n" +
			"outputs, and Word files (.docx) if pandoc is installed. It prints a folder as a book, in the order of\n" +
			"_quarto.yml, _bookdown.yml, _toc.yml, myst.yml, book.toml, mkdocs.yml or SUMMARY.md.\n\n" +
			"FILE.pdf is written next to each input; -o chooses another place. Flags override a file's front matter.\n" +
			"A failed conversion leaves no partial result, and keeps an older one unchanged.\n\n" +
			"Exit status: 0 done; 1 a file failed; 2 wrong usage; 3 no Chromium; 130 interrupted.",
		Example: "  presswork md2pdf report.md --theme nord\n" +
			"  presswork md2pdf letter.md --ai-theme --mood=elegant\n" +
			"  presswork md2pdf docs/*.md -o out/ --jobs 4\n" +
			"  presswork md2pdf --merge intro.md usage.md -o manual.pdf --toc --cover\n" +
			"  presswork md2pdf novel.md -o novel.epub\n" +
			"  presswork md2pdf handbook/ -o handbook.epub\n" +
			"  presswork md2pdf report.md --live\n" +
			"  cat notes.md | presswork md2pdf - > notes.pdf",
		RunE: func(cmd *cobra.Command, args []string) error {
			m.stdin = cmd.InOrStdin()
			return m.run(cmd.Context(), args)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&m.output, "output", "o", "",
		"`FILE`, or - for standard output; a folder if there are several inputs")
	f.StringVar(
		&m.to,
		"to",
		"",
		"`FORMAT`: pdf, html (one self-contained file), epub or png (a picture of each page; -o NAME.zip packs "+
			"them) (default: the extension of -o, else pdf)",
	)
	f.StringVarP(&m.theme, "theme", "t", "", "theme `NAME`; `presswork theme list` shows them")
	f.BoolVar(&m.aiTheme, "ai-theme", false,
		"choose a theme for the text, and print the reasons; without --analysis-model nothing leaves this machine")
	m.advice.add(cmd)
	f.StringVar(&m.themesDir, "themes-dir", "", "`DIR` of custom themes, one NAME.css per theme (default THEMES_DIR)")
	addOptionFlags(f, &m.options)
	f.StringVar(&m.passwordFile, "password-file", "",
		"`FILE` whose first line is the password; other users of this machine can see a --password")
	f.StringVar(&m.cssFile, "css", "", "stylesheet `FILE`, applied last")
	f.StringArrayVar(&m.allow, "allow", nil,
		"`DIR` outside the input's folder from which images may be shown; repeatable")
	f.BoolVar(
		&m.merge,
		"merge",
		false,
		"merge all files into one document with the name and front matter of the first; each file begins on a new "+
			"page, and links between the files work",
	)
	f.BoolVar(&m.html, "html", false, "the same as --to html")
	f.IntVarP(&m.jobs, "jobs", "j", runtime.NumCPU(), "convert `N` files at the same time")
	f.BoolVarP(&m.watch, "watch", "w", false,
		"convert again whenever a file, its images, the stylesheet or a theme changes")
	f.BoolVar(&m.live, "live", false,
		"show the pages in the browser and update them at each save; nothing leaves this machine")
	f.BoolVar(&m.open, "open", false, "open the result")
	f.BoolVar(&m.json, "json", false, "print a JSON line for each file")
	f.BoolVarP(&m.quiet, "quiet", "q", false, "print errors only")
	m.advice.cache.Add(f)
	completeDocuments(cmd, p)

	return cmd
}

// run converts the documents at paths, and follows their changes with --watch or --live.
func (m *md2pdf) run(ctx context.Context, paths []string) error {
	inputs, err := m.prepare(paths)
	if err != nil {
		return command.Usage(err)
	}

	images, err := app.NewFetcher(m.cfg, m.Version)
	if err != nil {
		return err
	}
	report := newReporter(m, len(inputs))

	advice, err := m.advice.open(ctx, m.Getenv, m.notices())
	if err != nil {
		return err
	}

	show, hide, err := m.showLive(ctx)
	if err != nil {
		return err
	}
	defer hide()

	converter, stop, err := startConverter(ctx, advice, local.Options{
		Browser:   m.cfg.ChromiumPath,
		Epoch:     m.epoch,
		ThemesDir: m.themesDir,
		Allow:     m.allow,
		Output:    m.format,
		Jobs:      m.tabs(inputs),
		Timeout:   m.cfg.RenderTimeout,
		Fetch:     images.Fetch,
		Stdin:     m.stdin,
		Stdout:    m.Stdout,
		Progress:  report.stage,
		Page:      show,
		Log:       m.logger(),
	})
	if err != nil {
		return err
	}
	defer stop()

	if m.theme != "" {
		if err := converter.CheckTheme(m.theme); err != nil {
			return command.Usage(errors.New("--theme: " + local.Message(err)))
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

// tabs returns the number of pages to print at the same time. It is one per file, or all tabs if a file is large
// enough to be printed in sections.
func (m *md2pdf) tabs(inputs []local.Input) int {
	const large = 64 << 10

	for _, in := range inputs {
		for _, path := range append([]string{in.Path}, in.Merge...) {
			if info, err := os.Stat(path); err == nil && (info.IsDir() || info.Size() >= large) {
				return m.jobs
			}
		}
	}

	return min(m.jobs, len(inputs))
}

// convert converts the inputs and reports each result. The error names the inputs that failed. It wraps
// chromium.ErrNotFound or the interruption if that was the cause.
func (m *md2pdf) convert(
	ctx context.Context, c *local.Converter, report *reporter, inputs []local.Input,
) ([]local.Output, error) {
	var outputs []local.Output
	var failures []error

	report.begin(len(inputs))
	defer report.watch()()

	for out, err := range c.Batch(ctx, inputs) {
		if ctx.Err() != nil {
			report.clear()
			return outputs, command.Interrupted{}
		}

		outputs = append(outputs, out)
		if err != nil {
			err = command.InFile(label(out), err)
			failures = append(failures, err)
		}

		if err := report.done(out, err); err != nil {
			return outputs, err
		}
	}
	report.end(len(failures))
	m.recordRun(outputs, len(failures))
	m.warnOfContrast(c, outputs)

	if m.page != nil && len(failures) > 0 {
		m.page.Fail(failures[0].Error())
	}

	switch {
	case len(failures) == 0:
		return outputs, nil
	case len(inputs) == 1:
		return outputs, failures[0]
	}

	return outputs, fmt.Errorf("%d of %d files failed", len(failures), len(inputs))
}

// warnOfContrast warns once for each custom theme with low contrast.
func (m *md2pdf) warnOfContrast(c *local.Converter, outputs []local.Output) {
	for _, out := range outputs {
		t, err := c.Theme(out.Theme)
		if err != nil || !t.Custom || t.Readable() || m.warnedThemes[out.Theme] {
			continue
		}

		if m.warnedThemes == nil {
			m.warnedThemes = map[string]bool{}
		}
		m.warnedThemes[out.Theme] = true
		m.notices().Warn("the theme is hard to read: WCAG AA requires a contrast of at least 4.5 with the page",
			"theme", out.Theme, "text", t.Contrast.Text, "links", t.Contrast.Link)
	}
}

// notices prints problems that did not fail a document. It prints nothing with --quiet.
func (m *md2pdf) notices() *slog.Logger {
	if m.quiet {
		return slog.New(slog.DiscardHandler)
	}

	return terminal.NewNotices(m.Stderr)
}

// logger writes warnings for the user. It writes everything when DEBUG is set.
func (m *md2pdf) logger() *slog.Logger {
	if m.cfg.Debug {
		return command.NewLogger(m.Stderr, m.cfg)
	}

	return slog.New(slog.DiscardHandler)
}
