package conn

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// exhausted is a listener that lacks file descriptors a few times.
type exhausted struct {
	net.Listener
	left int
}

func (l *exhausted) Accept() (net.Conn, error) {
	if l.left--; l.left >= 0 {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}

	return nil, net.ErrClosed
}

func TestALackOfFileDescriptorsDoesNotEndTheListener(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		lacking := &exhausted{left: 150}

		_, err := Listener{lacking, time.Second, slog.New(slog.NewTextHandler(&log, nil))}.Accept()
		if !errors.Is(err, net.ErrClosed) || lacking.left != -1 {
			t.Errorf("it ended with %v, %d tries before", err, lacking.left)
		}

		if lines := strings.Count(log.String(), "too many open files"); lines != 2 {
			t.Errorf("the log says so %d times in 15 s:\n%s", lines, &log)
		}
	})
}
