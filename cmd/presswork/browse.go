package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"presswork/internal/app"
	"presswork/internal/fault"
	"presswork/internal/local"
)

// browseCommand is one run of `presswork search` or `presswork fetch`: what a model
// would see, on standard output.
type browseCommand struct {
	*program
	allow    string
	scripts  bool
	text     bool
	json     bool
	top      int
	loc, num int
}

func newSearchCommand(p *program) *cobra.Command {
	b := &browseCommand{program: p}
	cmd := &cobra.Command{
		Use:   "search QUERY",
		Short: "Search the web as a model would",
		Long: "Search the web as a model with browser_search would, and print what it would see.\n" +
			"The search engine is that of SEARXNG_URL or SEARCH_URL.",
		Example: "  SEARXNG_URL=http://127.0.0.1:8080 presswork search who invented paper\n" +
			"  presswork search --json markdown to pdf",
		RunE: func(cmd *cobra.Command, args []string) error {
			query := strings.TrimSpace(strings.Join(args, " "))
			if query == "" {
				return usageError{errors.New("say what to search for: presswork search who invented paper")}
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

func newFetchCommand(p *program) *cobra.Command {
	b := &browseCommand{program: p}
	cmd := &cobra.Command{
		Use:   "fetch URL",
		Short: "Read a web page as a model would",
		Long: "Read a web page as a model with browser_search would, and print what it would see: the first view, or " +
			"the one that --loc\n" +
			"and --lines choose. --text prints all of the text that a model can page through, without numbers.\n" +
			"Public addresses on ports 80 and 443 are reached; others only when --allow-private or " +
			"OUTBOUND_ALLOW_PRIVATE names them.",
		Example: "  presswork fetch https://example.com --text\n" +
			"  presswork fetch http://localhost:3000/docs --allow-private localhost:3000 --loc 40",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{errors.New("name one address: presswork fetch https://example.com --text")}
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
	f.BoolVar(&b.scripts, "scripts", true, "open the page in a browser where it shows no text without its scripts")
	f.StringVar(
		&b.allow,
		"allow-private",
		"",
		"`HOSTS` (host[:port] or CIDR, comma list) beyond the public internet that may be reached (default "+
			"OUTBOUND_ALLOW_PRIVATE)",
	)

	return cmd
}

// run opens the web as models see it, calls use, and stops what it started.
func (b *browseCommand) run(ctx context.Context, use func(context.Context, *app.Web) error) (err error) {
	cfg, err := b.config()
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
		Version: version(),
		Log:     newLogger(b.stderr, cfg),
	})
	if err != nil {
		return err
	}

	defer func() { err = errors.Join(err, web.Stop()) }()

	return use(ctx, web)
}

func (b *browseCommand) search(ctx context.Context, web *app.Web, query string) error {
	if err := web.Available(); err != nil {
		return usageError{errors.New("no search engine is set: name one in SEARXNG_URL or SEARCH_URL")}
	}

	if b.top < 1 || b.top > 20 {
		return usageError{fmt.Errorf("--top is %d; allowed: 1 to 20", b.top)}
	}

	result, err := web.Search(ctx, query, b.top)
	switch {
	case err != nil:
		return err
	case b.json:
		return b.encode(result.Search)
	}
	_, err = fmt.Fprintln(b.stdout, result.Output)

	return err
}

func (b *browseCommand) fetch(ctx context.Context, web *app.Web, address string) error {
	if b.loc < 0 || b.num < 0 {
		return usageError{errors.New("--loc and --lines: allowed are numbers from 0 on")}
	}

	if err := web.CheckURL(address); fault.CodeOf(err) == fault.InvalidURL {
		return usageError{errors.New(local.Message(err))}
	}

	if !b.text && !b.json {
		result, err := web.Open(ctx, address, b.loc, b.num)
		if err == nil {
			_, err = fmt.Fprintln(b.stdout, result.Output)
		}

		return err
	}

	page, err := web.Read(ctx, address)
	switch {
	case err != nil:
		return errors.New(local.Message(err))
	case b.json:
		return b.encode(page)
	}
	_, err = fmt.Fprintln(b.stdout, page.Text)

	return err
}
