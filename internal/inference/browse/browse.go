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

// Options are the settings of a Browser.
type Options struct {
	// Policy decides which addresses pages are fetched from. Mandatory.
	Policy *guard.Policy
	// Searcher answers searches. Default: none; pages can be opened all the same.
	Searcher Searcher
	// Render loads a page in a browser that runs its scripts and returns its HTML
	// and where it was in the end. It is asked for pages that show hardly any text
	// without scripts, and must not reach further than Policy. Default: such pages
	// show what they have.
	Render func(ctx context.Context, address string) (html, final string, err error)
	// PDFText returns the text of a PDF, pages divided by form feeds. The PDF is
	// anybody's: it must be read behind a wall. Default: PDFs are not read.
	PDFText func(ctx context.Context, pdf []byte) (string, error)
	// UserAgent is sent with each request; its first word, up to a slash, is the
	// name that robots.txt is read for. Default "Presswork".
	UserAgent string
	// Timeout bounds one request, from dialling to its last byte. Default 10 s.
	Timeout time.Duration
	// Log gets what pages are not told. Default: discard.
	Log *slog.Logger
}

// Browser makes sessions. They share what is known of sites: their robots.txt,
// and when they were last asked. It is safe for concurrent use.
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

// Available is nil where searches can be made. Errors: *inference.Error,
// ToolUnavailable, saying which setting is missing.
func (b *Browser) Available() error {
	if b.searcher == nil {
		return inference.Errorf(
			http.StatusBadRequest,
			inference.ToolUnavailable,
			"browser_search has no search engine: the operator can name one in SEARXNG_URL or SEARCH_URL",
		)
	}

	return nil
}

// Session begins the browsing of one request. It holds no resources but memory.
func (b *Browser) Session() *Session {
	return &Session{browser: b, pages: map[string]*page{}}
}

// Page is a page as a model reads it, undivided.
type Page struct {
	URL   string `json:"url"`
	Title string `json:"title"`
	Text  string `json:"text"`
	// Links are the addresses of the links, by the number in the text.
	Links []string `json:"links,omitempty"`
}

// CheckURL refuses the addresses that are none, or not allowed, as written. Errors:
// InvalidURL, AddressNotAllowed.
func (b *Browser) CheckURL(address string) error {
	_, err := b.fetcher.policy.CheckURL(whole(address))
	return err
}

// Read fetches one page. Errors: InvalidURL, AddressNotAllowed, PageUnreachable,
// PageError, ContentTooLarge, UnsupportedMediaType.
func (b *Browser) Read(ctx context.Context, address string) (Page, error) {
	p, err := b.fetcher.page(ctx, whole(address))
	if err != nil {
		return Page{}, err
	}

	return Page{p.url, p.title, strings.Join(p.lines, "\n"), p.links}, nil
}
