package tasks

import (
	"context"
	"fmt"

	"presswork/tasks/asynqext"
	"presswork/tasks/stream"
)

// callKind returns a kind of call by its name. The payload on the queue is always a CallTask, whatever the body of
// the call holds.
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

// callChannels maps each queue that has only calls to the channel on which its new tasks are announced.
func callChannels() map[Queue]string { return map[Queue]string{Infer: callChannel, Tools: toolChannel} }

// hasOnlyCalls reports whether a queue has calls and no jobs. Its calls have tiers, and its tasks live as long as
// their callers wait.
func hasOnlyCalls(q Queue) bool { return callChannels()[q] != "" }

// Call queues a completion and returns its answer, which the caller must close. A call without an ID gets a
// new one. ctx bounds only the queueing. An error means that no worker gets the call.
// Errors: QueueFull, QueueUnavailable, IdempotencyConflict.
func (c *Client) Call(ctx context.Context, call stream.Call) (*stream.Answer, error) {
	call.Kind = ServeCall.Name
	return c.call(ctx, call)
}

// OpenTools is Call for a session with built-in tools, which a worker with HandleTools serves.
// stream.Answer.Send sends its inputs.
func (c *Client) OpenTools(ctx context.Context, call stream.Call) (*stream.Answer, error) {
	call.Kind = ServeTools.Name
	return c.call(ctx, call)
}

// call admits and queues a call of any kind.
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

// Waiting returns how many completions wait for a worker; the number is at most 0.1 s old. Errors: QueueUnavailable,
// also when Redis is almost full.
func (c *Client) Waiting(ctx context.Context) (int64, error) {
	if err := c.memory.Admit(ctx, c.rdb); err != nil {
		return 0, err
	}
	l, err := c.queueBacklog(ctx, Infer)

	return l.Waiting, err
}

// bindCall binds the idempotency key to the call's id, or returns the id that it is bound to. Errors:
// IdempotencyConflict, QueueUnavailable.
func (c *Client) bindCall(ctx context.Context, call stream.Call) (id string, err error) {
	// The prefix separates the keys of calls from those of jobs.
	key := idempotencyKey(call.Owner, "call\x00"+call.IdempotencyKey)

	value, _, err := c.setOnce(ctx, key, call.ID+" "+call.Fingerprint, idempotencyTTL)
	if err != nil {
		return "", err
	}

	return boundID(value, call.Fingerprint)
}

// taskTier returns the tier on the queue for a call of tier t.
func taskTier(t stream.Tier) asynqext.Tier {
	switch t {
	case stream.Performance:
		return asynqext.Urgent
	case stream.Flex:
		return asynqext.Flex
	}

	return asynqext.Normal
}

// enqueueCall queues the task of a call and announces it.
func (c *Client) enqueueCall(ctx context.Context, call stream.Call, id string) error {
	kind, err := callKind(call.Kind)
	if err != nil {
		return err
	}

	t, err := kind.Task(CallTask{ID: id})
	if err != nil {
		return err
	}

	turn := asynqext.Turn{Owner: call.Owner}
	if hasOnlyCalls(t.Queue) {
		// Waitlists of different tiers need different names: see asynqext.Turn.
		turn = asynqext.Turn{
			Owner: string(call.Tier) + ":" + call.Owner, Tier: taskTier(call.Tier), Channel: callChannels()[t.Queue],
		}
	}

	return c.outbox.enqueue(ctx, turn, id, t)
}

// dropCall removes the task of a call whose callers have left from its queue. If it fails, a worker drops the task
// at its turn.
func (c *Client) dropCall(ctx context.Context, call stream.Call, id string) {
	kind, err := callKind(call.Kind)
	if err == nil {
		err = asynqext.Withdraw(ctx, c.rdb, kind.Queue, id)
	}

	if err != nil {
		c.log.Debug("the task of an abandoned call stays on its queue until its turn", "task_id", id, "err", err)
	}
}

// HandleCalls makes the server run completions. The handler sends the answer and ends it by
// stream.Run.Finish. When the server stops, an error before the first frame makes the call run again; any
// other error ends the answer. ctx ends when all callers have left (stream.ErrLeft), when another run has
// taken over the call, and when the server stops. slots.Idle accepts it. Call HandleCalls before Start.
func HandleCalls(s *Server, h func(ctx context.Context, run *stream.Run) error) {
	handleCalls(s, ServeCall, func(ctx context.Context, run *stream.Run) error {
		return h(s.slots.WithIdle(ctx, Infer), run)
	})
}

// HandleTools is HandleCalls for sessions with built-in tools. offer returns the tools of the worker. It is
// called every few seconds, and Client.Offers returns the result.
func HandleTools(s *Server, offer func() Offer, h func(ctx context.Context, run *stream.Run) error) {
	s.offers = offer
	handleCalls(s, ServeTools, h)
}

// handleCalls makes the server run calls of a kind.
func handleCalls(s *Server, kind Kind[CallTask], h func(ctx context.Context, run *stream.Run) error) {
	HandlePlain(s, kind, func(ctx context.Context, t CallTask) error {
		return s.calls.Serve(ctx, t.ID, func(ctx context.Context, run *stream.Run) error {
			return recoverPanic(func() error { return h(ctx, run) })
		})
	})
}
