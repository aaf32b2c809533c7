package local

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/url"
	"path"
	"path/filepath"
	"strings"
	"time"

	"presswork"
	"presswork/internal/analysis/finding"
	"presswork/internal/analysis/recommend"
	"presswork/internal/document"
	"presswork/internal/fault"
	"presswork/internal/markdown/dialect/htmldoc"
)

// maxSource bounds the bytes that are read of an input. It is far more than can be rendered, and ends /dev/zero.
const maxSource = 64 << 20

// Input is one document and the place of its result. Plan returns Inputs.
type Input struct {
	// Path is a file, or Std.
	Path string
	// Content, if not nil, is read instead of standard input when Path is Std.
	Content []byte
	// Merge are files whose pages follow in the same result.
	Merge []string
	// Output is a file, or Std.
	Output string
	// Format is the format of the result. Only a Converter for PDFs makes other formats. Default: Options.Output.
	Format presswork.Output
	// Theme is the name of a theme, or themes.Auto for the most suitable one. "" means that of the front matter.
	Theme string
	// Options take precedence over those of the front matter.
	Options presswork.Options
	// pages are the outputs of a batch that become web pages, by the paths of their inputs. Links to these inputs lead
	// to the outputs.
	pages map[string]string
	// advice is the analysis of the input as part of a series. Default: the input is analysed alone.
	advice *recommend.Result
	// Progress is called for each step, next to Options.Progress. Default: no call.
	Progress func(stage presswork.Stage)
}

// Output is the result of an Input.
type Output struct {
	// Input and Path are the fields Path and Output of the Input.
	Input, Path string
	// Merged is the field Merge of the Input, or the chapters of the book that the Input is.
	Merged []string
	// Pages is 0 for HTML and EPUB.
	Pages int
	Bytes int
	// Theme is the name of the theme.
	Theme string
	// Analysis is set if the theme was chosen by analysis.
	Analysis *finding.Analysis
	Elapsed  time.Duration
	Times    Times
	// Lookups counts the lookups in the analysis cache, Hits those that succeeded.
	Lookups, Hits int
	Warnings      []fault.Warning
	// Sources is the state of all files that were read or looked up.
	Sources Snapshot
}

// Times are the durations of the steps of a conversion.
type Times struct{ Analyze, Render, Print time.Duration }

// Convert converts one document. When it fails, an earlier file at the output stays, and Output has the fields
// that are known. Errors can be shown to the user:
//   - NotFound, Forbidden or InvalidRequest for an input that cannot be read
//   - ContentTooLarge and the errors of document.Converter
//   - StoreFull or StoreUnavailable for an output that cannot be written
//   - RenderTimeout, and the cause of ctx
func (c *Converter) Convert(ctx context.Context, in Input) (Output, error) {
	begun := time.Now()
	out := Output{Input: in.Path, Path: in.Output, Merged: in.Merge, Warnings: []fault.Warning{}, Sources: Snapshot{}}

	made, err := c.convert(ctx, in, &out)
	if err == nil {
		c.step(in, presswork.StageStoring)
		err = c.writeMade(ctx, in.Output, made)
	}

	if err == nil {
		out.Bytes = len(made.Data)
		c.step(in, presswork.StageDone)
	}
	out.Elapsed = time.Since(begun)

	return out, err
}

// Make converts one document and returns the result instead of writing it. Errors: those of Convert.
func (c *Converter) Make(ctx context.Context, in Input) (Output, document.Made, error) {
	begun := time.Now()
	out := Output{Input: in.Path, Merged: in.Merge, Warnings: []fault.Warning{}, Sources: Snapshot{}}
	made, err := c.convert(ctx, in, &out)
	out.Elapsed = time.Since(begun)

	return out, made, err
}

// step reports a step of an input.
func (c *Converter) step(in Input, stage presswork.Stage) {
	c.o.Progress(in.Path, stage)

	if in.Progress != nil {
		in.Progress(stage)
	}
}

// convert makes the result of an input within Options.Timeout. Writing to a slow pipe may take longer.
func (c *Converter) convert(ctx context.Context, in Input, out *Output) (document.Made, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.o.Timeout,
		fault.Errorf(fault.RenderTimeout, "the conversion took longer than %s", c.o.Timeout))
	defer cancel()

	doc, closeFiles, err := c.document(ctx, in, out.Sources)
	defer closeFiles()

	if err != nil {
		return document.Made{}, err
	}

	if doc.Folder != "" {
		out.Merged = chapterFiles(in.Path, doc.Parts)
	}

	if err := c.chooseTheme(ctx, &doc, in, out); err != nil {
		return document.Made{}, err
	}
	c.step(in, presswork.StageRendering)
	begun := time.Now()
	composed, err := c.engine.Compose(ctx, doc)
	out.Times.Render = time.Since(begun)
	out.Theme = composed.Theme

	out.Warnings = append(out.Warnings, composed.Warnings...)
	if err != nil {
		return document.Made{}, strictError(err, out.Warnings)
	}

	if c.o.Page != nil {
		c.o.Page(in.Path, composed.Standalone())
	}

	if composed.Output != presswork.HTML {
		c.step(in, presswork.StagePrinting)
	}
	begun = time.Now()
	made, err := c.engine.Make(ctx, composed)

	out.Times.Print = time.Since(begun)
	if len(made.Warnings) > 0 {
		out.Warnings = made.Warnings // those of composed are the first of them
	}

	if err != nil {
		return document.Made{}, strictError(err, out.Warnings)
	}
	out.Pages = made.Pages

	return made, nil
}

// writeMade writes the result to path. Pictures become one file per page next to it, unless there is only one
// page, or path is an archive or standard output.
func (c *Converter) writeMade(ctx context.Context, path string, made document.Made) error {
	stem, picture := strings.CutSuffix(path, ".png")
	switch {
	case len(made.Pictures) == 1 && (picture || path == Std):
		return c.WriteResult(ctx, path, made.Pictures[0])
	case len(made.Pictures) > 1 && picture:
		for i, data := range made.Pictures {
			if err := c.WriteResult(ctx, document.PictureName(stem, i+1, len(made.Pictures)), data); err != nil {
				return err
			}
		}

		return nil
	}

	return c.WriteResult(ctx, path, made.Data)
}

// document reads the files of an input. Its images can be opened until closeFiles is called, which is required
// after an error as well.
func (c *Converter) document(
	ctx context.Context, in Input, sources Snapshot,
) (d document.Document, closeFiles func(), err error) {
	if len(in.Merge) == 0 && IsFolder(in.Path) {
		return c.book(ctx, in, sources)
	}
	var opened []*assets
	var word wordFiles
	closeFiles = func() {
		for _, a := range opened {
			a.close()
		}
		word.remove()
	}

	for i, path := range append([]string{in.Path}, in.Merge...) {
		part, files, found, err := c.readPart(ctx, path, in.Content, sources, &word)
		if files != nil {
			opened = append(opened, files)
		}

		switch {
		case err != nil && len(in.Merge) > 0:
			return d, closeFiles, withFile(path, err)
		case err != nil:
			return d, closeFiles, err
		case i == 0:
			d = document.Document{
				Output:  cmp.Or(in.Format, c.o.Output),
				Content: part.Content,
				Theme:   in.Theme,
				Options: in.Options,
				Path:    part.Path,
				Asset:   part.Asset,
				Include: part.Include,
				Place:   part.Place,
			}
			if path != Std {
				d.Filename = filepath.Base(path)
			}

			if in.Output != Std {
				d.Page = in.page
			}
		default:
			d.Parts = append(d.Parts, part)
		}

		if len(in.Merge) > 0 {
			found = named(filepath.Base(path), found)
		}
		d.Warnings = append(d.Warnings, found...)
	}

	return d, closeFiles, nil
}

// readPart reads one file of an input; stdin is the content of Std if it is not nil. The caller closes files unless it
// is nil, after an error as well.
func (c *Converter) readPart(
	ctx context.Context, path string, stdin []byte, sources Snapshot, word *wordFiles,
) (part document.Part, files *assets, found []fault.Warning, err error) {
	source, err := c.source(ctx, path, word)
	if err != nil {
		return part, nil, nil, err
	}
	sources.add(path) // a Word document is read from another file

	content, err := c.read(ctx, source, stdin, sources)
	if err != nil {
		return part, nil, nil, err
	}

	if files, err = c.openAssets(source, sources); err != nil {
		return part, nil, nil, err
	}
	part = document.Part{Content: content, Path: slashed(path), Asset: files.openImage, Include: files.include}
	found, err = part.ReadNotebook()

	return part, files, found, err
}

// page returns the address of the web page that another input becomes, relative to the output.
func (in Input) page(destination string) (address string, ok bool) {
	u, err := url.Parse(destination)
	if err != nil || u.IsAbs() || u.Host != "" || u.Path == "" {
		return "", false
	}

	output, ok := in.pages[path.Join(path.Dir(slashed(in.Path)), u.Path)]
	if !ok {
		return "", false
	}

	relative, err := filepath.Rel(filepath.Dir(in.Output), output)
	page := url.URL{Path: filepath.ToSlash(relative), Fragment: u.Fragment}

	return page.String(), err == nil
}

// slashed returns the path of a file in a form in which links can be resolved. Standard input is in the working
// directory.
func slashed(path string) string {
	if path == Std {
		path = "standard input"
	}

	abs, err := filepath.Abs(path)
	if err != nil {
		abs = path
	}

	return filepath.ToSlash(abs)
}

// read reads a whole input; content is that of Std if it is not nil. A pipe may never end, so ctx also ends the wait.
func (c *Converter) read(ctx context.Context, path string, content []byte, sources Snapshot) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}

	if path == Std && content != nil {
		return content, nil
	}

	if path != Std {
		sources.add(path)
	}

	return Waiting(ctx, func() ([]byte, error) {
		data, err := c.readAll(path)
		if err != nil || !htmldoc.IsName(path) {
			return data, err
		}

		if data, err = htmldoc.Markdown(data); err != nil {
			return nil, fault.Errorf(fault.InvalidRequest,
				"it is HTML that cannot be read; its elements may be nested at most 512 levels deep").WithCause(err)
		}

		return data, nil
	})
}

// readAll reads a document from a file or from standard input.
func (c *Converter) readAll(path string) ([]byte, error) {
	in := c.o.Stdin

	if path != Std {
		f, err := c.OpenFile(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()

		if info, err := f.Stat(); err == nil && info.IsDir() {
			return nil, fault.Errorf(fault.InvalidRequest, "it is a folder; name the Markdown files in it")
		}
		in = f
	}

	return readAll(in, maxSource)
}

// readAll reads at most limit bytes. Errors: ContentTooLarge, those of reading.
func readAll(in io.Reader, limit int64) ([]byte, error) {
	var b bytes.Buffer

	n, err := b.ReadFrom(io.LimitReader(in, limit+1))
	if err != nil {
		return nil, unreadable(err)
	}

	if n > limit {
		return nil, fault.Errorf(fault.ContentTooLarge, "it is larger than %d MB", limit>>20)
	}

	return b.Bytes(), nil
}
