package browse

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html"

	"presswork/internal/fault"
	"presswork/internal/guard"
	"presswork/internal/inference"
)

// Searcher is a search engine.
type Searcher interface {
	// Search returns results for a query, the best first. They are untrusted, and the caller drops those after top.
	// Errors: *fault.Error, whose message is shown to the model.
	Search(ctx context.Context, query string, top int) ([]inference.SearchResult, error)
}

// SearchOptions selects a search engine.
type SearchOptions struct {
	// SearXNG is the address of an instance. Default: none.
	SearXNG string
	// URL is the address of an engine that responds with JSON if it contains {query}, otherwise that of an
	// OpenSearch description. Default: none.
	URL string
	// Fields maps the fields of a JSON response as NAME=PATH. results is a path to the list, such as
	// "web.results"; title, url, content and score are fields of each result. Default: the same names.
	Fields []string
	// Header is sent to URL, "Name: value", for example with a key of the service.
	Header string
	// Policy applies when the OpenSearch description of one server leads to another. The addresses above are the
	// operator's own and are always allowed.
	Policy *guard.Policy
	// UserAgent is sent with each request. Default "Presswork".
	UserAgent string
}

const (
	searchTimeout = 10 * time.Second
	maxAnswer     = 4 << 20 // bytes of an engine's answer
)

// NewSearcher returns the search engine of the options, or nil if there is none. The error names the invalid
// option.
func NewSearcher(o SearchOptions) (Searcher, error) {
	engine := engine{header: http.Header{"User-Agent": {cmp.Or(o.UserAgent, "Presswork")}}, client: operatorClient()}
	switch {
	case o.SearXNG != "" && o.URL != "":
		return nil, errors.New("SEARXNG_URL and SEARCH_URL: set one of them")
	case o.SearXNG != "":
		base, err := parseAddress(o.SearXNG)
		if err != nil {
			return nil, fmt.Errorf("SEARXNG_URL: %w", err)
		}

		return &searxng{engine, base.JoinPath("search")}, nil
	case o.URL == "":
		return nil, nil
	}

	if _, err := parseAddress(strings.ReplaceAll(o.URL, "{query}", "q")); err != nil {
		return nil, fmt.Errorf("SEARCH_URL: %w", err)
	}

	if o.Header != "" {
		name, value, found := strings.Cut(o.Header, ":")
		if !found || strings.TrimSpace(name) == "" {
			return nil, errors.New("SEARCH_HEADER: write Name: value")
		}
		engine.header.Set(strings.TrimSpace(name), strings.TrimSpace(value))
	}

	fields, err := readFields(o.Fields)
	if err != nil {
		return nil, fmt.Errorf("SEARCH_FIELDS: %w", err)
	}

	if strings.Contains(o.URL, "{query}") {
		return &jsonEngine{engine, o.URL, fields}, nil
	}

	return &openSearch{
		engine:         engine,
		descriptionURL: o.URL,
		fields:         fields,
		policy:         o.Policy,
		lock:           make(chan struct{}, 1),
	}, nil
}

// operatorClient returns a client for the operator's own search engine. It uses no guard, because the engine may be
// on a private address. It does not follow redirects, because they could lead anywhere.
func operatorClient() *http.Client {
	return &http.Client{
		Timeout:       searchTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			MaxIdleConnsPerHost:    8,
			IdleConnTimeout:        30 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
			ForceAttemptHTTP2:      true,
		},
	}
}

// parseAddress parses an http or https address. It does not allow others.
func parseAddress(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("allowed: an http or https address")
	}

	return u, nil
}

// engine holds what all search engines need: a client and the headers of each request.
type engine struct {
	client *http.Client
	header http.Header
}

// get returns the body of a response of status 200. For another status it returns the status and an error; status is
// 0 if there is no response. Errors: AddressNotAllowed, PageUnreachable, PageError.
func (e engine) get(ctx context.Context, address string) (body []byte, status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, 0, fault.Errorf(fault.PageUnreachable, "the search engine's address is not a valid URL").
			WithCause(err)
	}
	req.Header = e.header.Clone()

	resp, err := e.client.Do(req)
	if fault.CodeOf(err) == fault.AddressNotAllowed {
		return nil, 0, fault.AsError(err)
	}

	if err != nil {
		return nil, 0, fault.Errorf(fault.PageUnreachable, "the search engine does not answer").WithCause(err)
	}

	defer resp.Body.Close()

	body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, 0, fault.Errorf(fault.PageUnreachable, "the search engine's answer ended early").WithCause(err)
	case len(body) > maxAnswer:
		return nil, 0, fault.Errorf(fault.PageError, "the search engine answered with more than %d MB", maxAnswer>>20)
	case resp.StatusCode == http.StatusTooManyRequests:
		return nil, resp.StatusCode, fault.Errorf(fault.PageError,
			"the search engine is asked too often; try again later, or open a page whose address is known")
	case resp.StatusCode != http.StatusOK:
		return nil, resp.StatusCode, fault.Errorf(fault.PageError, "the search engine answered %d", resp.StatusCode)
	}

	return body, resp.StatusCode, nil
}

// searxng is a SearXNG instance (https://docs.searxng.org/dev/search_api.html).
type searxng struct {
	engine
	address *url.URL
}

// Search implements Searcher.
func (s *searxng) Search(ctx context.Context, query string, _ int) ([]inference.SearchResult, error) {
	u := *s.address
	u.RawQuery = url.Values{"q": {query}, "format": {"json"}}.Encode()

	body, status, err := s.get(ctx, u.String())
	if status == http.StatusForbidden {
		return nil, fault.Errorf(fault.PageError,
			"the search engine refuses to answer in JSON: "+
				"the operator can add json to search.formats in SearXNG's settings.yml")
	}

	if err != nil {
		return nil, err
	}

	return defaultFields().readResults(body)
}

// jsonEngine is an engine that responds with JSON.
type jsonEngine struct {
	engine
	template string // with {query}
	fields   fields
}

// Search implements Searcher.
func (j *jsonEngine) Search(ctx context.Context, query string, _ int) ([]inference.SearchResult, error) {
	body, _, err := j.get(ctx, strings.ReplaceAll(j.template, "{query}", url.QueryEscape(query)))
	if err != nil {
		return nil, err
	}

	return j.fields.readResults(body)
}

// fields are paths into a JSON response. All but results begin at a result.
type fields struct{ results, title, url, content, score []string }

// defaultFields returns the fields of SearXNG, which are also the defaults of SearchOptions.Fields.
func defaultFields() fields {
	return fields{[]string{"results"}, []string{"title"}, []string{"url"}, []string{"content"}, []string{"score"}}
}

// readFields parses entries NAME=PATH; see SearchOptions.Fields.
func readFields(list []string) (fields, error) {
	f := defaultFields()
	into := map[string]*[]string{
		"results": &f.results,
		"title":   &f.title,
		"url":     &f.url,
		"content": &f.content,
		"score":   &f.score,
	}

	for _, entry := range list {
		name, path, found := strings.Cut(entry, "=")

		field := into[strings.TrimSpace(name)]
		if !found || field == nil {
			return f, fmt.Errorf(
				"%q: allowed are results, title, url, content and score, each with = and a path such as web.results",
				entry)
		}

		*field = nil
		if path = strings.TrimSpace(path); path != "" {
			*field = strings.Split(path, ".")
		}
	}

	return f, nil
}

// readResults returns the results in a response.
func (f fields) readResults(body []byte) ([]inference.SearchResult, error) {
	var answer any
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fault.Errorf(fault.PageError, "the search engine's answer is not JSON").WithCause(err)
	}

	list, ok := valueAt(answer, f.results).([]any)
	if !ok {
		return nil, fault.Errorf(fault.PageError,
			"the search engine's answer has no list at %q; the operator can say where it is in SEARCH_FIELDS",
			strings.Join(f.results, "."))
	}

	found := make([]inference.SearchResult, 0, len(list))
	for _, item := range list {
		score, _ := valueAt(item, f.score).(float64)
		found = append(found, inference.SearchResult{
			Title:   stringOf(valueAt(item, f.title)),
			URL:     stringOf(valueAt(item, f.url)),
			Content: stringOf(valueAt(item, f.content)),
			Score:   score,
		})
	}

	return found, nil
}

// valueAt returns the value at a path of names and indices, or nil if there is none.
func valueAt(value any, path []string) any {
	for _, step := range path {
		switch v := value.(type) {
		case map[string]any:
			value = v[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}

	return value
}

// stringOf returns a JSON string, or "" for another value.
func stringOf(value any) string {
	s, _ := value.(string)
	return s
}

// cleanResults returns the results that a model sees: at most top, each with a web address and text without markup.
func cleanResults(found []inference.SearchResult, top int) []inference.SearchResult {
	shown := make([]inference.SearchResult, 0, min(top, len(found)))
	for _, r := range found {
		if len(shown) == top {
			break
		}

		if _, err := parseAddress(r.URL); err != nil || len(r.URL) > maxHref {
			continue
		}
		r.Title, r.Content = inline(stripTags(r.Title), maxTitle), inline(stripTags(r.Content), 2*snippet)
		r.Title = cmp.Or(r.Title, domain(r.URL))
		shown = append(shown, r)
	}

	return shown
}

// stripTags returns the text without the tags that engines put around matches. It reads at most 64 KiB, because the
// caller keeps a few hundred characters.
func stripTags(s string) string {
	if len(s) > 64<<10 {
		s = s[:64<<10]
	}

	if !strings.ContainsAny(s, "<&") {
		return s
	}
	var b strings.Builder

	for z := html.NewTokenizer(strings.NewReader(s)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return b.String()
		case html.TextToken:
			b.Write(z.Text())
		default:
		}
	}
}
