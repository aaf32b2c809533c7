package tasks

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"presswork/tasks/asynqext"
	"presswork/tasks/stream"
)

// callQueue is what a queue of calls is: the kind of its tasks, and the channel on which
// their arrival is announced.
func callQueue(q Queue) (kind Kind[CallTask], channel string) {
	if q == Tools {
		return ServeTools, toolChannel
	}

	return ServeCall, callChannel
}

// hasCalls reports whether a queue is for calls, which live as long as their callers.
func hasCalls(q Queue) bool { return q == Infer || q == Tools }

// Call puts a completion on its queue, as a call with an id of its own where it has none,
// and returns its answer, which is to be closed. An error means that no worker gets the
// call. ctx bounds the making of the call only.
// Errors: QueueFull, QueueUnavailable, IdempotencyConflict.
func (c *Client) Call(ctx context.Context, call stream.Call) (*stream.Answer, error) {
	return c.call(ctx, Infer, call)
}

// OpenTools is Call for a session with built-in tools, for a worker that HandleTools
// is called on. Its inputs go by stream.Answer.Send.
func (c *Client) OpenTools(ctx context.Context, call stream.Call) (*stream.Answer, error) {
	return c.call(ctx, Tools, call)
}

func (c *Client) call(ctx context.Context, q Queue, call stream.Call) (*stream.Answer, error) {
	if call.ID == "" {
		call.ID = NewID()
	}

	if !ValidID(call.ID) {
		return nil, fmt.Errorf("call id %q is not from NewID", call.ID)
	}
	call.QueuedAt = c.clock.exact().UTC()

	call.Queue = string(q)
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

// Waiting returns how many completions wait, by a figure that may be a little
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

// tierOf is the tier of a call's task.
func tierOf(t stream.Tier) asynqext.Tier {
	switch t {
	case stream.Performance:
		return asynqext.Urgent
	case stream.Flex:
		return asynqext.Flex
	}

	return asynqext.Normal
}

// enqueueCall puts the task of a call on its queue and announces it.
func (c *Client) enqueueCall(ctx context.Context, call stream.Call, id string) error {
	q := Queue(call.Queue)
	kind, channel := callQueue(q)

	t, err := kind.Task(CallTask{ID: id})
	if err != nil {
		return err
	}

	place := asynqext.Place{Owner: string(call.Tier) + ":" + call.Owner, Tier: tierOf(call.Tier), Channel: channel}

	return c.outbox.enqueue(ctx, place, id, t)
}

// dropCall takes the task of a call without waiters off its queue.
func (c *Client) dropCall(ctx context.Context, call stream.Call, id string) {
	if err := asynqext.Withdraw(ctx, c.rdb, Queue(call.Queue), id); err != nil {
		c.log.Debug("the task of a call that was left stays on its queue until its turn", "task_id", id, "err", err)
	}
}

// HandleCalls makes the server run completions. The handler sends the answer and ends
// it by stream.Run.Finish; an error that it returns before it sent anything makes
// the call run again when the server stops, else it ends the answer. ctx ends
// when nobody waits any more (stream.ErrLeft), when another run has the call, and
// when the server stops; it is for Idle, too. Call HandleCalls before Start.
func HandleCalls(s *Server, h func(ctx context.Context, run *stream.Run) error) {
	handleCalls(s, Infer, func(ctx context.Context, run *stream.Run) error {
		return h(context.WithValue(ctx, placesKey{}, s.limits.places), run)
	})
}

// HandleTools is HandleCalls for sessions with built-in tools. offer is what the
// worker can do for them; it is asked every few seconds, and clients hear of it by
// Client.Offers.
func HandleTools(s *Server, offer func() Offer, h func(ctx context.Context, run *stream.Run) error) {
	s.offers = offer
	handleCalls(s, Tools, h)
}

func handleCalls(s *Server, q Queue, h func(ctx context.Context, run *stream.Run) error) {
	kind, _ := callQueue(q)
	HandlePlain(s, kind, func(ctx context.Context, t CallTask) error {
		return s.calls.Serve(ctx, t.ID, func(ctx context.Context, run *stream.Run) error {
			return guarded(func() error { return h(ctx, run) })
		})
	})
}
