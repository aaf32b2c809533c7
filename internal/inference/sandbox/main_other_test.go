//go:build !linux || !(amd64 || arm64)

package sandbox_test

import (
	"errors"
	"testing"

	"presswork/internal/inference/sandbox"
)

// helperVariable turns the test program into a helper on Linux. Here are no tests that need it.
const helperVariable = "PRESSWORK_SANDBOX_TEST_HELPER"

func runHelper() int { return 1 }

func TestOpenReportsThatThisSystemHasNoSandbox(t *testing.T) {
	t.Parallel()
	if _, err := sandbox.Open(t.Context(), sandbox.Options{}); !errors.Is(err, sandbox.ErrUnavailable) {
		t.Errorf("error is %v, want ErrUnavailable", err)
	}
}
