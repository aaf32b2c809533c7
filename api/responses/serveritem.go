package responses

import (
	"encoding/json"

	"presswork/internal/inference"
)

// listedTool is a tool in an item mcp_list_tools.
type listedTool struct {
	Name        string          `json:"name"`
	Description *string         `json:"description"`
	Schema      json.RawMessage `json:"input_schema"`
	Annotations readOnlyHint    `json:"annotations"`
}

// readOnlyHint reports that a tool changes nothing, as its server says.
type readOnlyHint struct {
	ReadOnly bool `json:"read_only"`
}

// serverList is the item with the tools of an MCP server.
type serverList struct {
	ID          string       `json:"id"`
	Type        string       `json:"type"`
	ServerLabel string       `json:"server_label"`
	Tools       []listedTool `json:"tools"`
	// Error is why the server could not be asked; null for none.
	Error *string `json:"error"`
}

// approvalRequest is the item that asks the user to approve a call.
type approvalRequest struct {
	ID          string `json:"id"`
	Type        string `json:"type"`
	ServerLabel string `json:"server_label"`
	Name        string `json:"name"`
	Arguments   string `json:"arguments"`
}

// serverCall is the item of a call on an MCP server.
type serverCall struct {
	ID          string `json:"id"`
	Type        string `json:"type"`
	Status      string `json:"status"`
	ServerLabel string `json:"server_label"`
	Name        string `json:"name"`
	Arguments   string `json:"arguments"`
	// Output is null after a failure, Error after success.
	Output   *string    `json:"output"`
	Error    *callError `json:"error"`
	Approval *string    `json:"approval_request_id"`
}

// callError is the failure of a call: of the tool, with its content, or of the server, with a code of JSON-RPC.
type callError struct {
	Type    string     `json:"type"`
	Content []textPart `json:"content,omitempty"`
	Code    int        `json:"code,omitempty"`
	Message string     `json:"message,omitempty"`
}

// textPart is a text in the result of a call.
type textPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// internalError is the code of JSON-RPC for a server that fails.
const internalError = -32603

// addListing adds the item with the tools of a server, with its events.
func (w *Writer) addListing(dst []byte, l *inference.Listing) []byte {
	dst = w.closeText(w.closeThought(dst, "completed"), "completed")
	it := w.newItem(wholeItem, "mcpl_")
	list := serverList{ID: it.id, Type: "mcp_list_tools", ServerLabel: l.Server, Tools: []listedTool{}}
	it.setWhole(list)
	dst = w.appendItemEvent(dst, "response.output_item.added", it)
	dst = append(it.appendPlace(w.beginEvent(dst, "response.mcp_list_tools.in_progress")), eventEnd...)
	step := "completed"

	if l.Failure != "" {
		step, list.Error = "failed", &l.Failure
	}

	for _, t := range l.Tools {
		tool := listedTool{Name: t.Name, Schema: t.Schema, Annotations: readOnlyHint{t.ReadOnly}}
		if t.Description != "" {
			tool.Description = &t.Description
		}
		list.Tools = append(list.Tools, tool)
	}
	it.setWhole(list)
	dst = append(it.appendPlace(w.beginEvent(dst, "response.mcp_list_tools."+step)), eventEnd...)

	return w.appendItemEvent(dst, "response.output_item.done", it)
}

// addServerCall adds the item of a call on an MCP server, with its events.
func (w *Writer) addServerCall(dst []byte, e *inference.ExecutedTool) []byte {
	it := w.newItem(wholeItem, "mcp_")
	call := serverCall{
		ID: it.id, Type: "mcp_call", Status: "in_progress", ServerLabel: e.Server, Name: e.Name,
	}

	if e.Approval != "" {
		call.Approval = &e.Approval
	}
	it.setWhole(call)
	dst = w.appendItemEvent(dst, "response.output_item.added", it)
	dst = append(it.appendPlace(w.beginEvent(dst, "response.mcp_call.in_progress")), eventEnd...)

	dst = it.appendPlace(w.beginEvent(dst, "response.mcp_call_arguments.delta"))
	dst = append(appendString(append(dst, `,"delta":`...), e.Arguments), eventEnd...)
	dst = it.appendPlace(w.beginEvent(dst, "response.mcp_call_arguments.done"))
	dst = append(appendString(append(dst, `,"arguments":`...), e.Arguments), eventEnd...)

	call.Arguments, call.Status = e.Arguments, "completed"

	switch {
	case e.Broken:
		call.Status, call.Error = "failed", &callError{
			Type: "mcp_protocol_error", Code: internalError, Message: e.Output,
		}
	case e.Failed:
		call.Status, call.Error = "failed", &callError{
			Type: "mcp_tool_execution_error", Content: []textPart{{"text", e.Output}},
		}
	default:
		call.Output = &e.Output
	}
	it.setWhole(call)
	dst = append(it.appendPlace(w.beginEvent(dst, "response.mcp_call."+call.Status)), eventEnd...)

	return w.appendItemEvent(dst, "response.output_item.done", it)
}

// addApproval adds the item that asks the user to approve a call.
func (w *Writer) addApproval(dst []byte, c *inference.ServerCall) []byte {
	dst = w.closeText(w.closeThought(dst, "completed"), "completed")
	it := w.newItem(wholeItem, "mcpr_")
	it.setWhole(approvalRequest{
		ID: c.ID, Type: "mcp_approval_request", ServerLabel: c.Server, Name: c.Tool, Arguments: c.Arguments,
	})
	dst = w.appendItemEvent(dst, "response.output_item.added", it)

	return w.appendItemEvent(dst, "response.output_item.done", it)
}
