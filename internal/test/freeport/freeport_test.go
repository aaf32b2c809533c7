package freeport_test

import (
	"net"
	"testing"

	"presswork/internal/test/freeport"
)

func TestAPortBelongsToOneTestUntilItEnds(t *testing.T) {
	t.Parallel()
	claim := func(port string) error {
		l, err := net.Listen("unix", "@presswork-test-port-"+port)
		if err == nil {
			l.Close()
		}

		return err
	}
	var port string
	t.Run("within", func(t *testing.T) {
		port = freeport.Take(t)

		l, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			t.Fatal(err)
		}
		l.Close() // and it is still ours

		if claim(port) == nil {
			t.Error("another test may take it")
		}
	})

	if err := claim(port); err != nil {
		t.Errorf("after its test: %v", err)
	}
}
