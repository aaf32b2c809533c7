package browse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/lazyregexp"
)

const (
	// defaultTop and maxTop are the default and the maximum of the argument topn: results of a search.
	defaultTop = 10
	maxTop     = 20
	maxQuery   = 400 // characters
	// maxViews and maxMemory bound the views of a request and the bytes of its pages.
	maxViews  = 200
	maxMemory = 16 << 20
)

// Session holds the views of one request and their pages. It is not safe for concurrent use.
type Session struct {
	browser *Browser
	stack   []*page          // a cursor is an index
	pages   map[string]*page // by requested and final address; searches by their key
	memory  int              // bytes of pages
}

// callError is a mistake in a call by the model. Its text is shown to the model.
type callError struct{ text string }

// Error implements error.
func (e callError) Error() string { return e.text }

// callErrorf returns a callError with a formatted text.
func callErrorf(format string, args ...any) error { return callError{fmt.Sprintf(format, args...)} }

// Call runs browser_search, browser_open or browser_find. A failure of a page is reported in Output and Failed.
// The error is the cause of ctx.
func (s *Session) Call(ctx context.Context, c inference.BuiltinCall) (inference.ToolResult, error) {
	result, err := s.dispatch(ctx, c)
	if err == nil {
		return result, nil
	}

	if ctx.Err() != nil {
		return inference.ToolResult{}, context.Cause(ctx)
	}

	return inference.ToolResult{Output: "Error: " + publicText(err), Failed: true}, nil
}

// publicText returns the text of an error that the model may see.
func publicText(err error) string {
	if m, ok := errors.AsType[callError](err); ok {
		return m.text
	}

	return fault.AsError(err).Message
}

// dispatch runs the function of a call. Errors: callError, *fault.Error, *inference.Error or the cause of ctx.
func (s *Session) dispatch(ctx context.Context, c inference.BuiltinCall) (inference.ToolResult, error) {
	var a arguments
	if err := a.parse(c.Arguments); err != nil {
		return inference.ToolResult{}, err
	}

	switch c.Name {
	case inference.SearchFunction:
		return s.search(ctx, a)
	case inference.OpenFunction:
		return s.open(ctx, a)
	case inference.FindFunction:
		return s.find(a)
	}

	return inference.ToolResult{}, callErrorf("there is no function %s; there are %s, %s and %s", inline(c.Name, 80),
		inference.SearchFunction, inference.OpenFunction, inference.FindFunction)
}

// arguments holds the arguments of all functions. Models sometimes write numbers as text and text as numbers.
// Unknown members are ignored.
type arguments struct {
	Query, Pattern, ID         text
	Top, Cursor, Loc, NumLines *number
}

// parse reads the arguments of a call. Errors: callError.
func (a *arguments) parse(raw string) error {
	var members struct {
		Query    text    `json:"query"`
		Pattern  text    `json:"pattern"`
		ID       text    `json:"id"`
		URL      text    `json:"url"`
		Top      *number `json:"topn"`
		Cursor   *number `json:"cursor"`
		Loc      *number `json:"loc"`
		NumLines *number `json:"num_lines"`
	}

	if strings.TrimSpace(raw) == "" {
		raw = "{}"
	}

	if err := json.Unmarshal([]byte(raw), &members); err != nil {
		return callErrorf("the arguments are not a JSON object of the function's form: " +
			"text for query and pattern, a number or an address for id, whole numbers for topn, cursor, loc and " +
			"num_lines")
	}

	if members.ID == "" {
		members.ID = members.URL
	}
	*a = arguments{
		members.Query,
		members.Pattern,
		members.ID,
		members.Top,
		members.Cursor,
		members.Loc,
		members.NumLines,
	}

	return nil
}

// text is a JSON string, or a number as it is written.
type text string

// UnmarshalJSON implements json.Unmarshaler.
func (t *text) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}

	if b[0] != '"' {
		var n number
		err := n.UnmarshalJSON(b)
		*t = text(strconv.Itoa(int(n)))

		return err
	}

	return json.Unmarshal(b, (*string)(t))
}

// number is a whole JSON number, or a string of one.
type number int

// UnmarshalJSON implements json.Unmarshaler.
func (n *number) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(b), `" `), 64)
	if err != nil || f != float64(int32(f)) {
		return errors.New("not a whole number")
	}
	*n = number(f)

	return nil
}

// or returns the number, or fallback if it is absent or negative.
func (n *number) or(fallback int) int {
	if n == nil || *n < 0 {
		return fallback
	}

	return int(*n)
}

// search shows the results of a query. It makes each search once in a session.
func (s *Session) search(ctx context.Context, a arguments) (inference.ToolResult, error) {
	if err := s.browser.Available(); err != nil {
		return inference.ToolResult{}, err
	}

	query := inline(string(a.Query), maxQuery)
	if query == "" {
		return inference.ToolResult{}, callErrorf("query is missing: say what to search for")
	}
	top := min(max(a.Top.or(defaultTop), 1), maxTop)
	key := fmt.Sprintf("search %d %s", top, query)

	p := s.pages[key]
	if p == nil {
		found, err := s.browser.searcher.Search(ctx, query, top)
		if err != nil {
			return inference.ToolResult{}, err
		}
		p = results(query, cleanResults(found, top))
	}

	if err := s.storePage(key, p); err != nil {
		return inference.ToolResult{}, err
	}
	result, err := s.show(p, 0, 0)
	result.Search = p.found

	return result, err
}

// bareAddress matches an address as users write it: example.com/page.
var bareAddress = lazyregexp.New(`^[\pL\pN.-]+\.[\pL]{2,}(?::\d+)?(?:[/?#].*)?$`)

// open follows a link, visits an address or scrolls, depending on id: a number, an address or nothing.
func (s *Session) open(ctx context.Context, a arguments) (inference.ToolResult, error) {
	loc, num := a.Loc.or(-1), a.NumLines.or(0)

	id, err := strconv.Atoi(string(a.ID))
	switch {
	case err != nil && a.ID != "":
		return s.visit(ctx, withScheme(string(a.ID)), loc, num)
	case a.ID == "" || id < 0: // scroll
		p, err := s.pageAt(a.Cursor)
		if err != nil {
			return inference.ToolResult{}, err
		}

		return s.show(p, max(loc, 0), num)
	}

	p, err := s.pageAt(a.Cursor)
	if err != nil {
		return inference.ToolResult{}, err
	}

	if id >= len(p.links) {
		return inference.ToolResult{}, callErrorf("link %d is not on the page at cursor %d; it has %d links, from 0 on",
			id, s.cursor(a.Cursor), len(p.links))
	}

	// The link of a match leads to the lines around the match.
	if loc < 0 && p.linkLines != nil {
		loc = max(p.linkLines[id]-linesPerMatch, 0)
	}

	return s.visit(ctx, p.links[id], loc, num)
}

// withScheme adds https:// to an address that a model wrote without a scheme.
func withScheme(address string) string {
	if address = strings.TrimSpace(address); bareAddress().MatchString(address) {
		return "https://" + address
	}

	return address
}

// visit shows the page at an address.
func (s *Session) visit(ctx context.Context, address string, loc, num int) (inference.ToolResult, error) {
	p := s.pages[address]
	if p == nil {
		var err error
		if p, err = s.browser.fetcher.fetchPage(ctx, address); err != nil {
			return inference.ToolResult{}, err
		}
	}

	if err := s.storePage(address, p); err != nil {
		return inference.ToolResult{}, err
	}

	return s.show(p, max(loc, 0), num)
}

// find shows the occurrences of a text on a page.
func (s *Session) find(a arguments) (inference.ToolResult, error) {
	p, err := s.pageAt(a.Cursor)
	if err != nil {
		return inference.ToolResult{}, err
	}

	if strings.TrimSpace(string(a.Pattern)) == "" {
		return inference.ToolResult{}, callErrorf("pattern is missing: say which text to find")
	}

	if p.derived {
		return inference.ToolResult{}, callErrorf(
			"find does not work on the results of search or find; open a page first")
	}

	return s.show(p.find(string(a.Pattern)), 0, 0)
}

// cursor returns the cursor of a call, which is the last view by default.
func (s *Session) cursor(c *number) int { return c.or(len(s.stack) - 1) }

// pageAt returns the page of a cursor; without a cursor, the page shown last.
func (s *Session) pageAt(c *number) (*page, error) {
	i := s.cursor(c)
	switch {
	case len(s.stack) == 0:
		return nil, callErrorf("no page is open yet: search, or open an address")
	case i >= len(s.stack):
		return nil, callErrorf("cursor %d does not exist; there are 0 to %d", i, len(s.stack)-1)
	}

	return s.stack[i], nil
}

// storePage keeps a page for the rest of the request, under key and under its own address.
func (s *Session) storePage(key string, p *page) error {
	if s.pages[key] != nil {
		return nil
	}

	if s.memory += p.size(); s.memory > maxMemory {
		return callErrorf("the pages opened for this request exceed %d MiB; answer with what was read", maxMemory>>20)
	}

	s.pages[key] = p
	if p.url != "" && s.pages[p.url] == nil {
		s.pages[p.url] = p
	}

	return nil
}

// show adds a view of the page to the stack and returns it. loc is its first line, num the number of lines; see
// page.view.
func (s *Session) show(p *page, loc, num int) (inference.ToolResult, error) {
	if loc >= len(p.lines) {
		return inference.ToolResult{}, callErrorf("line %d does not exist; the last line of the page is %d",
			loc, len(p.lines)-1)
	}

	if len(s.stack) == maxViews {
		return inference.ToolResult{}, callErrorf(
			"no more than %d views are shown for one request; answer with what was read", maxViews)
	}
	cursor := len(s.stack)
	s.stack = append(s.stack, p)
	text, last := p.view(cursor, loc, num)

	result := inference.ToolResult{Output: text}
	if p.url != "" {
		result.Pages = []inference.PageResult{
			{Title: p.title, URL: p.url, Content: strings.Join(p.lines[loc:last+1], "\n")},
		}
		result.Origins = []inference.Origin{
			{Cursor: cursor, First: 0, Last: len(p.lines) - 1, URL: p.url, Title: p.title},
		}
	}

	for _, o := range p.origins {
		o.Cursor = cursor
		result.Origins = append(result.Origins, o)
	}

	return result, nil
}

// domain returns the host of an address without its port, or "" for an invalid one.
func domain(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}

	return u.Hostname()
}
