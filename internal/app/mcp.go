package app

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"presswork"
	"presswork/internal/analysis/finding"
	"presswork/internal/client"
	"presswork/internal/config"
	"presswork/internal/fault"
	"presswork/internal/local"
	"presswork/internal/mcp"
	"presswork/themes"
)

// maxOpened bounds what is read of a file for a resource, in bytes. Larger ones are refused by package mcp.
const maxOpened = 64 << 20

// LocalToolsOptions configure OpenLocalTools.
type LocalToolsOptions struct {
	// Config names the browser, the search engine and the limits.
	Config config.Config
	// Roots are the folders whose files the tools read and write. At least one.
	Roots []string
	// ThemesDir is the folder of custom themes. Default: none.
	ThemesDir string
	// Server transcribes recordings.
	Server *client.Server
	// Jobs is the number of documents that are printed at a time.
	Jobs int
	// Version is the program's version, which requests name.
	Version string
	// Log receives warnings.
	Log *slog.Logger
}

// LocalTools does the work of MCP tools on this machine, without a queue. It reads and writes files below
// LocalToolsOptions.Roots only. It is safe for concurrent use.
type LocalTools struct {
	o         LocalToolsOptions
	converter *local.Converter
	// web opens the web at the first call.
	web func() (*Web, error)
	// stop ends the browser of the web if it was opened.
	stop func() error
}

var _ mcp.Backend = (*LocalTools)(nil)

// OpenLocalTools starts the browser. The caller must call Stop. ctx bounds the life of the tools. Errors:
// chromium.ErrNotFound, InvalidOption for a folder that cannot be opened, UsageError.
func OpenLocalTools(ctx context.Context, o LocalToolsOptions) (*LocalTools, error) {
	images, err := NewFetcher(o.Config, o.Version)
	if err != nil {
		return nil, err
	}

	converter := local.New(local.Options{
		ThemesDir: o.ThemesDir, Roots: o.Roots, Jobs: o.Jobs, Timeout: o.Config.RenderTimeout,
		Browser: o.Config.ChromiumPath, Fetch: images.Fetch, Log: o.Log,
	})
	if err := converter.Start(ctx); err != nil {
		return nil, err
	}
	t := &LocalTools{o: o, converter: converter, stop: func() error { return nil }}
	t.web = sync.OnceValues(func() (*Web, error) {
		web, err := OpenWeb(ctx, WebOptions{
			Config: o.Config, Allow: o.Config.OutboundAllowPrivate, Setting: "OUTBOUND_ALLOW_PRIVATE", Scripts: true,
			Version: o.Version, Log: o.Log,
		})
		if err == nil {
			t.stop = web.Stop
		}

		return web, err
	})

	return t, nil
}

// Stop ends the browsers and returns their errors. No tool may be running.
func (t *LocalTools) Stop() error { return errors.Join(t.converter.Close(), t.stop()) }

// Themes implements mcp.Backend.
func (t *LocalTools) Themes() []themes.Theme { return t.converter.Themes() }

// percent returns the progress in percent of a stage. The converter reports stages only, so each counts for a
// fifth.
func percent(stage presswork.Stage) int {
	return 100 * slices.Index([]presswork.Stage{
		"", presswork.StageAnalyzing, presswork.StageRendering, presswork.StagePrinting, presswork.StageStoring,
	}, stage) / 5
}

// input returns the input of the converter for a document.
func (t *LocalTools) input(d mcp.Document, report mcp.Progress) (local.Input, error) {
	in := local.Input{
		Path: local.Std, Content: []byte(d.Markdown), Theme: d.Theme, Options: d.Options,
		Progress: func(stage presswork.Stage) { report(percent(stage), stage) },
	}

	if int64(len(d.Markdown)) > t.o.Config.MaxContentBytes {
		return in, fault.Errorf(fault.ContentTooLarge, "markdown has %d bytes; allowed: %d (MAX_CONTENT_BYTES)",
			len(d.Markdown), t.o.Config.MaxContentBytes)
	}

	var err error
	if d.Path != "" {
		in.Path, err = t.converter.Place(d.Path)
		in.Content = nil
	}

	if err == nil {
		err = local.CheckOptions(d.Options)
	}

	if err == nil && d.Theme != "" {
		err = t.converter.CheckTheme(d.Theme)
	}

	return in, err
}

// Convert implements mcp.Backend.
func (t *LocalTools) Convert(ctx context.Context, c mcp.Conversion, report mcp.Progress) (f mcp.File, err error) {
	in, err := t.input(c.Document, report)
	if err != nil {
		return f, err
	}

	if in.Format, err = mcp.FormatOf(c); err != nil {
		return f, err
	}

	if err := local.CheckOutput(in.Format, c.Options); err != nil {
		return f, err
	}

	if c.Output == "" && c.Path == "" {
		return f, fault.Errorf(fault.InvalidRequest,
			"output is missing; name the file to write, such as \"report%s\"", in.Format.Extension())
	}
	output := cmp.Or(c.Output, strings.TrimSuffix(c.Path, filepath.Ext(c.Path))+in.Format.Extension())

	if in.Output, err = t.converter.Place(output); err != nil {
		return f, err
	}

	if in.Output == in.Path {
		return f, fault.Errorf(fault.InvalidRequest, "output would overwrite the document; choose another name")
	}

	made, err := t.converter.Convert(ctx, in)
	if err != nil {
		return f, named(c.Path, err)
	}
	f = fileOf(made.Path, in.Format.ContentType(), made.Bytes)
	f.Pages, f.Theme, f.Warnings = made.Pages, made.Theme, made.Warnings

	if made.Analysis != nil {
		f.Reasons = made.Analysis.Recommendation.Reasons
	}

	return f, nil
}

// fileOf returns a file of this machine with its file:// address.
func fileOf(path, contentType string, size int) mcp.File {
	return mcp.File{
		Name: path, URI: (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String(), ContentType: contentType,
		Size: int64(size),
	}
}

// named returns an error of a document that names its file, so that the model knows which one is meant. An error
// that names it already stays as it is.
func named(path string, err error) error {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || path == "" || strings.Contains(e.Message, path) {
		return err
	}

	return fault.Errorf(e.Code, "%s: %s", path, e.Message).WithCause(e.Cause)
}

// Preview implements mcp.Backend.
func (t *LocalTools) Preview(
	ctx context.Context, d mcp.Document, page int, report mcp.Progress,
) (p mcp.Picture, err error) {
	d.Options = mcp.OnlyPage(d.Options, page)

	in, err := t.input(d, report)
	if err != nil {
		return p, err
	}
	in.Format = presswork.PNG

	out, made, err := t.converter.Make(ctx, in)
	if err != nil {
		return p, named(d.Path, err)
	}

	return mcp.Picture{PNG: made.Pictures[0], Theme: out.Theme, Warnings: out.Warnings}, nil
}

// Check implements mcp.Backend.
func (t *LocalTools) Check(ctx context.Context, d mcp.Document, report mcp.Progress) (c mcp.Checked, err error) {
	d.Options.Strict = new(false)

	in, err := t.input(d, report)
	if err != nil {
		return c, err
	}

	out, _, err := t.converter.Make(ctx, in)

	return mcp.Checked{Pages: out.Pages, Theme: out.Theme, Warnings: out.Warnings}, named(d.Path, err)
}

// Analyze implements mcp.Backend.
func (t *LocalTools) Analyze(ctx context.Context, d mcp.Document) (finding.Analysis, error) {
	in, err := t.input(d, func(int, presswork.Stage) {})
	if err != nil {
		return finding.Analysis{}, err
	}

	if d.Path == "" {
		found, err := t.converter.AnalyzeText(ctx, in.Content)
		return found.Analysis, err
	}

	found, err := t.converter.Analyze(ctx, in.Path)

	return found.Analysis, named(d.Path, err)
}

// Open implements mcp.Backend.
func (t *LocalTools) Open(ctx context.Context, uri string) (c mcp.Content, err error) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" {
		return c, fault.Errorf(fault.NotFound, "%q is not the address of a file", uri)
	}

	f, err := t.converter.OpenFile(filepath.FromSlash(u.Path))
	if err != nil {
		return c, err
	}
	defer f.Close()

	c.ContentType = contentTypeOf(u.Path)
	c.Data, err = local.Waiting(ctx, func() ([]byte, error) { return io.ReadAll(io.LimitReader(f, maxOpened)) })

	return c, err
}

// contentTypeOf returns the type of a file that the tools make, or that of Markdown.
func contentTypeOf(path string) string {
	for _, o := range presswork.Outputs() {
		if strings.EqualFold(filepath.Ext(path), o.Extension()) {
			return o.ContentType()
		}
	}

	if strings.EqualFold(filepath.Ext(path), ".md") {
		return "text/markdown"
	}

	return "application/octet-stream"
}
