package tasks

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork"
)

// Call puts a call in line and returns its answer, which is to be closed. An
// error means that nobody will work at it. ctx bounds the putting in line only.
// Errors: QueueFull, QueueUnavailable, IdempotencyConflict.
func (c *Client) Call(ctx context.Context, call Call) (*Answer, error) {
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
	answer, err := c.calls.listen(call.ID, call.IdempotencyKey != "")
	if err != nil {
		return nil, err
	}
	made, err := c.makeCall(ctx, call, answer.waiter)
	if err == nil && made {
		// The caller's leaving must not end this half-way.
		ectx, cancel := context.WithTimeout(context.WithoutCancel(ctx), enqueueTimeout)
		defer cancel()
		err = c.stand(ectx, call)
	}
	if err != nil {
		answer.Close()
		if made {
			// It may not stand in line: a retry must not wait for it.
			c.forget(call.ID)
		}
		return nil, err
	}
	if !made {
		answer.lookUp()
	}
	return answer, nil
}

// forget drops a call that could not be put in line.
func (c *Client) forget(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*ioTimeout)
	defer cancel()
	if err := forgetScript.Run(ctx, c.rdb, callKeys(id), "").Err(); err != nil {
		c.log.Warn("a call that was not put in line stays for a while", "call_id", id, "err", err)
	}
}

// Waiting tells how many calls are in line, by a figure that may be a little
// old. Errors: QueueUnavailable.
func (c *Client) Waiting(ctx context.Context) (int64, error) {
	switch err := c.admit(ctx, Infer); {
	case presswork.CodeOf(err) == presswork.QueueFull:
		return c.maxPending, nil
	case err != nil:
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.fullness[Infer].pending, nil
}

// bindCall binds the idempotency key to the call's id, or returns the id that
// it is bound to.
func (c *Client) bindCall(ctx context.Context, call Call) (id string, err error) {
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

// makeCall writes the call; made is false when it is there already.
func (c *Client) makeCall(ctx context.Context, call Call, waiter string) (made bool, err error) {
	b, err := json.Marshal(call)
	if err != nil {
		return false, err
	}
	memory := callMemory
	if call.IdempotencyKey != "" {
		memory = joinMemory
	}
	made, err = makeCallScript.Run(ctx, c.rdb, []string{callKey(call.ID), waitersKey(call.ID)},
		waiter, waiterTTL.Milliseconds(), b, callTTL.Milliseconds(), memory.Milliseconds()).Bool()
	if err != nil {
		return false, unavailable(err)
	}
	return made, nil
}

// stand puts the call into its line, and a ticket for one more call on the
// queue: the line first, because a ticket that finds nothing in it does nothing.
func (c *Client) stand(ctx context.Context, call Call) error {
	who := string(call.Tier) + ":" + call.Owner
	err := standScript.Run(ctx, c.rdb, []string{ringKey(call.Tier)}, linePrefix, who, call.ID).Err()
	if err != nil {
		return unavailable(err)
	}
	return c.issue(ctx, call.ID)
}

// issue puts a ticket on the queue and rings; that it is there already is
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
