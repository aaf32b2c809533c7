package sandbox_test

import (
	"os"
	"testing"
)

// secret is in this process' environment, where no program in a sandbox sees it.
const secret = "a secret of the host"

func TestMain(m *testing.M) {
	os.Setenv("PRESSWORK_SANDBOX_TEST_SECRET", secret)

	if os.Getenv(helperVariable) != "" {
		os.Exit(help())
	}
	os.Exit(m.Run())
}
