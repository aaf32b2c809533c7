package document_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/document"
	"presswork/internal/markdown/diagram"
	"presswork/themes"
)

// drawn returns a renderer whose diagrams all have that size. Their smallest text has that size in pixels.
func drawn(width, height int, smallest float64) *diagram.Renderer {
	return diagram.New(diagram.Options{Script: func(context.Context, string, ...string) ([]json.RawMessage, error) {
		return []json.RawMessage{
			json.RawMessage(fmt.Sprintf(
				`{"svg":"<svg xmlns=\"http://www.w3.org/2000/svg\"><text>node</text></svg>","width":%d,"height":%d,"text":%g}`,
				width,
				height,
				smallest,
			)),
		}, nil
	}})
}

func TestWideDiagramsTurnTheirPage(t *testing.T) {
	t.Parallel()

	const src = "text\n\n## Flow\n\n```mermaid\ngraph LR\n```\n"

	for name, c := range map[string]struct {
		width, height int
		smallest      float64
		options       presswork.Options
		want          string
	}{
		"fits":             {500, 300, 14, presswork.Options{}, "<div class=\"diagram\"><svg role"},
		"is legible":       {800, 300, 14, presswork.Options{}, "<div class=\"diagram\"><svg role"},
		"has small texts":  {800, 300, 10, presswork.Options{}, "<div class=\"turned\">\n<h2 id=\"flow\">Flow</h2>\n<div class=\"diagram\"><svg style=\"max-height:"},
		"too wide":         {1200, 300, 14, presswork.Options{}, "<div class=\"turned\">\n<h2 id=\"flow\">Flow</h2>\n<div class=\"diagram\"><svg style=\"max-height:"},
		"too high as well": {1200, 2000, 14, presswork.Options{}, "<style>@page sheet-1{size:278.667mm 467.0"},
		"a wide sheet":     {1300, 300, 14, presswork.Options{Landscape: new(true)}, "<div class=\"diagram\"><svg role"},
		"much too wide":    {4000, 300, 14, presswork.Options{}, "<style>@page sheet-1{size:772.556mm 210mm}</style>"},
		"without end":      {20_000, 300, 14, presswork.Options{}, "<style>@page sheet-1{size:1188mm 210mm}</style>"},
	} {
		t.Run(name, func(t *testing.T) {
			html := composeDrawn(
				t,
				drawn(c.width, c.height, c.smallest),
				document.Document{Content: []byte(src), Options: c.options},
			)
			if !strings.Contains(html, c.want) {
				t.Errorf("got %s\nwant %s", html[strings.Index(html, "<main>"):], c.want)
			}
		})
	}
}

// composeDrawn returns the HTML of a document whose diagrams r renders.
func composeDrawn(t *testing.T, r *diagram.Renderer, d document.Document) string {
	t.Helper()

	composed, err := converter(t, document.Options{Diagrams: r}).Compose(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}

	return composed.Page.HTML
}

// The API has no renderer of diagrams, the worker has one. Both must use one key for a preview.
func TestPreviewsHaveOneKeyWithAndWithoutDiagrams(t *testing.T) {
	t.Parallel()

	one, err := converter(t, document.Options{}).Preview(t.Context(), themes.Default)
	if err != nil {
		t.Fatal(err)
	}

	other, err := converter(t, document.Options{Diagrams: drawn(100, 100, 14)}).Preview(t.Context(), themes.Default)
	if err != nil {
		t.Fatal(err)
	}

	if one.Key != other.Key {
		t.Errorf("the key with diagrams is %s, without %s; want one key", other.Key, one.Key)
	}
}
