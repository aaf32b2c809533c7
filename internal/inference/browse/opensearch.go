package browse

import (
	"context"
	"encoding/xml"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"presswork/internal/fault"
	"presswork/internal/guard"
	"presswork/internal/inference"
	"presswork/internal/lazyregexp"
)

// openSearch is a search engine with a description (OpenSearch 1.1, https://github.com/dewitt/opensearch). Its
// responses are RSS, Atom or JSON.
type openSearch struct {
	engine
	// descriptionURL is the address of the description.
	descriptionURL string
	fields         fields
	policy         *guard.Policy
	// lock guards described. It is a channel, because a wait for it must end with the context.
	lock chan struct{}
	// described is nil until describe has read the description.
	described *searchDescription
}

// searchDescription is what a search needs from a description.
type searchDescription struct {
	template string
	kind     string
	engine   engine
}

// openSearchKinds are the supported types of responses, the best first.
var openSearchKinds = []string{"application/rss+xml", "application/atom+xml", "application/json"}

// Search implements Searcher.
func (o *openSearch) Search(ctx context.Context, query string, top int) ([]inference.SearchResult, error) {
	d, err := o.describe(ctx)
	if err != nil {
		return nil, err
	}

	body, _, err := d.engine.get(ctx, fillIn(d.template, query, top))
	if err != nil {
		return nil, err
	}

	if d.kind == "application/json" {
		return o.fields.readResults(body)
	}

	return readFeed(body)
}

// describe returns the description. It reads it at the first call, and again after a failure.
func (o *openSearch) describe(ctx context.Context) (*searchDescription, error) {
	select {
	case o.lock <- struct{}{}:
		defer func() { <-o.lock }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}

	if o.described != nil {
		return o.described, nil
	}

	body, _, err := o.get(ctx, o.descriptionURL)
	if err != nil {
		return nil, err
	}

	var description struct {
		URLs []struct {
			Type     string `xml:"type,attr"`
			Template string `xml:"template,attr"`
			Rel      string `xml:"rel,attr"`
			Method   string `xml:"method,attr"`
		} `xml:"Url"`
	}
	if err := xml.Unmarshal(body, &description); err != nil {
		return nil, fault.Errorf(fault.PageError,
			"SEARCH_URL has no {query} and does not lead to an OpenSearch description").WithCause(err)
	}

	for _, kind := range openSearchKinds {
		for _, u := range description.URLs {
			forResults := u.Rel == "" || slices.Contains(strings.Fields(u.Rel), "results")

			byGet := u.Method == "" || strings.EqualFold(u.Method, http.MethodGet)
			if u.Type != kind || !forResults || !byGet {
				continue
			}

			engine, err := o.engineFor(u.Template)
			if err != nil {
				return nil, err
			}
			o.described = &searchDescription{u.Template, kind, engine}

			return o.described, nil
		}
	}

	return nil, fault.Errorf(fault.PageError,
		"the search engine's OpenSearch description offers none of %s", strings.Join(openSearchKinds, ", "))
}

// engineFor returns a client for the server of a template. If it is the server of the description, the client has
// the operator's access. For any other server it obeys Policy and does not send SEARCH_HEADER.
func (o *openSearch) engineFor(template string) (engine, error) {
	target, err := parseAddress(fillIn(template, "q", 1))
	if err != nil {
		return engine{}, fault.Errorf(fault.PageError,
			"the search engine's OpenSearch description has an invalid address").WithCause(err)
	}

	if own, err := parseAddress(o.descriptionURL); err == nil && origin(own) == origin(target) {
		return o.engine, nil
	}

	if _, err := o.policy.CheckURL(target.String()); err != nil {
		return engine{}, err
	}

	return engine{
		o.policy.Client(guard.ClientOptions{Timeout: searchTimeout}),
		http.Header{"User-Agent": o.header["User-Agent"]},
	}, nil
}

// templateParameter matches a parameter of an OpenSearch URL template, such as {searchTerms}.
var templateParameter = lazyregexp.New(`\{([\w:]+)\??\}`)

// fillIn fills in a template's parameters. Parameters that it does not know become empty.
func fillIn(template, query string, top int) string {
	return templateParameter().ReplaceAllStringFunc(template, func(parameter string) string {
		switch strings.Trim(parameter, "{}?") {
		case "searchTerms":
			return url.QueryEscape(query)
		case "count":
			return strconv.Itoa(top)
		case "startIndex", "startPage":
			return "1"
		case "language":
			return "*"
		case "inputEncoding", "outputEncoding":
			return "UTF-8"
		}

		return ""
	})
}

// readFeed reads results from RSS or Atom.
func readFeed(body []byte) ([]inference.SearchResult, error) {
	var feed struct {
		Items []struct {
			Title       string `xml:"title"`
			Link        string `xml:"link"`
			Description string `xml:"description"`
		} `xml:"channel>item"`
		Entries []struct {
			Title string `xml:"title"`
			Links []struct {
				Rel  string `xml:"rel,attr"`
				Href string `xml:"href,attr"`
			} `xml:"link"`
			Summary string `xml:"summary"`
			Content string `xml:"content"`
		} `xml:"entry"`
	}
	if err := xml.Unmarshal(body, &feed); err != nil {
		return nil, fault.Errorf(fault.PageError, "the search engine's answer is neither RSS nor Atom").WithCause(err)
	}

	var found []inference.SearchResult
	for _, i := range feed.Items {
		found = append(
			found,
			inference.SearchResult{Title: i.Title, URL: strings.TrimSpace(i.Link), Content: i.Description},
		)
	}

	for _, e := range feed.Entries {
		r := inference.SearchResult{Title: e.Title, Content: e.Summary}
		if r.Content == "" {
			r.Content = e.Content
		}

		for _, l := range e.Links {
			// The alternate link leads to the page itself; others may lead to its comments or to the feed.
			if r.URL == "" || l.Rel == "alternate" {
				r.URL = l.Href
			}
		}
		found = append(found, r)
	}

	return found, nil
}
