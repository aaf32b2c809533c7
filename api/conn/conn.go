// Package conn handles difficult HTTP clients:
//   - Some read slowly. Listener gives each write a deadline.
//   - Some keep sending a body that was rejected. LingerAtClose lets them read the answer.
//   - Some leave while they wait for an answer. WhileConnected ends the work for them.
//   - Some wait while the server stops. Streams counts their answers and drains them.
package conn

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// lingerTime and lingerBytes bound reading a rejected body after the answer was sent. SDKs send a whole
	// document before they read, so the bounds allow for a document that is too large.
	lingerTime  = 10 * time.Second
	lingerBytes = 64 << 20
	// writePiece is how many bytes are written under one deadline.
	writePiece = 64 << 10
	// closedInterval is the time between two checks whether a waiting client is still connected.
	closedInterval = 500 * time.Millisecond
	// acceptPause is the wait before the next Accept when the system has no file descriptor or memory for a
	// connection. acceptLog is the time between two log lines about it.
	acceptPause = 100 * time.Millisecond
	acceptLog   = 10 * time.Second
)

// Listener accepts connections that have a deadline for each write: the HTTP server's own deadline covers a whole
// answer and would cut long streams. When the system lacks file descriptors or memory, Accept tries again, because
// the server's loop would end at the error.
type Listener struct {
	net.Listener
	// WriteTimeout bounds each write of up to 64 KiB.
	WriteTimeout time.Duration
	// Log gets an error at most every 10 s while no connection can be accepted.
	Log *slog.Logger
}

// Accept implements net.Listener.
func (l Listener) Accept() (net.Conn, error) {
	for logged := (time.Time{}); ; time.Sleep(acceptPause) {
		c, err := l.Listener.Accept()
		if err == nil {
			return &deadlineConn{Conn: c, wait: l.WriteTimeout}, nil
		}

		if !Exhausted(err) && !errors.Is(err, syscall.ECONNABORTED) {
			return nil, err
		}

		if time.Since(logged) >= acceptLog {
			logged = time.Now()
			l.Log.Error("cannot accept connections; retrying (raise LimitNOFILE or ulimit -n for open files)",
				"err", err)
		}
	}
}

// Exhausted reports whether err says that the system has no file descriptor or memory left.
func Exhausted(err error) bool {
	return slices.ContainsFunc([]syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM},
		func(lack syscall.Errno) bool { return errors.Is(err, lack) })
}

// deadlineConn is a connection with a deadline for each write.
type deadlineConn struct {
	net.Conn
	// wait bounds the write of each piece of writePiece bytes.
	wait time.Duration
	// linger makes Close read what the client is still sending, so that a reset does not destroy the answer.
	linger atomic.Bool
}

// Write implements net.Conn.
func (c *deadlineConn) Write(p []byte) (written int, err error) {
	for {
		piece := p[written:min(written+writePiece, len(p))]
		if err := c.SetWriteDeadline(time.Now().Add(c.wait)); err != nil {
			return written, err
		}
		n, err := c.Conn.Write(piece)

		written += n
		if err != nil || written == len(p) {
			return written, err
		}
	}
}

// Close implements net.Conn.
func (c *deadlineConn) Close() error {
	if tcp, ok := c.Conn.(*net.TCPConn); ok && c.linger.CompareAndSwap(true, false) {
		if tcp.CloseWrite() == nil && tcp.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
			_, _ = io.CopyN(io.Discard, tcp, lingerBytes)
		}
	}

	return c.Conn.Close()
}

// accepted returns the connection that a Listener accepted, also when TLS wraps it.
func accepted(c net.Conn) (*deadlineConn, bool) {
	if t, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = t.NetConn()
	}
	p, ok := c.(*deadlineConn)

	return p, ok
}

// LingerAtClose makes Close read the rest of the request for up to 10 s, so that the client can still read its
// answer. It does nothing for a connection that no Listener accepted.
func LingerAtClose(c net.Conn) {
	if p, ok := accepted(c); ok {
		p.linger.Store(true)
	}
}

// WhileConnected returns a context that ends with cause when the client of c closes the connection, which the HTTP
// server does not notice itself. A client that closes only its sending side looks the same. The caller must call
// the CancelFunc.
func WhileConnected(ctx context.Context, c net.Conn, cause error) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)

	// A timer needs less memory than a goroutine that waits. Reset starts it, because the function reads the variable.
	var timer *time.Timer
	timer = time.AfterFunc(time.Hour, func() {
		switch {
		case ctx.Err() != nil:
		case hasClosed(c):
			cancel(cause)
		default:
			timer.Reset(closedInterval)
		}
	})
	timer.Reset(closedInterval)

	return ctx, func() {
		timer.Stop()
		cancel(context.Canceled)
	}
}

// hasClosed reports whether the client of c has closed the connection. It asks the socket, without waiting and
// without reading.
func hasClosed(c net.Conn) bool {
	p, ok := accepted(c)
	if !ok {
		return false
	}

	sock, ok := p.Conn.(syscall.Conn)
	if !ok {
		return false
	}

	raw, err := sock.SyscallConn()
	if err != nil {
		return true
	}
	closed := false
	err = raw.Control(func(fd uintptr) { closed = peerClosed(int(fd)) })

	return closed || err != nil
}
