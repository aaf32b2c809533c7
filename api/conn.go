package api

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

	"presswork/internal/inference"
)

const (
	// lingerTime and lingerBytes bound what is read of a refused body after
	// the answer was sent: enough that a client that sends all of a document that is
	// too large before it reads, as SDKs do, reads the answer, and no more.
	lingerTime  = 10 * time.Second
	lingerBytes = 64 << 20
	// writePiece is how much is written under one deadline.
	writePiece = 64 << 10
	// closedInterval is how often a waiting request looks whether its client is
	// still there.
	closedInterval = 500 * time.Millisecond
)

// patientListener gives connections a deadline for each write: the server's
// own covers a whole answer, and would cut long streams. It outlives a lack of file
// descriptors or memory, which would end the server's own loop for good.
type patientListener struct {
	net.Listener
	wait time.Duration
	log  *slog.Logger
}

const (
	// acceptPause is how long nothing is accepted when the system lacks what a
	// connection takes, and acceptTell how often the log says so.
	acceptPause = 100 * time.Millisecond
	acceptTell  = 10 * time.Second
)

// Accept implements net.Listener.
func (l patientListener) Accept() (net.Conn, error) {
	for told := (time.Time{}); ; time.Sleep(acceptPause) {
		c, err := l.Listener.Accept()
		if err == nil {
			return &patientConn{Conn: c, wait: l.wait}, nil
		}

		if !lacking(err) && !errors.Is(err, syscall.ECONNABORTED) {
			return nil, err
		}

		if time.Since(told) >= acceptTell {
			told = time.Now()
			l.log.Error(
				"no connection can be accepted; it is tried again (raise LimitNOFILE or ulimit -n for open files)",
				"err",
				err,
			)
		}
	}
}

// lacking reports whether the system had no file descriptor or memory for something.
func lacking(err error) bool {
	return slices.ContainsFunc([]syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM},
		func(lack syscall.Errno) bool { return errors.Is(err, lack) })
}

type patientConn struct {
	net.Conn
	wait time.Duration
	// linger asks Close to read what the client is still sending, so that the
	// answer is not lost to a reset.
	linger atomic.Bool
}

// Write implements net.Conn.
func (c *patientConn) Write(p []byte) (written int, err error) {
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
func (c *patientConn) Close() error {
	if tcp, ok := c.Conn.(*net.TCPConn); ok && c.linger.CompareAndSwap(true, false) {
		if tcp.CloseWrite() == nil && tcp.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
			_, _ = io.CopyN(io.Discard, tcp, lingerBytes)
		}
	}

	return c.Conn.Close()
}

// lingerAtClose lets the client of conn read its answer before the connection
// goes, however much of its request was not read.
func lingerAtClose(conn net.Conn) {
	if c, ok := patientConnOf(conn); ok {
		c.linger.Store(true)
	}
}

// errClientLeft is the cause of the end of what a client does not wait for any
// more: nobody reads it, and it is nobody's failure.
var errClientLeft = inference.Errorf(499, inference.RequestCancelled, "the client has closed the connection")

// whileConnected returns a context that ends when the client of conn has closed it.
// The HTTP server does not notice by itself. A client that closes only its sending side
// looks the same.
func whileConnected(ctx context.Context, conn net.Conn) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)

	go func() {
		tick := time.NewTicker(closedInterval)
		defer tick.Stop()

		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if hasClosed(conn) {
					cancel(errClientLeft)
					return
				}
			}
		}
	}()

	return ctx, func() { cancel(context.Canceled) }
}

// hasClosed reports whether the client of conn has closed it. It asks the socket,
// without waiting and without taking a byte.
func hasClosed(conn net.Conn) bool {
	p, ok := patientConnOf(conn)
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
