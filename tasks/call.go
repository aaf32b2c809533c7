package tasks

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/tasks/stream"
)

// Call puts a call in line, with an id of its own where it has none, and returns its answer, which is to be closed. An
// error means that nobody will work at it. ctx bounds the putting in line only.
// Errors: QueueFull, QueueUnavailable, IdempotencyConflict.
func (c *Client) Call(ctx context.Context, call stream.Call) (*stream.Answer, error) {
	if call.ID == "" {
		call.ID = NewID()
	}
	if !ValidID(call.ID) {
		return nil, fmt.Errorf("call id %q is not from NewID", call.ID)
	}
	call.QueuedAt = time.Now().UTC().Truncate(time.Millisecond)
	if err := c.admit(ctx, Infer); err != nil {
		return nil, err
	}
	if call.IdempotencyKey != "" {
		id, err := c.bindCall(ctx, call)
		if err != nil {
			return nil, err
		}
		call.ID = id
	}
	return c.calls.Call(ctx, call)
}

// Waiting returns how many calls are in line, by a figure that may be a little
// old. Errors: QueueUnavailable.
func (c *Client) Waiting(ctx context.Context) (int64, error) {
	if err := c.memory.admit(ctx, c.rdb); err != nil {
		return 0, err
	}
	return c.waiting(ctx, Infer)
}

// bindCall binds the idempotency key to the call's id, or returns the id that
// it is bound to.
func (c *Client) bindCall(ctx context.Context, call stream.Call) (id string, err error) {
	key := idempotencyKey(call.Owner, "call\x00"+call.IdempotencyKey)
	var bound *redis.StringCmd
	_, err = c.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.SetNX(ctx, key, call.ID+" "+call.Fingerprint, idempotencyTTL)
		bound = p.Get(ctx, key)
		return nil
	})
	if err != nil {
		return "", unavailable(err)
	}
	return boundID(bound.Val(), call.Fingerprint)
}

// issue puts a ticket on the queue and announces it; that it is there already is
// success.
func (c *Client) issue(ctx context.Context, id string) error {
	t, err := ServeCall.Task(Ticket{ID: id})
	if err != nil {
		return err
	}
	if err := c.outbox.enqueue(ctx, plainOwner, id, t); err != nil {
		return err
	}
	if err := c.rdb.Publish(ctx, callChannel, "").Err(); err != nil {
		return unavailable(err)
	}
	return nil
}

// HandleCalls makes the server run calls. The handler sends the answer and ends
// it by stream.Run.Finish; an error that it returns before it sent anything makes
// the call run again when the server stops, else it ends the answer. ctx ends
// when nobody waits any more (stream.ErrLeft), when another run has the call, and
// when the server stops. Call HandleCalls before Start.
func HandleCalls(s *Server, h func(ctx context.Context, run *stream.Run) error) {
	HandlePlain(s, ServeCall, func(ctx context.Context, t Ticket) error {
		return s.calls.Serve(ctx, t.ID, func(ctx context.Context, run *stream.Run) error {
			return guarded(func() error { return h(ctx, run) })
		})
	})
}
