package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"presswork/internal/local"
	"presswork/internal/local/livepage"
	"presswork/internal/terminal"
)

// follow converts again what changes, until the program is interrupted. outputs
// are those of the inputs, in order; shared is what all of them depend on.
func (m *md2pdf) follow(
	ctx context.Context, c *local.Converter, report *reporter, inputs []local.Input, outputs []local.Output,
) error {
	for {
		if !m.quiet && !m.json {
			fmt.Fprintf(m.stderr, "watching %s; Ctrl-C ends\n", terminal.Count(len(inputs), "file"))
		}

		snapshots := []local.Snapshot{m.shared}
		for _, out := range outputs {
			snapshots = append(snapshots, out.Sources)
		}

		if local.Await(ctx, snapshots...) != nil {
			return interrupted{}
		}

		all := m.shared.Changed()
		if all {
			if err := m.renew(c, inputs); err != nil {
				fmt.Fprintln(m.stderr, terminal.Printable(err.Error()))
			}
		}
		var again []local.Input
		var places []int

		for i, out := range outputs {
			if all || out.Sources.Changed() {
				again, places = append(again, inputs[i]), append(places, i)
			}
		}

		fresh, err := m.convert(ctx, c, report, again)
		if ctx.Err() != nil {
			return err
		}

		for i, out := range fresh {
			outputs[places[i]] = out
		}
	}
}

// renew reads the themes and the stylesheet anew.
func (m *md2pdf) renew(c *local.Converter, inputs []local.Input) error {
	m.shared = local.Take(m.watched()...)
	c.Reload()

	if m.cssFile == "" {
		return nil
	}

	if err := m.readCSS(); err != nil {
		return err
	}

	for i := range inputs {
		inputs[i].Options.CSS = m.options.CSS
	}

	return nil
}

// watched are the files beside the documents on which every result depends. The
// folder itself changes when a theme comes or goes.
func (m *md2pdf) watched() []string {
	pattern := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(m.themesDir)
	files, _ := filepath.Glob(filepath.Join(pattern, "*.css")) // the pattern is well-formed

	files = append(files, m.themesDir)
	if m.cssFile != "" {
		files = append(files, m.cssFile)
	}

	return files
}

// showLive serves the page of --live and opens it in the browser; hide ends that.
// Without --live, show is nil.
func (m *md2pdf) showLive(ctx context.Context) (show func(input, html string), hide func(), err error) {
	if !m.live {
		return nil, func() {}, nil
	}

	if m.page, err = livepage.Start(ctx); err != nil {
		return nil, nil, err
	}
	fmt.Fprintf(m.stderr, "live page: %s\n", m.page.URL())
	// The address is there to be opened by hand where there is no desktop.
	_ = openInDesktop(m.page.URL())

	return func(_, html string) { m.page.Show(html) }, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = m.page.Stop(ctx) // nothing depends on it
	}, nil
}

// openFile hands a file to the desktop's viewer and does not wait for it.
func openFile(path string) error {
	path, err := filepath.Abs(path) // a name such as "-x.pdf" is no flag then
	if err != nil {
		return err
	}

	if err := openInDesktop(path); err != nil {
		return fmt.Errorf("%s is written, but cannot be opened: %w", path, err)
	}

	return nil
}

// openInDesktop hands a file or an address to what the desktop opens it with.
func openInDesktop(target string) error {
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "open"
	}

	cmd := exec.Command(opener, target) //nolint:noctx // the viewer outlives this program
	if err := cmd.Start(); err != nil {
		return err
	}

	return cmd.Process.Release()
}
