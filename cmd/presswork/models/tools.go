package models

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"presswork/cmd/presswork/command"
	"presswork/internal/app"
	"presswork/internal/fault"
	"presswork/internal/local"
	"presswork/internal/terminal"
)

// browseCommand holds the flags of `presswork search` and `presswork fetch`, which print what a model would
// receive.
type browseCommand struct {
	*command.Program
	allow    string
	scripts  bool
	text     bool
	json     bool
	top      int
	loc, num int
}

func newSearchCommand(p *command.Program) *cobra.Command {
	b := &browseCommand{Program: p}
	cmd := &cobra.Command{
		Use:   "search QUERY",
		Short: "Search the web as a model would",
		Long: "Search the web and print what a model would see through browser_search. SEARXNG_URL or SEARCH_URL\n" +
			"names the search engine.",
		Example: "  SEARXNG_URL=http://127.0.0.1:8080 presswork search who invented paper\n" +
			"  presswork search --json markdown to pdf",
		RunE: func(cmd *cobra.Command, args []string) error {
			query := strings.TrimSpace(strings.Join(args, " "))
			if query == "" {
				return command.Usage(errors.New("the query is missing: presswork search who invented paper"))
			}

			return b.run(cmd.Context(),
				func(ctx context.Context, web *app.Web) error { return b.search(ctx, web, query) })
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVarP(&b.top, "top", "n", 10, "`NUMBER` of results, 1 to 20")
	f.BoolVar(&b.json, "json", false, "print the results as JSON")

	return cmd
}

func newFetchCommand(p *command.Program) *cobra.Command {
	b := &browseCommand{Program: p}
	cmd := &cobra.Command{
		Use:   "fetch URL",
		Short: "Read a web page as a model would",
		Long: "Read a web page and print what a model would see through browser_search: the first view, or the view\n" +
			"that --loc and --lines choose. --text prints the whole text without line numbers. The command reaches\n" +
			"public addresses on ports 80 and 443, and those that --allow-private or OUTBOUND_ALLOW_PRIVATE names.",
		Example: "  presswork fetch https://example.com --text\n" +
			"  presswork fetch http://localhost:3000/docs --allow-private localhost:3000 --loc 40",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return command.Usage(errors.New("name one address: presswork fetch https://example.com --text"))
			}

			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return b.run(cmd.Context(),
				func(ctx context.Context, web *app.Web) error { return b.fetch(ctx, web, args[0]) })
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&b.text, "text", false, "print the whole text")
	f.IntVar(&b.loc, "loc", 0, "first `LINE` of the view")
	f.IntVar(&b.num, "lines", 0, "`NUMBER` of lines of the view (default: about 1024 tokens)")
	f.BoolVar(&b.json, "json", false, "print address, title, text and links as JSON")
	f.BoolVar(&b.scripts, "scripts", true, "open the page in a browser if it has no text without its scripts")
	f.StringVar(
		&b.allow,
		"allow-private",
		"",
		"private `HOSTS` that may be reached: host[:port] or CIDR, separated by commas (default "+
			"OUTBOUND_ALLOW_PRIVATE)",
	)

	return cmd
}

// run starts the browser tool, calls use and stops the tool.
func (b *browseCommand) run(ctx context.Context, use func(context.Context, *app.Web) error) (err error) {
	cfg, err := b.Config()
	if err != nil {
		return err
	}

	allow, setting := cfg.OutboundAllowPrivate, "OUTBOUND_ALLOW_PRIVATE"
	if b.allow != "" {
		allow, setting = b.allow, "--allow-private"
	}

	web, err := app.OpenWeb(ctx, app.WebOptions{
		Config:  cfg,
		Allow:   allow,
		Setting: setting,
		Scripts: b.scripts,
		Version: b.Version,
		Log:     command.NewLogger(b.Stderr, cfg),
	})
	if err != nil {
		return err
	}

	defer func() { err = errors.Join(err, web.Stop()) }()

	return use(ctx, web)
}

// search prints the results of a search.
func (b *browseCommand) search(ctx context.Context, web *app.Web, query string) error {
	if err := web.Available(); err != nil {
		return command.Usage(errors.New("no search engine is configured: set SEARXNG_URL or SEARCH_URL"))
	}

	if b.top < 1 || b.top > 20 {
		return command.Usage(fmt.Errorf("--top is %d; allowed: 1 to 20", b.top))
	}

	result, err := web.Search(ctx, query, b.top)
	switch {
	case err != nil:
		return err
	case b.json:
		return b.Encode(result.Search)
	}
	_, err = fmt.Fprintln(b.Stdout, result.Output)

	return err
}

// fetch prints a page: the view that a model sees, the whole text, or JSON.
func (b *browseCommand) fetch(ctx context.Context, web *app.Web, address string) error {
	if b.loc < 0 || b.num < 0 {
		return command.Usage(fmt.Errorf("--loc is %d and --lines is %d; both must be 0 or more", b.loc, b.num))
	}

	if err := web.CheckURL(address); fault.CodeOf(err) == fault.InvalidURL {
		return command.Usage(errors.New(local.Message(err)))
	}

	if !b.text && !b.json {
		result, err := web.Open(ctx, address, b.loc, b.num)
		if err == nil {
			_, err = fmt.Fprintln(b.Stdout, result.Output)
		}

		return err
	}

	page, err := web.Read(ctx, address)
	switch {
	case err != nil:
		return errors.New(local.Message(err))
	case b.json:
		return b.Encode(page)
	}
	_, err = fmt.Fprintln(b.Stdout, page.Text)

	return err
}

// runPython holds the flags of `presswork run-python`.
type runPython struct {
	*command.Program
	stdin  io.Reader
	data   []string
	output string
	json   bool
	// pictures counts the files that save has written.
	pictures int
}

func newRunPythonCommand(p *command.Program) *cobra.Command {
	r := &runPython{Program: p}
	cmd := &cobra.Command{
		Use:   "run-python FILE.py [FILE.py...]",
		Short: "Run Python in the sandbox of code_interpreter, and print what a model would see",
		Long: "Run Python in the sandbox of code_interpreter, and print what a model would see: output, the value of\n" +
			"the last expression, tracebacks. Several files run in one session and share variables. \"-\" reads\n" +
			"standard input. The code can reach no files of this machine except those of --data, which are in /data.",
		Example: "  echo 'sum(range(10))' | presswork run-python -\n" +
			"  presswork run-python plot.py --data sales.csv -o pictures/",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return command.Usage(fmt.Errorf("name a Python file, or %s for standard input", local.Std))
			}
			r.stdin = cmd.InOrStdin()

			return r.run(cmd.Context(), args)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&r.data, "data", nil, "copy `FILE` to /data, where the code can read it; repeatable")
	f.StringVarP(&r.output, "output", "o", "",
		"`DIR` for pictures: picture-1.png and so on (default: pictures are not saved)")
	f.BoolVar(&r.json, "json", false, "print a JSON object for each call")
	cmd.ValidArgsFunction = cobra.FixedCompletions([]cobra.Completion{"py"}, cobra.ShellCompDirectiveFilterFileExt)
	command.Complete(cmd, "output", cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))

	return cmd
}

// run runs the files one after the other in one session and prints the result of each.
func (r *runPython) run(ctx context.Context, paths []string) error {
	cfg, err := r.Config()
	if err != nil {
		return err
	}

	data, err := app.PythonFiles(r.data)
	if err != nil {
		return command.Usage(fmt.Errorf("--data: %w", err))
	}

	pool, err := app.Interpreters(ctx, cfg, terminal.NewNotices(r.Stderr))
	if err != nil {
		return err
	}

	session, err := pool.Session(ctx, data)
	if err != nil {
		return command.Usage(fmt.Errorf("--data: %w", err))
	}
	defer session.Close()

	for _, path := range paths {
		code, err := r.read(path)
		if err != nil {
			return command.InFile(path, err)
		}

		result, err := session.Run(ctx, code)
		if err != nil {
			return err
		}

		if r.json {
			err = r.Encode(result)
		} else if result.Output != "" {
			_, err = fmt.Fprintln(terminal.Plain(r.Stdout), result.Output)
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
			return command.InFile(path, errors.New("the code failed"))
		}
	}

	return nil
}

// read reads code from a file or from standard input.
func (r *runPython) read(path string) (string, error) {
	if path == local.Std {
		code, err := io.ReadAll(r.stdin)
		return string(code), err
	}
	code, err := os.ReadFile(path)

	return string(code), err
}

// save writes a picture that the code displayed, from base64. It ignores an empty one.
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
		return command.InFile(name, err)
	}

	return nil
}
