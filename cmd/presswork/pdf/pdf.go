// Package pdf is the command that changes and inspects PDF files: merge, split, rotate and so on. Each operation is a
// sub-command with its own flags; all share one pdfCommand. Package pdfops does the work, on whole files in memory.
package pdf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"presswork/cmd/presswork/command"
	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/local"
	"presswork/internal/pdfops"
	"presswork/internal/terminal"
)

// maxPDF limits one input of `presswork pdf`, in bytes.
const maxPDF = 512 << 20

// pdfCommand holds the flags of one command of `presswork pdf`.
type pdfCommand struct {
	*command.Program
	operation pdfops.Operation
	options   pdfops.Options
	stdin     io.Reader
	output    string
	mark      string
	// passwordFiles are files with a password, by the name of their flag. They keep passwords out of the process
	// list, which other users can read.
	passwordFiles map[string]*string
	json          bool
	quiet         bool
	// scale, opacity and rotation are stored in options if they are set.
	scale, opacity, rotation float64
}

// pdfHelp describes a command.
type pdfHelp struct {
	operation            pdfops.Operation
	use, short, long, ex string
}

// Command returns `presswork pdf`.
func Command(p *command.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pdf",
		Short: "Merge, split, rotate, stamp, encrypt and read PDF files",
		Args:  command.Known,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	const keeps = "Tags, links, outlines and page labels stay. " // of the operations that copy pages

	for _, h := range []pdfHelp{
		{
			pdfops.Merge, "merge FILE.pdf FILE.pdf…", "Join PDF files into one",
			"Join PDF files into one. " + keeps + "The outline gets one top entry for each\n" +
				"file. Form fields stay; the second field of a name is renamed. Metadata are those of the first file.",
			"  presswork pdf merge cover.pdf report.pdf -o all.pdf",
		},
		{
			pdfops.Split, "split FILE.pdf", "Write pages of a PDF file to new files",
			"Write one file for each range of --pages, or for each page. --single writes one file with all ranges.\n" +
				keeps + "Attachments are removed.",
			"  presswork pdf split report.pdf --pages 1-3,4-9 -o parts/\n" +
				"  presswork pdf split report.pdf --pages 2,5-6 --single -o extract.pdf",
		},
		{
			pdfops.Rotate, "rotate FILE.pdf", "Turn pages of a PDF file", "Turn pages clockwise. " + keeps,
			"  presswork pdf rotate scan.pdf --degrees 90 --pages 2 -o turned.pdf",
		},
		{
			pdfops.Stamp, "stamp FILE.pdf", "Draw a text, a picture or a page on a PDF file",
			"Draw a text, a picture (PNG, JPEG) or the first page of a PDF file on pages. Screen readers skip it.\n" + keeps,
			"  presswork pdf stamp report.pdf --text Approved --position top-right -o approved.pdf",
		},
		{
			pdfops.Watermark, "watermark FILE.pdf", "Draw a pale text, picture or page across a PDF file",
			"Draw a large, pale text, picture or page. It is drawn above the content, because many pages have an\n" +
				"opaque background; --under draws it below. Screen readers skip it.",
			"  presswork pdf watermark report.pdf --text Draft -o draft.pdf",
		},
		{
			pdfops.Encrypt, "encrypt FILE.pdf", "Encrypt a PDF file with AES-256",
			"Encrypt a PDF file with AES-256. --forbid names what readers with the user password may not do; PDF\n" +
				"programs may ignore that.",
			"  presswork pdf encrypt report.pdf --user-password secret -o closed.pdf",
		},
		{
			pdfops.Info, "info FILE.pdf", "Describe a PDF file", "Print pages, sizes, title, tags, version and fonts.",
			"  presswork pdf info report.pdf --json",
		},
		{
			pdfops.Text, "text FILE.pdf", "Print the text of a PDF file",
			"Print the text of the pages in the order in which they draw it. A form feed separates pages.",
			"  presswork pdf text report.pdf --pages 1-3",
		},
	} {
		cmd.AddCommand(newPDFOperation(p, h))
	}

	return cmd
}

func newPDFOperation(p *command.Program, h pdfHelp) *cobra.Command {
	c := &pdfCommand{Program: p, operation: h.operation, passwordFiles: map[string]*string{}}
	cmd := &cobra.Command{
		Use: h.use, Short: h.short, Long: h.long, Example: h.ex,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return command.Usage(fmt.Errorf("name a PDF file, or %s for standard input", local.Std))
			}

			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c.stdin = cmd.InOrStdin()
			c.keepSet(cmd.Flags())

			if err := c.readPasswords(); err != nil {
				return command.Usage(err)
			}

			return c.run(cmd.Context(), args)
		},
		ValidArgsFunction: cobra.FixedCompletions([]cobra.Completion{"pdf"}, cobra.ShellCompDirectiveFilterFileExt),
	}
	c.addFlags(cmd.Flags())

	return cmd
}

// addFlags adds the flags that the operation has.
func (c *pdfCommand) addFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	o := &c.options

	switch c.operation {
	case pdfops.Info:
		f.BoolVar(&c.json, "json", false, "print a JSON object")
	case pdfops.Text:
		f.StringVarP(&c.output, "output", "o", local.Std, "text `FILE`, or - for standard output")
	case pdfops.Split:
		f.StringVarP(&c.output, "output", "o", ".",
			"`DIR` for the files; with --single a PDF file, or - for standard output")
		f.BoolVar(&o.Single, "single", false, "write one file with all pages of --pages")
	default:
		f.StringVarP(&c.output, "output", "o", "", "PDF `FILE`, or - for standard output (mandatory)")
	}

	switch c.operation {
	case pdfops.Split, pdfops.Rotate, pdfops.Stamp, pdfops.Watermark, pdfops.Text:
		f.StringVar(&o.Pages, "pages", "", "only these `PAGES` (\"1-3,5\")")
	}

	switch c.operation {
	case pdfops.Rotate:
		f.IntVar(&o.Degrees, "degrees", 90, "turn clockwise by `DEGREES`: 90, 180 or 270")
	case pdfops.Stamp, pdfops.Watermark:
		f.StringVar(&o.Text, "text", "", "draw `TEXT`")
		f.StringVar(&c.mark, "file", "", "draw `FILE`: a picture (PNG, JPEG), or the first page of a PDF")
		f.StringVar(&o.Position, "position", "center", "`PLACE`: center, top, bottom, left, right, top-left and so on")
		f.Float64Var(
			&c.scale,
			"scale",
			0,
			"width as a `PART` of the page's width, 0.01 to 1 (default 0.3; watermark 0.8)",
		)
		f.Float64Var(&c.opacity, "opacity", 0, "`OPACITY`, 0 to 1 (default 1; watermark 0.15)")
		f.Float64Var(&c.rotation, "rotation", 0, "turn to the left by `DEGREES` (default 0; text as watermark 45)")
		f.BoolVar(&o.Under, "under", false, "draw below the content of the pages")
	case pdfops.Encrypt:
		f.StringVar(&o.UserPassword, "user-password", "", "`PASSWORD` that opens the file")
		f.StringVar(&o.OwnerPassword, "owner-password", "",
			"`PASSWORD` that allows everything (default --user-password)")
		c.addPasswordFile(f, "user-password-file")
		c.addPasswordFile(f, "owner-password-file")
		f.StringSliceVar(&o.Forbid, "forbid", nil,
			"forbid `ACTIONS`: print, copy, modify, annotate; separated by commas")
	}
	f.StringVar(&o.Password, "password", "", "`PASSWORD` of encrypted input files")
	c.addPasswordFile(f, "password-file")

	if c.operation != pdfops.Info && c.operation != pdfops.Text {
		f.BoolVarP(&c.quiet, "quiet", "q", false, "print errors only")
	}
}

// addPasswordFile adds a flag for a file with a password.
func (c *pdfCommand) addPasswordFile(f *pflag.FlagSet, name string) {
	c.passwordFiles[name] = f.String(name, "", "`FILE` whose first line is --"+strings.TrimSuffix(name, "-file"))
}

// readPasswords reads the password files into the options.
func (c *pdfCommand) readPasswords() error {
	for name, to := range map[string]*string{
		"password-file": &c.options.Password, "user-password-file": &c.options.UserPassword,
		"owner-password-file": &c.options.OwnerPassword,
	} {
		path := c.passwordFiles[name]
		if path == nil || *path == "" {
			continue
		}

		if *to != "" {
			return fmt.Errorf("--%s and --%s cannot be combined", strings.TrimSuffix(name, "-file"), name)
		}

		password, err := command.PasswordIn(name, *path)
		if err != nil {
			return err
		}
		*to = password
	}

	return nil
}

// keepSet stores the numbers whose flags are set.
func (c *pdfCommand) keepSet(f *pflag.FlagSet) {
	for name, to := range map[string]struct {
		value *float64
		to    **float64
	}{
		"scale": {&c.scale, &c.options.Scale}, "opacity": {&c.opacity, &c.options.Opacity},
		"rotation": {&c.rotation, &c.options.Rotation},
	} {
		if f.Changed(name) {
			*to.to = to.value
		}
	}
}

// run runs the operation on the files at paths and writes its results.
func (c *pdfCommand) run(ctx context.Context, paths []string) error {
	if err := pdfops.Check(c.operation, c.options, len(paths), c.mark != ""); err != nil {
		return command.Usage(errors.New(strings.ReplaceAll(fault.AsError(err).Message, "_password", "-password")))
	}

	if c.output == "" && c.operation != pdfops.Info {
		return command.Usage(errors.New("name the result: -o FILE.pdf"))
	}
	inputs := make([]pdfops.File, len(paths))

	for i, path := range paths {
		var err error
		if inputs[i], err = c.read(path); err != nil {
			return command.InFile(path, err)
		}
	}
	mark := pdfops.File{}

	if c.mark != "" {
		var err error
		if mark, err = c.read(c.mark); err != nil {
			return command.InFile(c.mark, err)
		}
	}

	result, err := pdfops.Run(ctx, c.operation, c.options, inputs, mark)
	switch {
	case fault.CodeOf(err) == fault.InvalidOption:
		return command.Usage(errors.New(local.Message(err)))
	case err != nil:
		return errors.New(local.Message(err))
	}

	for _, w := range result.Warnings {
		fmt.Fprintf(terminal.Plain(c.Stderr), "warning: %s\n", w)
	}

	if c.operation == pdfops.Info {
		return c.printInfo(result.Files[0].Data)
	}

	return c.write(ctx, result)
}

// read reads one input of at most maxPDF bytes from a file or from standard input.
func (c *pdfCommand) read(path string) (pdfops.File, error) {
	if path != local.Std {
		data, err := input.ReadFile(path, maxPDF)
		return pdfops.File{Name: path, Data: data}, err
	}

	data, err := io.ReadAll(io.LimitReader(c.stdin, maxPDF+1))
	if err == nil && len(data) > maxPDF {
		err = fmt.Errorf("it has more than %d bytes", maxPDF)
	}

	return pdfops.File{Name: "stdin.pdf", Data: data}, err
}

// write writes the results. Nothing is written before all of them are complete.
func (c *pdfCommand) write(ctx context.Context, result pdfops.Result) error {
	if c.output == local.Std {
		if len(result.Files) != 1 {
			return command.Usage(errors.New("several files do not go to standard output: set -o DIR or --single"))
		}
		_, err := c.Stdout.Write(result.Files[0].Data)

		return err
	}

	several := c.operation == pdfops.Split && !c.options.Single
	if several {
		if err := os.MkdirAll(c.output, 0o755); err != nil {
			return err
		}
	}

	for _, f := range result.Files {
		path := c.output
		if several {
			path = filepath.Join(c.output, f.Name)
		}

		if err := local.WriteFile(ctx, path, f.Data); err != nil {
			return command.InFile(path, errors.New(local.Message(err)))
		}

		if !c.quiet && c.operation != pdfops.Text {
			fmt.Fprintf(terminal.Plain(c.Stderr), "%s (%d bytes)\n", path, len(f.Data))
		}
	}

	return nil
}
