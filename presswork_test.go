package presswork_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"testing"

	"presswork/internal/fault"
)

func TestPublicErrorsHideTheirCause(t *testing.T) {
	t.Parallel()

	err := fmt.Errorf("outer: %w",
		fault.Errorf(fault.NotFound, "no job").WithCause(io.ErrUnexpectedEOF).WithParam("job_id"))
	if fault.CodeOf(err) != fault.NotFound || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("code %q, want not_found with the cause %v in %v", fault.CodeOf(err), io.ErrUnexpectedEOF, err)
	}

	public, _ := json.Marshal(fault.AsError(err))
	if want := `{"code":"not_found","message":"no job","param":"job_id"}`; string(public) != want {
		t.Errorf("got %s, want %s", public, want)
	}

	unknown := fault.AsError(io.ErrClosedPipe)
	if unknown.Code != fault.Internal || unknown.Message != "internal error" {
		t.Errorf("AsError of another error = %+v, want an internal error without its text", unknown)
	}

	if fault.AsError(nil) != nil || fault.CodeOf(nil) != "" {
		t.Errorf("AsError(nil) = %v, CodeOf(nil) = %q; want nil and no code", fault.AsError(nil), fault.CodeOf(nil))
	}
}
