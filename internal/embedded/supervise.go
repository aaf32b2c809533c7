package embedded

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"
)

// supervise restarts a server until stop is done. Then it stops the server, and kills it once kill is done. again
// starts a new server after one died. The log has the last lines of the server's output.
func supervise(stop, kill context.Context, c *child, log *slog.Logger, again func(dead *child) (*child, error)) {
	backoff := backoffMin

	for {
		select {
		case <-c.exited:
		case <-stop.Done():
			c.end(kill)
			return
		}

		// A server that ran this long did not fail at its start, so the wait begins at its minimum again.
		if time.Since(c.started) > 2*backoffMax {
			backoff = backoffMin
		}

		for {
			log.Warn("a private server died or could not be started; starting it again",
				"program", filepath.Base(c.cmd.Path), "reason", c.err, "in", backoff, "output", c.words.tail())

			select {
			case <-time.After(backoff):
			case <-stop.Done():
				return
			}
			backoff = min(2*backoff, backoffMax)

			next, err := again(c)
			if err == nil {
				c = next
				break
			}
			c.err = err
		}
	}
}
