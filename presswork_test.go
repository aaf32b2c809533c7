package presswork_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork"
)

func TestOptionsOverLaysTheRequestOverFrontMatter(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	front := presswork.Options{PageSize: "A5", Landscape: &yes, Title: "Front", Margins: presswork.Margins{Top: "1in", Left: "2in"}}
	request := presswork.Options{Landscape: &no, Title: "Request", Margins: presswork.Margins{Top: "3in"}}
	want := presswork.Options{PageSize: "A5", Landscape: &no, Title: "Request", Margins: presswork.Margins{Top: "3in", Left: "2in"}}
	if diff := cmp.Diff(want, request.Over(front)); diff != "" {
		t.Error(diff)
	}
	if front.Title != "Front" || request.PageSize != "" {
		t.Error("Over changed an operand")
	}
}

func TestOptionsReadTheirShortForms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"toc":true}`:          `{"toc":3}`,
		`{"toc":false}`:         `{"toc":0}`,
		`{"toc":5}`:             `{"toc":5}`,
		`{"pdf_a":true}`:        `{"pdf_a":"2b"}`,
		`{"pdf_a":"PDF/A-2u"}`:  `{"pdf_a":"2u"}`,
		`{"pdf_a":"pdfa-3b"}`:   `{"pdf_a":"3b"}`,
		`{"keywords":"a, ,b "}`: `{"keywords":["a","b"]}`,
		`{"keywords":["a"]}`:    `{"keywords":["a"]}`,
	} {
		var o presswork.Options
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, _ := json.Marshal(o); string(got) != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{`{"toc":"x"}`, `{"pdf_a":2}`, `{"keywords":1}`} {
		if err := json.Unmarshal([]byte(text), new(presswork.Options)); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}

func TestErrorsKeepTheirCauseFromTheCaller(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("outer: %w", presswork.Errorf(presswork.NotFound, "no job").WithCause(io.ErrUnexpectedEOF).WithParam("job_id"))
	if presswork.CodeOf(err) != presswork.NotFound || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("code %q", presswork.CodeOf(err))
	}
	public, _ := json.Marshal(presswork.AsError(err))
	if want := `{"code":"not_found","message":"no job","param":"job_id"}`; string(public) != want {
		t.Errorf("got %s, want %s", public, want)
	}
	uncoined := presswork.AsError(io.ErrClosedPipe)
	if uncoined.Code != presswork.Internal || uncoined.Message != "internal error" {
		t.Errorf("un-coined: %+v", uncoined)
	}
	if presswork.AsError(nil) != nil || presswork.CodeOf(nil) != "" {
		t.Error("nil is an error")
	}
}
