package worker

import (
	"context"

	"presswork/internal/inference"
	"presswork/internal/inference/browse"
)

// BrowserSearch is the built-in tool of that name.
func BrowserSearch(b *browse.Browser) Tool {
	tool := Tool{Type: inference.BrowserSearch, Open: func(context.Context, []ToolFile) (OpenTool, error) {
		return browsing{b.Session()}, nil
	}}
	if b.Available() != nil {
		tool.Unavailable = "no search engine is set: SEARXNG_URL or SEARCH_URL names one"
	}

	return tool
}

// browsing is a session whose pages are memory alone.
type browsing struct{ *browse.Session }

// Close does nothing.
func (browsing) Close() error { return nil }
