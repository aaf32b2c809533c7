package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lock locks the data directory for this process and its children. It waits until ctx ends. The file stays; the
// lock ends with the last process that holds it open.
func (r *Redis) lock(ctx context.Context) (*os.File, error) {
	name := filepath.Join(r.Dir, "lock")

	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("embedded: %w", err)
	}

	for waiting := false; ; waiting = true {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f, nil
		}

		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			f.Close()
			return nil, fmt.Errorf("embedded: lock %s: %w", name, err)
		}

		if !waiting {
			r.Log.Info(
				"another Presswork uses the data directory; waiting until it ends (set DATA_DIR to another folder "+
					"to run both)",
				"dir",
				r.Dir,
			)
		}

		select {
		case <-time.After(pollEvery):
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("embedded: another Presswork uses %s: %w", r.Dir, context.Cause(ctx))
		}
	}
}
