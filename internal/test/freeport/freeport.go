// Package freeport chooses ports for the servers of tests.
package freeport

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// Take returns a free port of 127.0.0.1, outside of the range of outgoing connections. It reserves the port until the
// test ends, also while no server listens. The reservation is a socket in Linux' abstract namespace, which ends with
// the process. Other tests and processes look for it.
func Take(t testing.TB) string {
	t.Helper()

	for range 1000 {
		port := strconv.Itoa(20000 + rand.IntN(10000))

		claim, err := net.Listen("unix", "@presswork-test-port-"+port)
		if err != nil {
			continue
		}

		probe, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			claim.Close()
			continue
		}
		probe.Close()
		t.Cleanup(func() { claim.Close() })

		return port
	}
	t.Fatal("no free port was found")

	return ""
}
