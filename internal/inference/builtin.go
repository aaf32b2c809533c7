package inference

import (
	"context"
	"errors"
	"time"
)

// ToolWait is how long a session of built-in tools waits for a worker. The wait is no part
// of Routing.ToolTimeout.
const ToolWait = time.Minute

// ErrToolsBusy is returned by ToolSession.Call if no worker has begun the session in time.
var ErrToolsBusy = errors.New("no worker was free to run the tool")

// The functions that built-in tools become for an upstream. A function of the
// caller's may not have such a name beside the tool.
const (
	// PythonFunction is CodeInterpreter's: {code}.
	PythonFunction = "python"
	// SearchFunction, OpenFunction and FindFunction are BrowserSearch's: {query,
	// topn}, {id, cursor, loc, num_lines} and {pattern, cursor}.
	SearchFunction = "browser_search"
	OpenFunction   = "browser_open"
	FindFunction   = "browser_find"
)

// Toolbox runs built-in tools. It is safe for concurrent use.
type Toolbox interface {
	// Open begins a session for one request and its built-in tools: types are
	// BrowserSearch, CodeInterpreter or both. It costs nothing until the first
	// call. Errors: *Error, ToolUnavailable with the reason where a tool cannot be
	// run here.
	Open(ctx context.Context, r *Request, types []string) (ToolSession, error)
}

// ToolSession holds the state of the built-in tools of one request: variables,
// files, pages. It is for one goroutine.
type ToolSession interface {
	// Call runs one call; the first one waits for a worker, at most ToolWait. Failures of the call are Output for
	// the model, for example a traceback, an unreachable page or invalid arguments. An error means that the
	// session is over: its worker died, none has begun it (ErrToolsBusy), or ctx ended.
	Call(ctx context.Context, c BuiltinCall) (ToolResult, error)
	// Close ends what still runs. It may be called twice.
	Close() error
}

// BuiltinCall is one call of a built-in function.
type BuiltinCall struct {
	// Name is one of the functions above, Arguments the JSON object as the model
	// wrote it.
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// ToolResult is what came of a call.
type ToolResult struct {
	// Output is what the model reads: at most 16 KB of UTF-8.
	Output string `json:"output"`
	// Failed reports that Output tells of a failure.
	Failed bool `json:"failed,omitempty"`
	// Search holds the results of a search, Pages what was opened, Code what code
	// showed.
	Search []SearchResult `json:"search,omitempty"`
	Pages  []PageResult   `json:"pages,omitempty"`
	Code   []CodeResult   `json:"code,omitempty"`
	// Took is how long the call ran, without the wait for a worker.
	Took time.Duration `json:"-"`
	// Origins say where what Output shows is from, for Citations.
	Origins []Origin `json:"origins,omitempty"`
}

// SearchResult is one hit of a search.
type SearchResult struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Content string `json:"content"`
	// Score is the search engine's, greater is better; 0 where it gives none.
	Score float64 `json:"score"`
}

// PageResult is a page that was opened; Content is the part that was shown.
type PageResult struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Content string `json:"content,omitempty"`
}

// CodeResult is one thing code showed: the value of the last expression, or a
// picture as PNG in base64.
type CodeResult struct {
	Text string `json:"text,omitempty"`
	PNG  string `json:"png,omitempty"`
}
