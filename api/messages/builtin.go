package messages

import (
	"encoding/json"
	"strconv"

	"presswork/internal/inference"
)

// The parts of the results of server tools.
type (
	toolResult struct {
		Type string `json:"type"`
		ID   string `json:"tool_use_id"`
		// Content is an object, or a list of the pages that a search found.
		Content any `json:"content"`
	}
	// toolFailure takes the place of the content when the call failed.
	toolFailure struct {
		Type string `json:"type"`
		// Code is "unavailable": no upstream error is passed on.
		Code string `json:"error_code"`
	}
	foundPage struct {
		Type  string `json:"type"`
		URL   string `json:"url"`
		Title string `json:"title"`
		// Content is empty: the text of the page is in the answer.
		Content string  `json:"encrypted_content"`
		Age     *string `json:"page_age"`
	}
	fetchedPage struct {
		Type      string   `json:"type"`
		URL       string   `json:"url"`
		Content   document `json:"content"`
		Retrieved *string  `json:"retrieved_at"`
	}
	document struct {
		Type   string         `json:"type"`
		Source documentSource `json:"source"`
		Title  string         `json:"title"`
	}
	documentSource struct {
		Type  string `json:"type"`
		Media string `json:"media_type"`
		Data  string `json:"data"`
	}
	codeResult struct {
		Type       string     `json:"type"`
		Stdout     string     `json:"stdout"`
		Stderr     string     `json:"stderr"`
		ReturnCode int        `json:"return_code"`
		Content    []struct{} `json:"content"`
	}
)

// addExecuted adds a call of a built-in tool or of an MCP server, and its result. A search within a page has no form
// here and is left out.
func (w *Writer) addExecuted(e *inference.ExecutedTool) {
	if e.Server != "" {
		w.addServerTool(e)
		return
	}

	switch e.Name {
	case inference.SearchFunction:
		w.searches++
		w.addServerCall(e, "web_search", e.Arguments, foundBy(e))
	case inference.OpenFunction:
		w.fetches++
		in, page := map[string]string{"url": ""}, fetchedBy(e)

		if len(e.Pages) > 0 {
			in["url"] = e.Pages[0].URL
		}
		b, _ := json.Marshal(in) // a map of strings
		w.addServerCall(e, "web_fetch", string(b), page)
	case inference.PythonFunction:
		w.addServerCall(e, "code_execution", e.Arguments, printedBy(e))
	}
}

// addServerCall adds the blocks of a call and its result.
func (w *Writer) addServerCall(e *inference.ExecutedTool, name, input string, content any) {
	call := w.newBlock(serverCall)
	call.id, call.name, call.text = "srvtoolu_"+w.id+strconv.Itoa(e.Index), name, []byte(input)

	kind := name + "_tool_result"
	if content == nil {
		content = toolFailure{kind + "_error", "unavailable"}
	}
	b, _ := json.Marshal(toolResult{kind, call.id, content}) // structs of strings

	result := w.newBlock(kind)
	result.whole, result.done = oneLine(b), true
}

// foundBy returns the pages that a search found, nil if it failed.
func foundBy(e *inference.ExecutedTool) any {
	if e.Failed {
		return nil
	}

	pages := make([]foundPage, len(e.Search))
	for i, p := range e.Search {
		pages[i] = foundPage{Type: "web_search_result", URL: p.URL, Title: p.Title}
	}

	return pages
}

// fetchedBy returns the page that a call opened, nil if it failed.
func fetchedBy(e *inference.ExecutedTool) any {
	if e.Failed || len(e.Pages) == 0 {
		return nil
	}
	p := e.Pages[0]

	return fetchedPage{Type: "web_fetch_result", URL: p.URL, Content: document{
		Type: documentBlock, Title: p.Title, Source: documentSource{textBlock, "text/plain", e.Output},
	}}
}

// printedBy returns what a program printed.
func printedBy(e *inference.ExecutedTool) any {
	r := codeResult{Type: "code_execution_result", Stdout: e.Output, Content: []struct{}{}}
	if e.Failed {
		r.Stdout, r.Stderr, r.ReturnCode = "", e.Output, 1
	}

	return r
}
