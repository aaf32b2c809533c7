// Package freeport chooses ports for the servers of tests that are told where to listen.
package freeport

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// Take returns a port of 127.0.0.1 that nobody listens on and that is left to this
// test until it ends, also while its server is away. It is outside of the range that
// systems take the ports of outgoing connections from; that no other test takes it,
// of this or another process, is agreed on by a socket in Linux' abstract namespace,
// which ends with its process.
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
