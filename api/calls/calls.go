// Package calls answers the requests under /v1 that workers answer in frames while the client waits.
//
// Handlers.complete has the flow of most routes: read the request, reserve tokens and queue the call (beginCall), and
// write the frames as they arrive. package api/openai reads the requests and writes the answers, without HTTP.
//
// Handlers return errors of the packages fault and inference; the error handler of package api writes them as the
// answer.
package calls

import (
	"bytes"
	"context"
	"errors"
	"log/slog"

	"github.com/gofiber/fiber/v2"

	"presswork/api/conn"
	"presswork/api/exchange"
	"presswork/api/limits"
	"presswork/api/metrics"
	"presswork/api/objects"
	"presswork/api/openai"
	"presswork/internal/inference/meter"
	"presswork/storage"
	"presswork/tasks"
	"presswork/tasks/stream"
)

// Options configure Handlers. All fields are mandatory.
type Options struct {
	// Service reads requests and writes answers.
	Service *openai.Service
	// Queue queues the calls, Objects holds requests that are too large for it.
	Queue   openai.Calls
	Objects objects.Objects
	// Limiter has the limits of keys.
	Limiter *limits.Limiter
	// Bodies reads the requests.
	Bodies exchange.Bodies
	// Streams counts the answers that are being sent.
	Streams *conn.Streams
	// Log receives failures that clients do not see.
	Log *slog.Logger
}

// Handlers answers the requests.
type Handlers struct{ Options }

// New returns Handlers.
func New(o Options) *Handlers { return &Handlers{o} }

// begunCall is a call that was put on the queue.
type begunCall struct {
	// raw has the frames of the worker.
	raw *stream.Answer
	// ctx ends when the client leaves or the server stops.
	ctx context.Context
	// finish ends the call and returns its reserved tokens to the limits. It must be called once.
	finish func()
}

// beginCall reserves the tokens that the call may use and puts it on the queue. It drops the call's request, which
// may be large. Errors: *inference.Error, QueueUnavailable, StoreUnavailable.
func (h *Handlers) beginCall(c *fiber.Ctx, call *openai.Call) (begun begunCall, err error) {
	running, leave, err := h.Streams.Join(metrics.Completion)
	if err != nil {
		return begun, err
	}
	ctx, release := conn.WhileConnected(running, c.Context().Conn(), exchange.ErrClientLeft)

	done := func() {
		release()
		leave()
	}
	if err = h.admitCall(c, call); err != nil {
		done()
		return begun, err
	}
	meta := exchange.Of(c.Context())
	// The call may outlive the handler. It takes over the grant, which the route would release at the handler's end.
	grant := meta.Grant
	meta.Grant = nil

	answer, err := h.enqueueCall(ctx, call)
	// The caller may wait for minutes, so drop the request now.
	call.Forget()
	meta.Held.Release()

	if err != nil {
		h.settleCall(call, grant)
		done()

		return begun, err
	}

	return begunCall{raw: answer, ctx: ctx, finish: func() {
		answer.Close()
		h.settleCall(call, grant)
		done()
	}}, nil
}

// admitCall reserves the tokens of the call in the key's limits. Errors: *inference.Error when a limit is reached or
// the tier has no capacity; QueueUnavailable.
func (h *Handlers) admitCall(c *fiber.Ctx, call *openai.Call) error {
	ctx, cancel := exchange.CallContext()
	defer cancel()

	if err := h.Service.CheckCapacity(ctx, call); err != nil {
		return err
	}

	if call.Limits == (meter.Limits{}) {
		return nil
	}

	_, err := h.Limiter.Reserve(c, call.ID, call.Limits, call.Tokens())
	if e, refused := errors.AsType[*meter.Exceeded](err); refused {
		return openai.LimitError(e, call)
	}

	return err
}

// settleCall returns the reserved tokens to the key's limits. The worker counts the tokens that the call used.
func (h *Handlers) settleCall(call *openai.Call, grant *meter.Grant) {
	h.Limiter.Release(grant)

	if call.Limits == (meter.Limits{}) {
		return
	}

	ctx, cancel := exchange.CallContext()
	defer cancel()

	if err := h.Limiter.Meter.Settle(ctx, call.Owner, call.ID, call.Limits, "", 0); err != nil {
		h.Log.Warn("could not return reserved tokens to the limits of a key", "error", err)
	}
}

// enqueueCall puts the call on the queue. A request over tasks.InlineLimit goes to the store first. Errors: those
// of Objects.Put and of Queue.Call.
func (h *Handlers) enqueueCall(ctx context.Context, call *openai.Call) (*stream.Answer, error) {
	body, err := call.Encode()
	if err != nil {
		return nil, err
	}

	if _, none := h.Objects.Store.(storage.None); none || len(body) <= tasks.InlineLimit {
		call.Body = body
	} else {
		call.BodyKey = storage.RequestKey(call.ID)

		err := h.Objects.Put(ctx, call.BodyKey, bytes.NewReader(body), int64(len(body)), fiber.MIMEApplicationJSON)
		if err != nil {
			return nil, err
		}
	}

	answer, err := h.Queue.Call(ctx, call.Call)
	if call.BodyKey != "" && (err != nil || answer.ID != call.ID) {
		// No worker reads this request. The worker deletes the request of a call on the queue, or the sweeper does after
		// an hour.
		ctx, cancel := exchange.CallContext()
		defer cancel()

		if err := h.Objects.Remove(ctx, call.BodyKey); err != nil {
			h.Log.Warn("could not delete a request that no worker reads; the next sweep deletes it",
				"key", call.BodyKey, "error", err)
		}
	}

	return answer, err
}
