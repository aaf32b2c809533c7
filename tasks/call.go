package tasks

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"presswork/tasks/asynqext"
	"presswork/tasks/record"
	"presswork/tasks/stream"
)

// callKind returns a kind of call by its name.
func callKind(name string) (Kind[CallTask], error) {
	for _, k := range []Kind[CallTask]{
		ServeCall, ServeTools, Kind[CallTask](RenderPreview), Kind[CallTask](DrawDiagrams),
	} {
		if k.Name == name {
			return k, nil
		}
	}

	return Kind[CallTask]{}, fmt.Errorf("no kind of call is named %q", name)
}

// announced returns the queues that have only calls, with the channel on which the arrival of
// their tasks is announced.
func announced() map[Queue]string { return map[Queue]string{Infer: callChannel, Tools: toolChannel} }

// hasOnlyCalls reports whether a queue has no jobs: its calls come in tiers, and its tasks
// live as long as their callers.
func hasOnlyCalls(q Queue) bool { return announced()[q] != "" }

// Call puts a completion on its queue, as a call with an id of its own where it has none,
// and returns its answer, which is to be closed. An error means that no worker gets the
// call. ctx bounds the making of the call only.
// Errors: QueueFull, QueueUnavailable, IdempotencyConflict.
func (c *Client) Call(ctx context.Context, call stream.Call) (*stream.Answer, error) {
	call.Kind = ServeCall.Name
	return c.call(ctx, call)
}

// OpenTools is Call for a session with built-in tools, for a worker that HandleTools
// is called on. Its inputs go by stream.Answer.Send.
func (c *Client) OpenTools(ctx context.Context, call stream.Call) (*stream.Answer, error) {
	call.Kind = ServeTools.Name
	return c.call(ctx, call)
}

func (c *Client) call(ctx context.Context, call stream.Call) (*stream.Answer, error) {
	kind, err := callKind(call.Kind)
	if err != nil {
		return nil, err
	}

	if call.ID == "" {
		call.ID = NewID()
	}

	if !ValidID(call.ID) {
		return nil, fmt.Errorf("call id %q is not from NewID", call.ID)
	}
	call.QueuedAt = c.clock.Exact().UTC()

	if err := c.admit(ctx, kind.Queue, call.Owner); err != nil {
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
		return "", record.Unavailable(err)
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
	kind, err := callKind(call.Kind)
	if err != nil {
		return err
	}

	t, err := kind.Task(CallTask{ID: id})
	if err != nil {
		return err
	}

	place := asynqext.Place{Owner: call.Owner}
	if hasOnlyCalls(t.Queue) {
		place = asynqext.Place{
			Owner: string(call.Tier) + ":" + call.Owner, Tier: tierOf(call.Tier), Channel: announced()[t.Queue],
		}
	}

	return c.outbox.enqueue(ctx, place, id, t)
}

// dropCall takes the task of a call without waiters off its queue.
func (c *Client) dropCall(ctx context.Context, call stream.Call, id string) {
	kind, err := callKind(call.Kind)
	if err == nil {
		err = asynqext.Withdraw(ctx, c.rdb, kind.Queue, id)
	}

	if err != nil {
		c.log.Debug("the task of a call that was left stays on its queue until its turn", "task_id", id, "err", err)
	}
}

// HandleCalls makes the server run completions. The handler sends the answer and ends
// it by stream.Run.Finish; an error that it returns before it sent anything makes
// the call run again when the server stops, else it ends the answer. ctx ends
// when no caller waits any more (stream.ErrLeft), when another run has the call, and
// when the server stops; it is for Idle, too. Call HandleCalls before Start.
func HandleCalls(s *Server, h func(ctx context.Context, run *stream.Run) error) {
	handleCalls(s, ServeCall, func(ctx context.Context, run *stream.Run) error {
		return h(s.slots.WithIdle(ctx, Infer), run)
	})
}

// HandleTools is HandleCalls for sessions with built-in tools. offer is what the
// worker can do for them; it is asked every few seconds, and clients hear of it by
// Client.Offers.
func HandleTools(s *Server, offer func() Offer, h func(ctx context.Context, run *stream.Run) error) {
	s.offers = offer
	handleCalls(s, ServeTools, h)
}

func handleCalls(s *Server, kind Kind[CallTask], h func(ctx context.Context, run *stream.Run) error) {
	HandlePlain(s, kind, func(ctx context.Context, t CallTask) error {
		return s.calls.Serve(ctx, t.ID, func(ctx context.Context, run *stream.Run) error {
			return guarded(func() error { return h(ctx, run) })
		})
	})
}
