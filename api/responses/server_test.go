package responses_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"presswork/internal/inference"
)

// The tools of these tests, and items of an earlier answer.
const (
	docsServer = `"tools":[{"type":"mcp","server_label":"docs","server_url":"https://mcp.example/p?key=s3cr3t",` +
		`"authorization":"s3cr3t","headers":{"x-key":"s3cr3t"}}]`
	hiItem      = `{"role":"user","content":"Hi"}`
	requestItem = `{"type":"mcp_approval_request","id":"mcpr_1","server_label":"docs","name":"read","arguments":"{\"n\":1}"}`
)

// withInput returns a request with the server docs and these items after the text "Hi".
func withInput(items ...string) string {
	return `{"model":"m",` + docsServer + `,"input":[` + strings.Join(append([]string{hiItem}, items...), ",") + `]}`
}

func response(approve bool) string {
	return fmt.Sprintf(
		`{"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":%v,"reason":"too old"}`,
		approve,
	)
}

func TestApprovalsDecideWhatRuns(t *testing.T) {
	t.Parallel()
	const ran = `{"type":"mcp_call","id":"mcp_2","server_label":"docs","name":"read","arguments":"{}","output":"found","approval_request_id":"mcpr_1"}`

	for name, test := range map[string]struct {
		items    []string
		approved bool
		result   string
	}{
		"approved":      {[]string{requestItem, response(true)}, true, ""},
		"refused":       {[]string{requestItem, response(false)}, false, "The user refused this call: too old"},
		"unanswered":    {[]string{requestItem}, false, "The user has not approved this call."},
		"approved once": {[]string{requestItem, response(true), ran}, false, "found"},
		"ran before":    {[]string{requestItem, ran, response(true)}, false, "found"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r, _, err := parse(t, withInput(test.items...))
			if err != nil || len(r.Messages) != 3 || !r.Approvals {
				t.Fatalf("got %+v, error %v; want 3 messages and approvals", r, err)
			}
			call, result := r.Messages[1].ToolCalls[0], r.Messages[2]

			if call.Name != "docs__read" || call.ID != result.ToolCallID || (result.Approved != nil) != test.approved ||
				result.Text() != test.result {
				t.Errorf("got call %+v, result %+v; want docs__read, approved %v, the text %q", call, result,
					test.approved, test.result)
			}

			if a := result.Approved; a != nil &&
				*a != (inference.ServerCall{ID: "mcpr_1", Server: "docs", Tool: "read", Arguments: `{"n":1}`}) {
				t.Errorf("got the approved call %+v, want the requested one", a)
			}
		})
	}
}

func TestNoCallRunsIfNoneIsAllowed(t *testing.T) {
	t.Parallel()

	r, _, err := parse(t, strings.TrimSuffix(withInput(requestItem, response(true)), "}")+`,"max_tool_calls":0}`)
	if err != nil || len(r.Tools) != 0 || r.Messages[2].Approved != nil ||
		!strings.Contains(r.Messages[2].Text(), "not called") {
		t.Errorf("got %+v, error %v; want no tools and a call that is not approved", r, err)
	}
}

func TestGivenToolsReplaceAListing(t *testing.T) {
	t.Parallel()
	const list = `{"type":"mcp_list_tools","id":"mcpl_1","server_label":"docs","tools":[` +
		`{"name":"read","description":"d","input_schema":{"type":"object"},"annotations":{"read_only":true}}],"error":null}`

	r, _, err := parse(t, withInput(list))
	if err != nil {
		t.Fatal(err)
	}

	if l := r.Tools[0].Server.Listed; len(l) != 1 || l[0].Name != "read" || !l[0].ReadOnly {
		t.Errorf("got the listed tools %+v, want the read-only tool read", l)
	}

	body := strings.Replace(withInput(list), `"authorization"`, `"allowed_tools":["write"],"authorization"`, 1)
	if r, _, err = parse(t, body); err != nil || r.Tools[0].Server.Listed != nil {
		t.Errorf("a list without an allowed tool was used: %+v, %v", r.Tools[0].Server.Listed, err)
	}
}

func TestSecretsOfServersAreNotRepeated(t *testing.T) {
	t.Parallel()

	_, f, err := parse(t, withInput())
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Tools []map[string]any `json:"tools"`
	}
	whole := f.Collector("call").Append(nil)

	if err := json.Unmarshal(whole, &answer); err != nil || strings.Contains(string(whole), "s3cr3t") {
		t.Errorf("got %s, error %v; want JSON without the secret", whole, err)
	}

	want := "[map[server_label:docs server_url:https://mcp.example/<redacted> type:mcp]]"
	if got := fmt.Sprint(answer.Tools); got != want {
		t.Errorf("got the tools %s, want %s", got, want)
	}
}

func TestInvalidItemsOfServersAreRejected(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct{ body, want string }{
		"an answer without a request":   {withInput(response(true)), "no 'mcp_approval_request' \"mcpr_1\" precedes it"},
		"an answer without a decision":  {withInput(requestItem, `{"type":"mcp_approval_response","approval_request_id":"mcpr_1"}`), "property 'approve' is missing"},
		"an unknown server":             {withInput(strings.Replace(requestItem, "docs", "dogs", 1), response(true)), `the MCP server "dogs" is not one of 'tools'`},
		"a schema that leads to itself": {withInput(`{"type":"mcp_list_tools","server_label":"docs","tools":[{"name":"a","input_schema":{"$ref":"#"}}]}`), "a $ref leads to itself"},
		"a choice of another server":    {strings.TrimSuffix(withInput(), "}") + `,"tool_choice":{"type":"mcp","server_label":"dogs"}}`, `the MCP server "dogs" is not one of 'tools'`},
		"a connector":                   {`{"model":"m","input":"Hi","tools":[{"type":"mcp","server_label":"x","connector_id":"connector_gmail"}]}`, "connectors of a vendor are not supported"},
		"a server in a namespace":       {`{"model":"m","input":"Hi","tools":[{"type":"namespace","name":"n","tools":[{"type":"mcp","server_label":"x"}]}]}`, "must be one of"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if _, _, err := parse(t, test.body); err == nil || inference.AsError(err).Status != 400 ||
				!strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
