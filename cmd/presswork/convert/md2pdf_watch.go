package convert

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"presswork/cmd/presswork/command"
	"presswork/internal/local"
	"presswork/internal/local/livepage"
	"presswork/internal/terminal"
)

// follow converts changed documents again until the program is interrupted. outputs are the outputs of the inputs,
// in the same order. shared lists the files that every document depends on.
func (m *md2pdf) follow(
	ctx context.Context, c *local.Converter, report *reporter, inputs []local.Input, outputs []local.Output,
) error {
	for {
		if !m.quiet && !m.json {
			fmt.Fprintf(m.Stderr, "watching %s; press Ctrl-C to stop\n", terminal.Count(len(inputs), "file"))
		}

		snapshots := []local.Snapshot{m.shared}
		for _, out := range outputs {
			snapshots = append(snapshots, out.Sources)
		}

		if local.Await(ctx, snapshots...) != nil {
			return command.Interrupted{}
		}

		all := m.shared.Changed()
		if all {
			if err := m.reloadShared(c, inputs); err != nil {
				fmt.Fprintln(m.Stderr, terminal.Printable(err.Error()))
			}
		}
		var again []local.Input
		var places []int

		for i, out := range outputs {
			if all || out.Sources.Changed() {
				again, places = append(again, inputs[i]), append(places, i)
			}
		}

		// convert has reported any failures. They do not end the watch: the user edits the file again.
		fresh, err := m.convert(ctx, c, report, again)
		if ctx.Err() != nil {
			return err
		}

		for i, out := range fresh {
			outputs[places[i]] = out
		}
	}
}

// reloadShared reads the themes and the stylesheet again, and sets the stylesheet in all inputs.
func (m *md2pdf) reloadShared(c *local.Converter, inputs []local.Input) error {
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

// watched returns the files, other than the documents, that every result depends on. The themes folder is
// included, because it changes when a theme is added or removed.
func (m *md2pdf) watched() []string {
	pattern := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(m.themesDir)
	files, _ := filepath.Glob(filepath.Join(pattern, "*.css")) // the pattern is valid

	files = append(files, m.themesDir)
	if m.cssFile != "" {
		files = append(files, m.cssFile)
	}

	return files
}

// showLive serves the page of --live and opens it in the browser. The returned hide function stops the server.
// Without --live, show is nil.
func (m *md2pdf) showLive(ctx context.Context) (show func(input, html string), hide func(), err error) {
	if !m.live {
		return nil, func() {}, nil
	}

	if m.page, err = livepage.Start(ctx); err != nil {
		return nil, nil, err
	}
	fmt.Fprintf(m.Stderr, "live page: %s\n", m.page.URL())
	// Without a desktop, the user opens the printed address by hand.
	_ = openInDesktop(m.page.URL())

	return func(_, html string) { m.page.Show(html) }, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = m.page.Stop(ctx) // the program is ending, so the error is ignored
	}, nil
}

// openFile opens a file with the desktop's viewer. It does not wait for the viewer.
func openFile(path string) error {
	path, err := filepath.Abs(path) // an absolute path cannot be taken for a flag, as "-x.pdf" could
	if err != nil {
		return err
	}

	if err := openInDesktop(path); err != nil {
		return fmt.Errorf("%s was written but cannot be opened: %w", path, err)
	}

	return nil
}

// openInDesktop opens a file or an address with the desktop's default program.
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
