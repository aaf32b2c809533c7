package exchange

import (
	"context"
	"math"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"presswork/internal/fault"
	"presswork/internal/inference"
)

// callTimeout bounds one call to the queue or the meter.
const callTimeout = 10 * time.Second

// CallContext returns a context for one call to the queue or the meter. It is not derived from the request's context,
// which Fiber reuses after the handler has returned.
func CallContext() (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(context.Background(), callTimeout,
		fault.Errorf(fault.QueueUnavailable, "the queue did not answer within %s", callTimeout))
}

// SetUnbuffered asks proxies such as nginx to forward an answer as it arrives. Call it for each stream.
func SetUnbuffered(c *fiber.Ctx) { c.Set("X-Accel-Buffering", "no") }

// SetReplayed tells the client that its idempotency key is known and the answer is that of the earlier request. It sets
// nothing unless replayed.
func SetReplayed(c *fiber.Ctx, replayed bool) {
	if replayed {
		c.Set("Idempotent-Replayed", "true")
	}
}

// SetQueueTime sets the header with the time that the request waited for a worker. A negative wait is unknown and
// sets no header.
func SetQueueTime(c *fiber.Ctx, wait time.Duration) {
	if wait >= 0 {
		c.Set("X-Queue-Time-Ms", strconv.FormatFloat(math.Round(wait.Seconds()*1e6)/1e3, 'f', -1, 64))
	}
}

// ClientTimeout returns how long the client waits, by the header that its SDK sends; 0 when there is none.
func ClientTimeout(c *fiber.Ctx) time.Duration {
	for _, header := range []string{"X-Stainless-Timeout", "X-Stainless-Read-Timeout"} {
		if seconds, err := strconv.ParseFloat(c.Get(header), 64); err == nil && seconds > 0 && seconds < 24*3600 {
			return time.Duration(seconds * float64(time.Second))
		}
	}

	return 0
}

// ErrClientLeft ends the work for a client that has disconnected. Its status appears only in logs and metrics.
var ErrClientLeft = inference.Errorf(499, inference.RequestCancelled, "the client has closed the connection")
