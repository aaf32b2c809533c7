package sandbox_test

import (
	"os"
	"testing"
)

// secret is in the environment of this process. No program in a sandbox may see it.
const secret = "a secret of the host"

func TestMain(m *testing.M) {
	os.Setenv("PRESSWORK_SANDBOX_TEST_SECRET", secret)

	if os.Getenv(helperVariable) != "" {
		os.Exit(runHelper())
	}
	os.Exit(m.Run())
}
