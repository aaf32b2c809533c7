package exchange

import (
	"context"
	"time"

	"presswork/internal/fault"
)

// callTimeout bounds one call to the queue or the meter.
const callTimeout = 10 * time.Second

// CallContext returns a context for one call to the queue or the meter. It is not derived from the request's context,
// which Fiber reuses after the handler has returned.
func CallContext() (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(context.Background(), callTimeout,
		fault.Errorf(fault.QueueUnavailable, "the queue did not answer within %s", callTimeout))
}
