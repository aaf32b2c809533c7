package openapitest_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presswork/internal/test/openapitest"
)

const description = `openapi: 3.1.0
paths:
  /jobs/{id}:
    get:
      responses:
        "200":
          content:
            application/json: { schema: { $ref: "#/components/schemas/Job" } }
            image/*: {}
        "204": { description: nothing }
        4XX: { $ref: "#/components/responses/Error" }
  /jobs/last:
    get: { responses: { "200": { content: { text/plain: {} } } } }
components:
  responses:
    Error: { content: { application/json: { schema: { required: [error] } } } }
  schemas:
    Job: { type: object, required: [id], properties: { id: { type: string } }, additionalProperties: false }
`

func TestCheckRejectsResponsesWithoutDescription(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "openapi.yaml")
	if err := os.WriteFile(file, []byte(description), 0o600); err != nil {
		t.Fatal(err)
	}

	d, err := openapitest.Open(file)
	if err != nil {
		t.Fatal(err)
	}

	for _, tc := range []struct {
		target, kind, body string
		status             int
		wantError          string // "" for a described response
	}{
		{"/jobs/1?x=/", "application/json; charset=utf-8", `{"id":"1"}`, 200, ""},
		{"/jobs/1", "image/png", "…", 200, ""},
		{"/jobs/1", "", "", 204, ""},
		{"/jobs/1", "application/json", `{"error":1}`, 404, ""},
		{"/jobs/last", "text/plain", "…", 200, ""},
		{"/unknown", "application/json", `{}`, 404, ""},
		{"/jobs/1", "application/json", `{"id":1}`, 200, "/id"},
		{"/jobs/1", "application/json", `{"id":"1","more":1}`, 200, "more"},
		{"/jobs/1", "application/json", `{`, 200, "EOF"},
		{"/jobs/1", "text/plain", "…", 200, `"text/plain" is not described`},
		{"/jobs/1", "text/plain", "…", 204, "a body of 3 bytes is not described"},
		{"/jobs/1", "application/json", `{}`, 500, "the status is not described"},
		{"/jobs/1", "application/json", `{}`, 409, "error"},
		{"/jobs/last", "application/json", `{"id":"1"}`, 200, `"application/json" is not described`},
	} {
		t.Run(fmt.Sprint(tc.target, " ", tc.kind, " ", tc.status, " ", tc.body), func(t *testing.T) {
			answer := &http.Response{StatusCode: tc.status, Header: http.Header{"Content-Type": {tc.kind}}}

			err := d.Check("GET", tc.target, answer, []byte(tc.body))
			if (err == nil) != (tc.wantError == "") || err != nil && !strings.Contains(err.Error(), tc.wantError) {
				t.Errorf("Check = %v, want an error with %q (\"\" for none)", err, tc.wantError)
			}
		})
	}
}
