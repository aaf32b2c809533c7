package inference

import (
	"context"
	"errors"
	"time"
)

// ToolWait bounds the wait of a session for a worker. Routing.ToolTimeout does not include it.
const ToolWait = time.Minute

// ErrToolsBusy is returned by ToolSession.Call if no worker has begun the session in time.
var ErrToolsBusy = errors.New("no worker was free to run the tool")

// Names of the functions that an upstream sees in place of built-in tools. A request with such a tool cannot define a
// function with one of its names.
const (
	// PythonFunction is the function of CodeInterpreter. Its argument is {code}.
	PythonFunction = "python"
	// SearchFunction, OpenFunction and FindFunction are the functions of BrowserSearch. Their arguments are {query,
	// topn}, {id, cursor, loc, num_lines} and {pattern, cursor}.
	SearchFunction = "browser_search"
	OpenFunction   = "browser_open"
	FindFunction   = "browser_find"
)

// Toolbox runs built-in tools. It is safe for concurrent use.
type Toolbox interface {
	// Open begins a session for one request and its built-in tools: BrowserSearch, CodeInterpreter or both. It
	// uses no resources until the first call. Errors: *Error, ToolUnavailable with the reason.
	Open(ctx context.Context, r *Request, types []string) (ToolSession, error)
}

// ToolSession holds the state of the built-in tools of one request: variables, files, pages. It is not safe for
// concurrent use.
type ToolSession interface {
	// Call runs one call; the first one waits for a worker, at most ToolWait. Failures of the call are Output for the
	// model, for example a traceback, an unreachable page or invalid arguments. An error means that the session is
	// over: its worker died, no worker began it in time (ErrToolsBusy), or ctx ended.
	Call(ctx context.Context, c BuiltinCall) (ToolResult, error)
	// Close ends running calls. It may be called twice.
	Close() error
}

// BuiltinCall is one call of a built-in function.
type BuiltinCall struct {
	// Name is one of the functions above. Arguments is the JSON object as the model wrote it, so it may be malformed.
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// ToolResult is the result of a call.
type ToolResult struct {
	// Output is the text for the model: at most 16 KB of UTF-8.
	Output string `json:"output"`
	// Failed means that Output describes a failure of the call.
	Failed bool `json:"failed,omitempty"`
	// Search holds the results of a search, Pages the opened pages, Code the output of code.
	Search []SearchResult `json:"search,omitempty"`
	Pages  []PageResult   `json:"pages,omitempty"`
	Code   []CodeResult   `json:"code,omitempty"`
	// Images are pictures for the model, as data URIs.
	Images []string `json:"images,omitempty"`
	// Broken means that the server or the connection failed, not the tool.
	Broken bool `json:"broken,omitempty"`
	// Took is the time of the call, without the wait for a worker.
	Took time.Duration `json:"-"`
	// Origins are the sources of the lines in Output, for Citations.
	Origins []Origin `json:"origins,omitempty"`
}

// SearchResult is one hit of a search.
type SearchResult struct {
	Title string `json:"title"`
	URL   string `json:"url"`
	// Content is a passage of the page, or its description.
	Content string `json:"content"`
	// Score is that of the search engine, greater is better; 0 if it has none.
	Score float64 `json:"score"`
}

// PageResult is an opened page. Content is the shown part.
type PageResult struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Content string `json:"content,omitempty"`
}

// CodeResult is one output of code: the value of its last expression in Text, or a picture in PNG, in base64.
type CodeResult struct {
	Text string `json:"text,omitempty"`
	PNG  string `json:"png,omitempty"`
}
