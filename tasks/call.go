package tasks

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/tasks/stream"
)

// The lanes of calls.
const (
	completions stream.Lane = "calls"
	tools       stream.Lane = "tools"
)

// queueOf is the queue that has a lane's tickets, and the channel on which they are
// announced.
func queueOf(l stream.Lane) (q Queue, channel string, kind Kind[Ticket]) {
	if l == tools {
		return Tools, toolChannel, ServeTools
	}
	return Infer, callChannel, ServeCall
}

// hasCalls reports whether a queue has the tickets of calls: they live as long as
// their callers, and their turns are those of package stream.
func hasCalls(q Queue) bool { return q == Infer || q == Tools }

// Call puts a completion in line, as a call with an id of its own where it has none,
// and returns its answer, which is to be closed. An
// error means that nobody will work at it. ctx bounds the putting in line only.
// Errors: QueueFull, QueueUnavailable, IdempotencyConflict.
func (c *Client) Call(ctx context.Context, call stream.Call) (*stream.Answer, error) {
	call.Lane = completions
	return c.call(ctx, call)
}

// OpenTools is Call for a session with built-in tools, for a worker that HandleTools
// is called on. Its inputs go by stream.Answer.Send.
func (c *Client) OpenTools(ctx context.Context, call stream.Call) (*stream.Answer, error) {
	call.Lane = tools
	return c.call(ctx, call)
}

func (c *Client) call(ctx context.Context, call stream.Call) (*stream.Answer, error) {
	if call.ID == "" {
		call.ID = NewID()
	}
	if !ValidID(call.ID) {
		return nil, fmt.Errorf("call id %q is not from NewID", call.ID)
	}
	call.QueuedAt = time.Now().UTC()
	q, _, _ := queueOf(call.Lane)
	if err := c.admit(ctx, q, call.Owner); err != nil {
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

// Waiting returns how many completions are in line, by a figure that may be a little
// old. Errors: QueueUnavailable.
func (c *Client) Waiting(ctx context.Context) (int64, error) {
	if err := c.memory.admit(ctx, c.rdb); err != nil {
		return 0, err
	}
	l, err := c.line(ctx, Infer)
	return l.Waiting, err
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

// issue puts a ticket on the queue of a lane and announces it; that it is there already is
// success.
func (c *Client) issue(ctx context.Context, l stream.Lane, id string) error {
	_, channel, kind := queueOf(l)
	t, err := kind.Task(Ticket{ID: id})
	if err != nil {
		return err
	}
	if err := c.outbox.enqueue(ctx, plainOwner, id, t); err != nil {
		return err
	}
	if err := c.rdb.Publish(ctx, channel, "").Err(); err != nil {
		return unavailable(err)
	}
	return nil
}

// HandleCalls makes the server run completions. The handler sends the answer and ends
// it by stream.Run.Finish; an error that it returns before it sent anything makes
// the call run again when the server stops, else it ends the answer. ctx ends
// when nobody waits any more (stream.ErrLeft), when another run has the call, and
// when the server stops; it is for Idle, too. Call HandleCalls before Start.
func HandleCalls(s *Server, h func(ctx context.Context, run *stream.Run) error) {
	handleLane(s, completions, func(ctx context.Context, run *stream.Run) error {
		return h(context.WithValue(ctx, placesKey{}, s.limits.places), run)
	})
}

// HandleTools is HandleCalls for sessions with built-in tools. offer is what the
// worker can do for them; it is asked every few seconds, and clients hear of it by
// Client.Offers.
func HandleTools(s *Server, offer func() Offer, h func(ctx context.Context, run *stream.Run) error) {
	s.offers = offer
	handleLane(s, tools, h)
}

func handleLane(s *Server, l stream.Lane, h func(ctx context.Context, run *stream.Run) error) {
	_, _, kind := queueOf(l)
	HandlePlain(s, kind, func(ctx context.Context, t Ticket) error {
		return s.calls.Serve(ctx, l, t.ID, func(ctx context.Context, run *stream.Run) error {
			return guarded(func() error { return h(ctx, run) })
		})
	})
}
