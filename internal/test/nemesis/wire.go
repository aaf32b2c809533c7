package nemesis

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"
)

// state is how a wire treats its bytes.
type state string

const (
	// whole lets all bytes pass.
	whole state = ""
	// silent holds everything back until the connection is restored, like a network that loses packets. Data
	// arrives late, even when its sender has given up.
	silent state = "silent"
	// oneWay holds back the responses and lets requests pass.
	oneWay state = "one-way"
	// slow delays each direction by a fifth of a second.
	slow state = "slow"
	// broken resets each connection in the middle of its next response.
	broken state = "broken"
)

// slowness is the delay of each block in the state slow.
const slowness = 200 * time.Millisecond

// wire is the network between one node and a server: a TCP proxy that can fail.
type wire struct {
	address string // at which the node reaches the server
	server  string

	mu      sync.Mutex
	changed *sync.Cond
	state   state
}

// newWire returns a wire to a server, which need not run yet.
func newWire(t testing.TB, server string) *wire {
	t.Helper()

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{address: listener.Addr().String(), server: server}
	w.changed = sync.NewCond(&w.mu)

	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}

			go w.join(t.Context(), conn.(*net.TCPConn))
		}
	}()
	t.Cleanup(func() {
		listener.Close()
		w.set(whole) // connections end with their nodes
	})

	return w
}

// set changes the state.
func (w *wire) set(s state) {
	w.mu.Lock()
	w.state = s
	w.mu.Unlock()
	w.changed.Broadcast()
}

// join connects a client to the server and copies both directions until they end.
func (w *wire) join(ctx context.Context, client *net.TCPConn) {
	defer client.Close()
	w.wait(false)
	var d net.Dialer

	conn, err := d.DialContext(ctx, "tcp", w.server)
	if err != nil {
		return
	}

	server := conn.(*net.TCPConn)
	defer server.Close()
	var both sync.WaitGroup
	both.Go(func() { w.carry(server, client, false) })
	both.Go(func() { w.carry(client, server, true) })
	both.Wait()
}

// carry copies one direction until it ends. responses is true for the direction to the client.
func (w *wire) carry(to, from *net.TCPConn, responses bool) {
	defer to.CloseWrite()

	block := make([]byte, 32<<10)
	for {
		n, err := from.Read(block)
		if n > 0 {
			switch s := w.wait(responses); {
			case s == slow:
				time.Sleep(slowness) // the delay that the fault injects
			case s == broken && responses:
				to.Write(block[:n/2])

				for _, end := range []*net.TCPConn{to, from} {
					end.SetLinger(0)
					end.Close()
				}

				return
			}

			if _, err := to.Write(block[:n]); err != nil {
				return
			}
		}

		if err != nil {
			return
		}
	}
}

// wait waits until bytes of a direction may pass, and returns the state.
func (w *wire) wait(responses bool) state {
	w.mu.Lock()
	defer w.mu.Unlock()

	for w.state == silent || w.state == oneWay && responses {
		w.changed.Wait()
	}

	return w.state
}
