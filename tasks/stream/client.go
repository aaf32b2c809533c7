package stream

import (
	"context"
	"encoding/json"
)

// Call creates a call, queues its task and returns the answer, which the caller must close. If a call with the
// same ID exists, Call joins it and returns its answer from the beginning. After an error no worker gets the call.
// ctx bounds only the creation; the queueing is bounded by two seconds, so that it does not stop half-way. Errors:
// QueueUnavailable.
func (c *Client) Call(ctx context.Context, call Call) (*Answer, error) {
	answer, err := c.addAnswer(call)
	if err != nil {
		return nil, err
	}

	created, err := c.createCall(ctx, call, answer.waiter)
	if err == nil && created {
		ectx, cancel := context.WithTimeout(context.WithoutCancel(ctx), redisTimeout)
		defer cancel()
		err = c.o.Enqueue(ectx, call, TaskID(call.ID, answer.waiter))
	}

	if err != nil {
		answer.Close()

		if created {
			// The task may not be on the queue: a retry must not join this call and wait for it.
			c.forgetCall(call.ID)
		}

		return nil, err
	}

	if answer.Joined = !created; answer.Joined {
		answer.checkStream()
	}

	return answer, nil
}

// createCall writes the call; created is false when the call exists.
func (c *Client) createCall(ctx context.Context, call Call, waiter string) (created bool, err error) {
	b, err := json.Marshal(call)
	if err != nil {
		return false, err
	}

	endedTTL := finishedTTL
	if call.IdempotencyKey != "" {
		endedTTL = joinableTTL
	}

	created, err = createCallScript.Run(ctx, c.rdb, []string{callKey(call.ID), waitersKey(call.ID), framesKey(call.ID)},
		waiter, waiterTTL.Milliseconds(), b, callTTL.Milliseconds(), endedTTL.Milliseconds(), c.channel,
		call.Shared).Bool()
	if err != nil {
		return false, unavailable(err)
	}

	return created, nil
}

// forgetCall deletes a call whose task could not be queued.
func (c *Client) forgetCall(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), redisTimeout)
	defer cancel()

	if err := forgetScript.Run(ctx, c.rdb, callKeys(id), "").Err(); err != nil {
		c.o.Log.Warn("a call that could not be queued stays in Redis until it expires", "call_id", id, "err", err)
	}
}
