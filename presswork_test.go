package presswork_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"testing"

	"presswork/internal/fault"
)

func TestErrorsKeepTheirCauseFromTheCaller(t *testing.T) {
	t.Parallel()

	err := fmt.Errorf(
		"outer: %w",
		fault.Errorf(fault.NotFound, "no job").WithCause(io.ErrUnexpectedEOF).WithParam("job_id"),
	)
	if fault.CodeOf(err) != fault.NotFound || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("code %q", fault.CodeOf(err))
	}

	public, _ := json.Marshal(fault.AsError(err))
	if want := `{"code":"not_found","message":"no job","param":"job_id"}`; string(public) != want {
		t.Errorf("got %s, want %s", public, want)
	}

	uncoined := fault.AsError(io.ErrClosedPipe)
	if uncoined.Code != fault.Internal || uncoined.Message != "internal error" {
		t.Errorf("unclassified: %+v", uncoined)
	}

	if fault.AsError(nil) != nil || fault.CodeOf(nil) != "" {
		t.Error("nil is an error")
	}
}
