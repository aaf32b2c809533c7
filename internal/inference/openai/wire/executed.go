package wire

import (
	"bytes"
	"encoding/json"

	"presswork/internal/inference"
)

// executedTool is a call of a built-in tool or of an MCP server (Groq: executed_tools).
type executedTool struct {
	Name           string          `json:"name"`
	Index          int             `json:"index"`
	Type           string          `json:"type"`
	ServerLabel    string          `json:"server_label,omitempty"`
	Arguments      string          `json:"arguments"`
	Output         string          `json:"output"`
	SearchResults  *searchResults  `json:"search_results,omitempty"`
	CodeResults    []codeResult    `json:"code_results,omitempty"`
	BrowserResults []browserResult `json:"browser_results,omitempty"`
}

// searchResults are what a search has found.
type searchResults struct {
	Results []inference.SearchResult `json:"results"`
}

// codeResult is something that the code printed or drew.
type codeResult struct {
	Text string `json:"text,omitempty"`
	PNG  string `json:"png,omitempty"`
}

// browserResult is a page that the model has read.
type browserResult struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Content string `json:"content,omitempty"`
}

// executedNames maps our functions to their names in gpt-oss, which clients expect.
var executedNames = map[string]string{
	inference.PythonFunction: "python", inference.SearchFunction: "browser.search",
	inference.OpenFunction: "browser.open", inference.FindFunction: "browser.find",
}

// appendExecuted appends the field executed_tools.
func appendExecuted(dst []byte, list []inference.ExecutedTool) []byte {
	out := make([]executedTool, len(list))
	for i, e := range list {
		out[i] = executedTool{
			Name:      executedNames[e.Name],
			Index:     e.Index,
			Type:      inference.FunctionTool,
			Arguments: e.Arguments,
			Output:    e.Output,
		}
		if e.Server != "" {
			out[i].Name, out[i].Type, out[i].ServerLabel = e.Name, inference.MCPTool, e.Server
		}

		if len(e.Search) > 0 {
			out[i].SearchResults = &searchResults{e.Search}
		}

		for _, c := range e.Code {
			out[i].CodeResults = append(out[i].CodeResults, codeResult(c))
		}

		for _, p := range e.Pages {
			out[i].BrowserResults = append(out[i].BrowserResults, browserResult{p.Title, p.URL, p.Content})
		}
	}
	b, _ := json.Marshal(out) // structs of strings and numbers
	// Some clients end a line at U+0085. Marshal escapes only the other line separators.
	b = bytes.ReplaceAll(b, []byte("\u0085"), []byte(`\u0085`))

	return append(append(dst, `"executed_tools":`...), b...)
}
