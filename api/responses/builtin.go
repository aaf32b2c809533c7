package responses

import (
	"encoding/json"

	"presswork/internal/inference"
)

// searchAction is what a call of browser_search did.
type searchAction struct {
	Type    string         `json:"type"`
	Query   *string        `json:"query,omitempty"`
	URL     *string        `json:"url,omitempty"`
	Pattern *string        `json:"pattern,omitempty"`
	Sources []searchSource `json:"sources,omitempty"`
}

// searchSource is a page that a search has found.
type searchSource struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

// searchCall is the item of a call of browser_search.
type searchCall struct {
	ID     string       `json:"id"`
	Type   string       `json:"type"`
	Status string       `json:"status"`
	Action searchAction `json:"action"`
}

// codeOutput is something that the code printed or drew.
type codeOutput struct {
	Type string `json:"type"`
	Logs string `json:"logs,omitempty"`
	URL  string `json:"url,omitempty"`
}

// codeCall is the item of a call of code_interpreter.
type codeCall struct {
	ID          string `json:"id"`
	Type        string `json:"type"`
	Status      string `json:"status"`
	Code        string `json:"code"`
	ContainerID string `json:"container_id"`
	// Outputs are null unless the client asks for them.
	Outputs []codeOutput `json:"outputs"`
}

// wholeItem is the kind of items that are written as a whole, such as those of built-in tools. Such an item has no
// content parts, so its events have no content index.
var wholeItem = &itemKind{}

// addExecuted adds a call of a built-in tool or of an MCP server that has ended.
func (w *Writer) addExecuted(dst []byte, e *inference.ExecutedTool) []byte {
	dst = w.closeText(w.closeThought(dst, "completed"), "completed")

	switch {
	case e.Server != "":
		return w.addServerCall(dst, e)
	case e.Name == inference.PythonFunction:
		return w.addCode(dst, e)
	}

	return w.addSearch(dst, e)
}

// addSearch adds the item of a call of browser_search, with its events.
func (w *Writer) addSearch(dst []byte, e *inference.ExecutedTool) []byte {
	it := w.newItem(wholeItem, "ws_")
	call := searchCall{ID: it.id, Type: "web_search_call", Status: "in_progress", Action: w.actionOf(e)}
	it.setWhole(call)
	dst = w.appendItemEvent(dst, "response.output_item.added", it)

	for _, step := range []string{"in_progress", "searching", "completed"} {
		dst = append(it.appendPlace(w.beginEvent(dst, "response.web_search_call."+step)), eventEnd...)
	}

	if call.Status = "completed"; e.Failed {
		call.Status = "failed"
	}
	it.setWhole(call)

	return w.appendItemEvent(dst, "response.output_item.done", it)
}

// actionOf returns what a call did.
func (w *Writer) actionOf(e *inference.ExecutedTool) searchAction {
	var in struct {
		Query   string `json:"query"`
		Pattern string `json:"pattern"`
	}
	_ = json.Unmarshal([]byte(e.Arguments), &in) // fields of unexpected types stay empty
	page := ""

	if len(e.Pages) > 0 {
		page = e.Pages[0].URL
	}

	switch e.Name {
	case inference.OpenFunction:
		return searchAction{Type: "open_page", URL: &page}
	case inference.FindFunction:
		return searchAction{Type: "find_in_page", URL: &page, Pattern: &in.Pattern}
	}
	action := searchAction{Type: "search", Query: &in.Query}

	for _, found := range e.Search {
		if w.format.sources {
			action.Sources = append(action.Sources, searchSource{"url", found.URL})
		}
	}

	return action
}

// addCode adds the item of a call of code_interpreter, with its events and its code.
func (w *Writer) addCode(dst []byte, e *inference.ExecutedTool) []byte {
	var in struct {
		Code string `json:"code"`
	}
	_ = json.Unmarshal([]byte(e.Arguments), &in) // the gateway has checked it
	it := w.newItem(wholeItem, "ci_")
	call := codeCall{
		ID: it.id, Type: "code_interpreter_call", Status: "in_progress", ContainerID: "cntr_" + w.id,
	}
	it.setWhole(call)
	dst = w.appendItemEvent(dst, "response.output_item.added", it)
	dst = append(it.appendPlace(w.beginEvent(dst, "response.code_interpreter_call.in_progress")), eventEnd...)

	dst = it.appendPlace(w.beginEvent(dst, "response.code_interpreter_call_code.delta"))
	dst = append(appendString(append(dst, `,"delta":`...), in.Code), eventEnd...)
	dst = it.appendPlace(w.beginEvent(dst, "response.code_interpreter_call_code.done"))
	dst = append(appendString(append(dst, `,"code":`...), in.Code), eventEnd...)

	for _, step := range []string{"interpreting", "completed"} {
		dst = append(it.appendPlace(w.beginEvent(dst, "response.code_interpreter_call."+step)), eventEnd...)
	}

	call.Code, call.Status = in.Code, "completed"
	if e.Failed {
		call.Status = "failed"
	}

	if w.format.outputs {
		call.Outputs = outputsOf(e)
	}
	it.setWhole(call)

	return w.appendItemEvent(dst, "response.output_item.done", it)
}

// outputsOf returns what a program printed and drew.
func outputsOf(e *inference.ExecutedTool) []codeOutput {
	list := []codeOutput{}
	if e.Output != "" {
		list = append(list, codeOutput{Type: "logs", Logs: e.Output})
	}

	for _, c := range e.Code {
		if c.PNG != "" {
			list = append(list, codeOutput{Type: "image", URL: "data:image/png;base64," + c.PNG})
		}
	}

	return list
}

// setWhole sets the JSON of a call of a built-in tool.
func (it *item) setWhole(call any) {
	b, _ := json.Marshal(call) // structs of strings
	it.whole = oneLine(b)
}
