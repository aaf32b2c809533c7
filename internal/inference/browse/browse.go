// Package browse implements the built-in tool browser_search, with which a model searches and reads the web. The
// output follows the browser that gpt-oss models were trained with. It has numbered lines of 80 characters, links
// as 【id†text†domain】, and a cursor for each view, which citations use.
//
// All content is hostile. Pages are fetched only where a guard.Policy allows, within limits on time, size and
// number. Invisible characters and imitations of the link marks are removed from their text, and each view says
// that it is data. No part of this package follows instructions of a page.
package browse

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"presswork/internal/guard"
	"presswork/internal/inference"
)

// Options configures a Browser.
type Options struct {
	// Policy decides from which addresses pages are fetched. Mandatory.
	Policy *guard.Policy
	// Searcher runs searches. Default: none; pages can still be opened.
	Searcher Searcher
	// Render loads a page in a browser that runs its scripts. It returns the HTML and the final address. It is
	// called for pages with hardly any text without scripts, and must obey Policy. Default: the text without
	// scripts.
	Render func(ctx context.Context, address string) (html, final string, err error)
	// PDFText returns the text of a PDF, with form feeds between pages. The PDF is untrusted and must be read in a
	// sandbox. Default: PDFs are not read.
	PDFText func(ctx context.Context, pdf []byte) (string, error)
	// UserAgent is sent with each request. Its first word, up to a slash, is the name for rules in robots.txt.
	// Default "Presswork".
	UserAgent string
	// Timeout bounds one request, from dialling to its last byte. Default 10 s.
	Timeout time.Duration
	// Log receives the details of errors that the model does not see. Default: discard.
	Log *slog.Logger
}

// Browser opens sessions. They share the state of sites: their robots.txt and the times of requests. It is safe
// for concurrent use.
type Browser struct {
	fetcher  *fetcher
	searcher Searcher
}

// New returns a Browser.
func New(o Options) *Browser {
	o.UserAgent = cmp.Or(o.UserAgent, "Presswork")
	o.Timeout = cmp.Or(o.Timeout, 10*time.Second)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))

	return &Browser{fetcher: newFetcher(o), searcher: o.Searcher}
}

// Available returns nil if searches can be made. Errors: *inference.Error, ToolUnavailable, with the missing
// setting.
func (b *Browser) Available() error {
	if b.searcher == nil {
		return inference.Errorf(http.StatusBadRequest, inference.ToolUnavailable,
			"browser_search has no search engine: the operator can set SEARXNG_URL or SEARCH_URL")
	}

	return nil
}

// Session returns a new session for one request. A session holds memory only, so it needs no close.
func (b *Browser) Session() *Session {
	return &Session{browser: b, pages: map[string]*page{}}
}

// Page is the whole text of a page in the form for models.
type Page struct {
	URL   string `json:"url"`
	Title string `json:"title"`
	Text  string `json:"text"`
	// Links are the addresses of the links, by the numbers in the text.
	Links []string `json:"links,omitempty"`
}

// CheckURL returns an error for an invalid or forbidden address. It makes no request. Errors: InvalidURL,
// AddressNotAllowed.
func (b *Browser) CheckURL(address string) error {
	_, err := b.fetcher.policy.CheckURL(withScheme(address))
	return err
}

// Read fetches one page. Errors: InvalidURL, AddressNotAllowed, PageUnreachable,
// PageError, ContentTooLarge, UnsupportedMediaType.
func (b *Browser) Read(ctx context.Context, address string) (Page, error) {
	p, err := b.fetcher.fetchPage(ctx, withScheme(address))
	if err != nil {
		return Page{}, err
	}

	return Page{p.url, p.title, strings.Join(p.lines, "\n"), p.links}, nil
}
