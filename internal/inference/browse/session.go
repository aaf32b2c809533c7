package browse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"presswork/internal/fault"
	"presswork/internal/inference"
)

const (
	defaultTop = 10
	maxTop     = 20
	maxQuery   = 400 // characters
	// maxViews and maxMemory bound the views of a request and the bytes of its pages.
	maxViews  = 200
	maxMemory = 16 << 20
)

// Session holds the views of one request, by cursor, and their pages. It is for one goroutine.
type Session struct {
	browser *Browser
	stack   []*page
	pages   map[string]*page // by the address asked for
	memory  int
}

// misuse is an error of a call by the model or of the web. Its text is for the model.
type misuse struct{ text string }

func (m misuse) Error() string { return m.text }

func misusef(format string, args ...any) error { return misuse{fmt.Sprintf(format, args...)} }

// Call runs browser_search, browser_open or browser_find. A failure of a page is reported in Output and Failed.
// The error is the cause of ctx.
func (s *Session) Call(ctx context.Context, c inference.BuiltinCall) (inference.ToolResult, error) {
	result, err := s.call(ctx, c)
	if err == nil {
		return result, nil
	}

	if ctx.Err() != nil {
		return inference.ToolResult{}, context.Cause(ctx)
	}

	return inference.ToolResult{Output: "Error: " + sentence(err), Failed: true}, nil
}

// sentence returns the public text of an error.
func sentence(err error) string {
	if m, ok := errors.AsType[misuse](err); ok {
		return m.text
	}

	return fault.AsError(err).Message
}

func (s *Session) call(ctx context.Context, c inference.BuiltinCall) (inference.ToolResult, error) {
	var a arguments
	if err := a.read(c.Arguments); err != nil {
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

	return inference.ToolResult{}, misusef("there is no function %s; there are %s, %s and %s", inline(c.Name, 80),
		inference.SearchFunction, inference.OpenFunction, inference.FindFunction)
}

// arguments holds the arguments of all functions. Models sometimes write numbers as text and text as numbers.
// Unknown members are ignored.
type arguments struct {
	Query, Pattern, ID         text
	Top, Cursor, Loc, NumLines *number
}

func (a *arguments) read(raw string) error {
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
		return misusef(
			"the arguments are no JSON object of the function's form: " +
				"text for query and pattern, a number or an address for id, whole numbers for topn, cursor, loc and " +
				"num_lines",
		)
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
		return errors.New("no whole number")
	}
	*n = number(f)

	return nil
}

func (n *number) or(fallback int) int {
	if n == nil || *n < 0 {
		return fallback
	}

	return int(*n)
}

func (s *Session) search(ctx context.Context, a arguments) (inference.ToolResult, error) {
	if err := s.browser.Available(); err != nil {
		return inference.ToolResult{}, err
	}

	query := inline(string(a.Query), maxQuery)
	if query == "" {
		return inference.ToolResult{}, misusef("query is missing: say what to search for")
	}
	top := min(max(a.Top.or(defaultTop), 1), maxTop)
	key := fmt.Sprintf("search %d %s", top, query)

	p := s.pages[key]
	if p == nil {
		found, err := s.browser.searcher.Search(ctx, query, top)
		if err != nil {
			return inference.ToolResult{}, err
		}
		p = results(query, presentable(found, top))
	}

	if err := s.keep(key, p); err != nil {
		return inference.ToolResult{}, err
	}
	result, err := s.show(p, 0, 0)
	result.Search = p.found

	return result, err
}

// bareAddress matches an address as users write it: example.com/page.
var bareAddress = regexp.MustCompile(`^[\pL\pN.-]+\.[\pL]{2,}(?::\d+)?(?:[/?#].*)?$`)

func (s *Session) open(ctx context.Context, a arguments) (inference.ToolResult, error) {
	loc, num := a.Loc.or(-1), a.NumLines.or(0)

	id, err := strconv.Atoi(string(a.ID))
	switch {
	case err != nil && a.ID != "":
		return s.visit(ctx, whole(string(a.ID)), loc, num)
	case a.ID == "" || id < 0: // scroll
		p, err := s.at(a.Cursor)
		if err != nil {
			return inference.ToolResult{}, err
		}

		return s.show(p, max(loc, 0), num)
	}

	p, err := s.at(a.Cursor)
	if err != nil {
		return inference.ToolResult{}, err
	}

	if id >= len(p.links) {
		return inference.ToolResult{}, misusef(
			"link %d is not on the page at cursor %d; it has %d links, from 0 on",
			id,
			s.cursor(a.Cursor),
			len(p.links),
		)
	}

	if loc < 0 && p.spots != nil {
		loc = max(p.spots[id]-matchLines, 0)
	}

	return s.visit(ctx, p.links[id], loc, num)
}

// whole returns an address with its scheme.
func whole(address string) string {
	if address = strings.TrimSpace(address); bareAddress.MatchString(address) {
		return "https://" + address
	}

	return address
}

// visit shows the page at an address.
func (s *Session) visit(ctx context.Context, address string, loc, num int) (inference.ToolResult, error) {
	p := s.pages[address]
	if p == nil {
		var err error
		if p, err = s.browser.fetcher.page(ctx, address); err != nil {
			return inference.ToolResult{}, err
		}
	}

	if err := s.keep(address, p); err != nil {
		return inference.ToolResult{}, err
	}

	return s.show(p, max(loc, 0), num)
}

func (s *Session) find(a arguments) (inference.ToolResult, error) {
	p, err := s.at(a.Cursor)
	if err != nil {
		return inference.ToolResult{}, err
	}

	if strings.TrimSpace(string(a.Pattern)) == "" {
		return inference.ToolResult{}, misusef("pattern is missing: say which text to find")
	}

	if p.derived {
		return inference.ToolResult{}, misusef(
			"text cannot be found in the results of a search or of find; open a page first",
		)
	}

	return s.show(p.find(string(a.Pattern)), 0, 0)
}

func (s *Session) cursor(c *number) int { return c.or(len(s.stack) - 1) }

// at returns the page of a cursor, or the last page.
func (s *Session) at(c *number) (*page, error) {
	i := s.cursor(c)
	switch {
	case len(s.stack) == 0:
		return nil, misusef("no page is open yet: search, or open an address")
	case i >= len(s.stack):
		return nil, misusef("cursor %d does not exist; there are 0 to %d", i, len(s.stack)-1)
	}

	return s.stack[i], nil
}

// keep stores a page for the rest of the request.
func (s *Session) keep(key string, p *page) error {
	if s.pages[key] != nil {
		return nil
	}

	if s.memory += p.size(); s.memory > maxMemory {
		return misusef("too much was opened for one request; answer with what was read")
	}

	s.pages[key] = p
	if p.url != "" && s.pages[p.url] == nil {
		s.pages[p.url] = p
	}

	return nil
}

// show puts a view on the stack.
func (s *Session) show(p *page, loc, num int) (inference.ToolResult, error) {
	if loc >= len(p.lines) {
		return inference.ToolResult{}, misusef(
			"line %d does not exist; the last line of the page is %d",
			loc,
			len(p.lines)-1,
		)
	}

	if len(s.stack) == maxViews {
		return inference.ToolResult{}, misusef(
			"no more than %d views are shown for one request; answer with what was read",
			maxViews,
		)
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

func domain(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}

	return u.Hostname()
}
