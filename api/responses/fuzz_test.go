package responses_test

import (
	"encoding/json"
	"testing"

	"presswork/api/responses"
	"presswork/internal/inference"
)

func FuzzParse(f *testing.F) {
	for _, body := range []string{
		`{"model":"m","input":"Hi","instructions":"a","include":["reasoning.encrypted_content"],"metadata":{"a":"b"}}`,
		`{"model":"m","input":[{"type":"function_call","call_id":"c","name":"f","namespace":"n","arguments":"{}"},
			{"role":"user","content":[{"type":"input_image","image_url":"https://x.example"}]},
			{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"x"}]},
			{"type":"reasoning","summary":[{"text":"s"}],"encrypted_content":"AAAA"}]}`,
		`{"model":"m","input":"Hi","tools":[{"type":"namespace","name":"n","tools":[{"type":"custom","name":"g",
			"format":{"type":"grammar","syntax":"lark","definition":"x"}}]},{"type":"web_search"}],
			"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"namespace","name":"n"}]}}`,
		`{"model":"m","input":[null,[],{"role":7}],"text":{"format":{"type":"json_schema","name":"p","schema":true}}}`,
	} {
		f.Add(body)
	}

	s := sealer(f, "0123456789abcdef")
	f.Fuzz(func(t *testing.T, body string) {
		r, format, err := responses.Parse([]byte(body), responses.Options{
			CheckModel: func(string) error { return nil }, Owner: owner, Sealer: s,
		})
		if err != nil {
			if e := inference.AsError(err); e.Status != 400 && e.Status != 413 {
				t.Errorf("got %+v, want the status 400 or 413", e)
			}

			return
		}

		if len(r.Messages) == 0 {
			t.Error("a request without messages is accepted")
		}

		if b := format.Collector("call").Append(nil); !json.Valid(b) {
			t.Errorf("not JSON: %s", b)
		}
	})
}
