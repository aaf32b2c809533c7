package freeport_test

import (
	"net"
	"testing"

	"presswork/internal/test/freeport"
)

func TestPortIsReservedUntilTheTestEnds(t *testing.T) {
	t.Parallel()
	// reserve does what Take does in another test.
	reserve := func(port string) error {
		l, err := net.Listen("unix", "@presswork-test-port-"+port)
		if err == nil {
			l.Close()
		}

		return err
	}
	var port string
	t.Run("during the test", func(t *testing.T) {
		port = freeport.Take(t)

		l, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			t.Fatal(err)
		}
		l.Close()

		if reserve(port) == nil {
			t.Errorf("port %s can be reserved a second time, want an error", port)
		}
	})

	if err := reserve(port); err != nil {
		t.Errorf("port %s after the test: %v, want it free", port, err)
	}
}
