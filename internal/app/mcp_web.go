package app

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"presswork"
	"presswork/internal/client"
	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/local"
	"presswork/internal/mcp"
)

// ExportPage implements mcp.Backend.
func (t *LocalTools) ExportPage(ctx context.Context, p mcp.Page, report mcp.Progress) (f mcp.File, err error) {
	policy, err := ExportPolicy(t.o.Config, "")
	if err != nil {
		return f, err
	}

	output, err := t.converter.Place(p.Output)
	if err != nil {
		return f, err
	}

	picture, err := mcp.PictureType(p)
	if err != nil {
		return f, err
	}

	options, err := json.Marshal(mcp.PageOptions(p))
	if err != nil {
		return f, err
	}

	page, err := local.NewWebPage(p.URL, output, picture, options, nil, nil)
	if err != nil {
		return f, err
	}
	report(percent(presswork.StagePrinting), presswork.StagePrinting)

	data, pages, err := local.Visit(ctx, page, local.ExportOptions{
		Policy: policy, ThemesDir: t.o.ThemesDir, Browser: t.o.Config.ChromiumPath, Log: t.o.Log,
	})
	if err != nil {
		return f, err
	}
	report(percent(presswork.StageStoring), presswork.StageStoring)

	if err := t.converter.WriteResult(ctx, output, data); err != nil {
		return f, err
	}
	f = fileOf(output, presswork.PDF.ContentType(), len(data))
	f.Pages = pages

	if picture != "" {
		f.ContentType = "image/" + picture
	}

	return f, nil
}

// FetchPage implements mcp.Backend.
func (t *LocalTools) FetchPage(ctx context.Context, v mcp.View) (string, error) {
	return t.browse(func(web *Web) (inference.ToolResult, error) {
		if err := web.CheckURL(v.URL); err != nil {
			return inference.ToolResult{}, err
		}

		return web.Open(ctx, v.URL, v.Line, v.Lines)
	})
}

// SearchWeb implements mcp.Backend.
func (t *LocalTools) SearchWeb(ctx context.Context, s mcp.Search) (string, error) {
	return t.browse(func(web *Web) (inference.ToolResult, error) {
		if err := web.Available(); err != nil {
			return inference.ToolResult{}, err
		}

		return web.Search(ctx, s.Query, cmp.Or(s.Results, 10))
	})
}

// browse returns what a function of the web tells a model. It opens the web at the first call.
func (t *LocalTools) browse(use func(*Web) (inference.ToolResult, error)) (string, error) {
	web, err := t.web()
	if err != nil {
		return "", err
	}

	found, err := use(web)

	return found.Output, err
}

// Transcribe implements mcp.Backend. A running Presswork has the model.
func (t *LocalTools) Transcribe(
	ctx context.Context, r mcp.Recording, report mcp.Progress,
) (text mcp.Transcript, err error) {
	file, err := t.converter.OpenFile(r.Path)
	if err != nil {
		return text, named(r.Path, err)
	}
	defer file.Close()

	if info, err := file.Stat(); err != nil || info.IsDir() {
		return text, fault.Errorf(fault.InvalidRequest, "%s is a folder; name a recording in it", filepath.Base(r.Path))
	}

	data, warnings, err := t.o.Server.Transcribe(ctx, client.TranscribeOptions{
		Language: strings.ToLower(r.Language), Format: cmp.Or(r.Format, "text"),
		Progress: func(percent int, _ bool) { report(percent, presswork.StageTranscribing) },
	}, file)

	return mcp.Transcript{Text: string(data), Warnings: warnings}, err
}
