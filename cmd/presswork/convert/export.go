package convert

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"presswork/cmd/presswork/command"
	"presswork/internal/app"
	"presswork/internal/fault"
	"presswork/internal/lazyregexp"
	"presswork/internal/local"
)

// pictureTypes maps a file extension to the API's name of the picture type.
func pictureTypes() map[string]string {
	return map[string]string{".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg", ".webp": "webp"}
}

// exportCommand holds the flags of `presswork export`.
type exportCommand struct {
	*command.Program
	output string
	allow  string
	// options maps the API's option names to JSON values. The flags fill it.
	options map[string]json.RawMessage
	headers []string
	cookies []string
	quiet   bool
}

func newExportCommand(p *command.Program) *cobra.Command {
	e := &exportCommand{Program: p, options: map[string]json.RawMessage{}}
	cmd := &cobra.Command{
		Use:   "export URL",
		Short: "Turn a web page into a PDF or a picture on this machine",
		Long: "Turn a web page into a PDF, or into a picture when the output ends in .png, .jpg or .webp.\n" +
			"The page may reach public addresses on ports 80 and 443, and those that --allow-private or\n" +
			"EXPORT_ALLOW_PRIVATE names.",
		Example: "  presswork export https://example.com -o page.pdf\n" +
			"  presswork export http://localhost:3000/report --allow-private localhost:3000 -o report.pdf --format a4\n" +
			"  presswork export https://example.com -o page.png --full-page",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return nil
			}

			if err := checkValues(args); err != nil {
				return command.Usage(err)
			}

			return command.Usage(errors.New("name one address: presswork export https://example.com -o page.pdf"))
		},
		RunE: func(cmd *cobra.Command, args []string) error { return e.run(cmd, args[0]) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&e.output, "output", "o", "page.pdf",
		"`FILE` ending in .pdf, .png, .jpg or .webp, or - for a PDF on standard output")
	f.StringVar(
		&e.allow,
		"allow-private",
		"",
		"private `HOSTS` that the page may reach: host[:port] or CIDR, separated by commas (default "+
			"EXPORT_ALLOW_PRIVATE)",
	)

	for _, o := range exportFlags() {
		o.add(f, e.options)
	}
	f.StringArrayVar(&e.headers, "header", nil, "header `\"Name: value\"` sent to the page's own origin; repeatable")
	f.StringArrayVar(&e.cookies, "cookie", nil, "cookie `NAME=VALUE` sent to the page's own origin; repeatable")
	f.BoolVarP(&e.quiet, "quiet", "q", false, "print errors only")
	command.CompleteValues(cmd, map[string][]string{
		"format":     {"letter", "legal", "tabloid", "ledger", "a0", "a1", "a2", "a3", "a4", "a5", "a6"},
		"pdf-a":      {"2b", "2u", "3b"},
		"wait-until": {"load", "domcontentloaded", "networkidle0", "networkidle2"},
		"media-type": {"screen", "print"},
	})
	command.Complete(cmd, "theme", themeNames(p))
	command.Complete(cmd, "output",
		cobra.FixedCompletions([]string{"pdf", "png", "jpg", "webp"}, cobra.ShellCompDirectiveFilterFileExt))

	return cmd
}

// exportFlag describes one option of the API as a flag.
type exportFlag struct {
	name string // the API's name
	help string
	// kind is text, number, switch or level. A level is a text whose value may be omitted.
	kind string
}

// exportFlags lists the options of an export that are also flags. A word in backquotes names the value.
func exportFlags() []exportFlag {
	return []exportFlag{
		{"format", "`SIZE` of the paper: letter, legal, tabloid, ledger, a0 to a6 (default letter)", "text"},
		{"width", "`WIDTH` of the paper (\"210mm\")", "text"},
		{"height", "`HEIGHT` of the paper", "text"},
		{"landscape", "print in landscape", "switch"},
		{"scale", "scale the page by `FACTOR`, 0.1 to 2 (default 1)", "number"},
		{"printBackground", "print backgrounds (default true)", "switch"},
		{"pageRanges", "print only these `PAGES` (\"1-3,5\")", "text"},
		{"preferCSSPageSize", "prefer the @page size of the page's own stylesheet", "switch"},
		{"outline", "write bookmarks", "switch"},
		{"tagged", "write the structure tags that screen readers use (default true)", "switch"},
		{"pdf_a", "write PDF/A; `[=LEVEL]` is 2b, 2u or 3b (default 2b)", "level"},
		{"fullPage", "take the picture of the whole page, not only of the window", "switch"},
		{"selector", "take the picture of the first element that matches this `CSS` selector", "text"},
		{"quality", "`QUALITY` of a JPEG or WebP picture, 0 to 100 (default 80)", "number"},
		{"waitUntil", "wait for `EVENT`: load (default), domcontentloaded, networkidle0 or networkidle2", "text"},
		{"waitForSelector", "wait for an element that matches this `CSS` selector", "text"},
		{"waitForExpression", "wait until this `JAVASCRIPT` is true", "text"},
		{"waitForTimeout", "wait another `MILLISECONDS` after all other conditions are met", "number"},
		{"timeout", "fail after `MILLISECONDS` (default 30000)", "number"},
		{"mediaType", "apply the styles for `MEDIA`: screen or print", "text"},
		{"javaScriptEnabled", "run the page's scripts (default true)", "switch"},
		{"userAgent", "send `TEXT` as the User-Agent header", "text"},
		{"failOnConsoleExceptions", "fail on an uncaught script exception", "switch"},
		{"failOnResourceLoadingFailed", "fail if a resource cannot be loaded", "switch"},
		{"theme", "set the CSS variables of the theme `NAME` on the page", "text"},
	}
}

// wordEnds finds the borders between the words of a camelCase name; CSS in preferCSSPageSize is one word.
var wordEnds = lazyregexp.New(`([a-z])([A-Z])|([A-Z])([A-Z][a-z])`)

// flag returns the option's name on the command line: --prefer-css-page-size for preferCSSPageSize.
func (o exportFlag) flag() string {
	name := strings.ToLower(wordEnds().ReplaceAllString(o.name, "$1$3-$2$4"))
	return strings.NewReplacer("_", "-", "java-script", "javascript").Replace(name)
}

// add registers the flag. A given value is stored in into as JSON, under the API's name.
func (o exportFlag) add(f *pflag.FlagSet, into map[string]json.RawMessage) {
	set := func(s string) error {
		raw := json.RawMessage(s)
		if o.kind == "text" || o.kind == "level" && s != "true" && s != "false" {
			raw, _ = json.Marshal(s) // encoding a string cannot fail
		}

		if !json.Valid(raw) {
			return fmt.Errorf("%q is not %s", s,
				map[string]string{"number": "a number", "switch": "true or false"}[o.kind])
		}
		into[o.name] = raw

		return nil
	}
	if o.kind == "switch" || o.kind == "level" {
		f.BoolFunc(o.flag(), o.help, set)
		return
	}
	f.Func(o.flag(), o.help, set)
}

// run exports the page and prints where the result is.
func (e *exportCommand) run(cmd *cobra.Command, address string) error {
	cfg, err := e.Config()
	if err != nil {
		return err
	}

	policy, err := app.ExportPolicy(cfg, e.allow)
	if err != nil {
		return err
	}

	page, err := e.page(address)
	if err != nil {
		return command.Usage(errors.New(exportFlagOf(err) + local.Message(err)))
	}

	out, err := local.Export(cmd.Context(), page, local.ExportOptions{
		Policy: policy, ThemesDir: cfg.ThemesDir, Browser: cfg.ChromiumPath, Stdout: e.Stdout,
	})
	switch fault.CodeOf(err) {
	case "":
	case fault.InvalidOption, fault.InvalidURL, fault.ThemeNotFound:
		return command.Usage(errors.New(exportFlagOf(err) + local.Message(err)))
	case fault.Internal:
		return err
	default:
		return errors.New(local.Message(err))
	}

	if !e.quiet && e.output != local.Std {
		fmt.Fprintf(e.Stderr, "%s → %s (%s, %d ms)\n", address, out.Path, sizes(out), out.Elapsed.Milliseconds())
	}

	return nil
}

// exportFlagOf returns the flag of a rejected option as a prefix such as "--format: ".
func exportFlagOf(err error) string {
	name := strings.TrimPrefix(fault.AsError(err).Param, "options.")
	for _, o := range exportFlags() {
		if o.name == name {
			return "--" + o.flag() + ": "
		}
	}

	return ""
}

// page converts the flags to the API's request, so that both use the same checks.
func (e *exportCommand) page(address string) (local.WebPage, error) {
	page := local.WebPage{URL: address, Output: e.output}

	headers := map[string]string{}
	for _, h := range e.headers {
		name, value, found := strings.Cut(h, ":")
		if !found {
			return page, fmt.Errorf("--header %q: write \"Name: value\"", h)
		}
		headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}

	cookies := make([][2]string, 0, len(e.cookies))
	for _, c := range e.cookies {
		name, value, found := strings.Cut(c, "=")
		if !found {
			return page, fmt.Errorf("--cookie %q: write NAME=VALUE", c)
		}
		cookies = append(cookies, [2]string{name, value})
	}
	extension := strings.ToLower(filepath.Ext(e.output))

	picture, isPicture := pictureTypes()[extension]
	if !isPicture && extension != ".pdf" && e.output != local.Std {
		return page, fmt.Errorf("-o %s: the name must end in .pdf, .png, .jpg or .webp", e.output)
	}
	// Strings and JSON that was checked before always encode.
	fields, _ := json.Marshal(e.options)

	page, err := local.NewWebPage(address, e.output, picture, fields, headers, cookies)

	return page, e.explain(err)
}

// explain replaces an error about an option that the output format does not support by one that names the flag. The
// API's error names a field of JSON, which this user has not written.
func (e *exportCommand) explain(err error) error {
	if fault.CodeOf(err) != fault.UnknownField {
		return err
	}
	name := fault.AsError(err).Param

	i := slices.IndexFunc(exportFlags(), func(o exportFlag) bool { return o.name == name })
	if i < 0 {
		return err
	}

	return fmt.Errorf("--%s is not supported for %s: it applies to PDFs or to pictures, not to both",
		exportFlags()[i].flag(), e.output)
}
