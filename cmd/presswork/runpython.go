package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"presswork/internal/app"
	"presswork/internal/local"
	"presswork/internal/terminal"
)

// runPython is one run of the command.
type runPython struct {
	*program
	stdin  io.Reader
	data   []string
	output string
	json   bool
	// pictures counts what save wrote.
	pictures int
}

func newRunPythonCommand(p *program) *cobra.Command {
	r := &runPython{program: p}
	cmd := &cobra.Command{
		Use:   "run-python FILE.py [FILE.py...]",
		Short: "Run Python in the sandbox of code_interpreter, and print what a model would read of it",
		Long: "Run Python in the sandbox of code_interpreter, and print what a model would read of it: output, the value\n" +
			"of the last expression, tracebacks. Several files are calls of one session: variables stay. \"-\" reads\n" +
			"standard input. Nothing of this machine can be reached but the files of --data, which are in /data.",
		Example: "  echo 'sum(range(10))' | presswork run-python -\n" +
			"  presswork run-python plot.py --data sales.csv -o pictures/",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{fmt.Errorf("name a file of Python, or %s for standard input", local.Std)}
			}
			r.stdin = cmd.InOrStdin()

			return r.run(cmd.Context(), args)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&r.data, "data", nil, "`FILE` that the code finds in /data; may be given several times")
	f.StringVarP(&r.output, "output", "o", "",
		"`DIR` for pictures: picture-1.png and so on (default: they are counted only)")
	f.BoolVar(&r.json, "json", false, "print a JSON object for each call")
	cmd.ValidArgsFunction = cobra.FixedCompletions([]cobra.Completion{"py"}, cobra.ShellCompDirectiveFilterFileExt)
	complete(cmd, "output", cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))

	return cmd
}

func (r *runPython) run(ctx context.Context, paths []string) error {
	cfg, err := r.config()
	if err != nil {
		return err
	}

	data, err := app.PythonFiles(r.data)
	if err != nil {
		return usageError{fmt.Errorf("--data: %w", err)}
	}

	pool, err := app.Interpreters(ctx, cfg, terminal.NewNotices(r.stderr))
	if err != nil {
		return err
	}

	session, err := pool.Session(ctx, data)
	if err != nil {
		return usageError{fmt.Errorf("--data: %w", err)}
	}
	defer session.Close()

	for _, path := range paths {
		code, err := r.read(path)
		if err != nil {
			return fileError{path, err}
		}

		result, err := session.Run(ctx, code)
		if err != nil {
			return err
		}

		if r.json {
			err = r.encode(result)
		} else if result.Output != "" {
			_, err = fmt.Fprintln(terminal.Plain(r.stdout), result.Output)
		}

		if err != nil {
			return err
		}

		for _, shown := range result.Code {
			if err := r.save(ctx, shown.PNG); err != nil {
				return err
			}
		}

		if result.Failed {
			return fileError{path, errors.New("the code failed")}
		}
	}

	return nil
}

func (r *runPython) read(path string) (string, error) {
	if path == local.Std {
		code, err := io.ReadAll(r.stdin)
		return string(code), err
	}
	code, err := os.ReadFile(path)

	return string(code), err
}

// save writes a picture that the code showed, in base64; an empty one is none.
func (r *runPython) save(ctx context.Context, picture string) error {
	if r.output == "" || picture == "" {
		return nil
	}

	png, err := base64.StdEncoding.DecodeString(picture)
	if err != nil {
		return err
	}

	if err := os.MkdirAll(r.output, 0o755); err != nil {
		return err
	}
	r.pictures++

	name := filepath.Join(r.output, fmt.Sprintf("picture-%d.png", r.pictures))
	if err := local.WriteFile(ctx, name, png); err != nil {
		return fileError{name, err}
	}

	return nil
}
