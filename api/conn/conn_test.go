package conn

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"presswork/internal/test/wait"
)

// exhaustedListener lacks file descriptors in the first calls of Accept, then it is closed.
type exhaustedListener struct {
	net.Listener
	left int // calls without a descriptor
}

func (l *exhaustedListener) Accept() (net.Conn, error) {
	if l.left--; l.left >= 0 {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}

	return nil, net.ErrClosed
}

func TestListenerSurvivesALackOfFileDescriptors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		exhausted := &exhaustedListener{left: 150}

		_, err := Listener{exhausted, time.Second, slog.New(slog.NewTextHandler(&log, nil))}.Accept()
		if !errors.Is(err, net.ErrClosed) || exhausted.left != -1 {
			t.Errorf("Accept returned %v with %d failures to come, want net.ErrClosed after all", err, exhausted.left)
		}

		if lines := strings.Count(log.String(), "too many open files"); lines != 2 {
			t.Errorf("the log has %d lines for 15 s, want 2:\n%s", lines, &log)
		}
	})
}

// connect returns both ends of a connection through a Listener.
func connect(t *testing.T) (server net.Conn, client *net.TCPConn) {
	t.Helper()

	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()

	dialled, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dialled.Close() })

	server, err = Listener{ln, wait.Patience, slog.New(slog.DiscardHandler)}.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })

	return server, dialled.(*net.TCPConn)
}

func TestContextEndsWhenTheClientDisconnects(t *testing.T) {
	t.Parallel()
	server, client := connect(t)
	errLeft := errors.New("the client has left")

	ctx, cancel := WhileConnected(t.Context(), server, errLeft)
	defer cancel()

	if _, err := client.Write([]byte("unread")); err != nil {
		t.Fatal(err)
	}
	client.Close()
	wait.Receive(t, "the context ends", ctx.Done())

	if cause := context.Cause(ctx); !errors.Is(cause, errLeft) {
		t.Errorf("the cause is %v, want %v", cause, errLeft)
	}
}

func TestLingerDeliversTheAnswerToAClientThatStillSends(t *testing.T) {
	t.Parallel()
	server, client := connect(t)

	go func() {
		LingerAtClose(server)
		io.WriteString(server, "answer")
		server.Close()
	}()

	if _, err := client.Write(make([]byte, 16<<20)); err != nil {
		t.Fatal(err)
	}

	if err := client.CloseWrite(); err != nil {
		t.Fatal(err)
	}

	if got, err := io.ReadAll(client); err != nil || string(got) != "answer" {
		t.Errorf("got %q, %v; want answer", got, err)
	}
}
