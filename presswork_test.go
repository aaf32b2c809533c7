package presswork_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"testing"

	"presswork"
)

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
