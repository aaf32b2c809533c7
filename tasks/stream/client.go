package stream

import (
	"context"
	"encoding/json"
)

// Call puts a call in line, a ticket on the queue, and returns the answer, which
// is to be closed. A call whose ID is there already is joined instead, from the
// beginning of its answer. An error means that nobody will work at it. ctx bounds the making;
// standing in line must not end half-way with it, and is bounded by two seconds.
// Errors: QueueUnavailable.
func (c *Client) Call(ctx context.Context, call Call) (*Answer, error) {
	answer, err := c.listen(call)
	if err != nil {
		return nil, err
	}
	made, err := c.makeCall(ctx, call, answer.waiter)
	if err == nil && made {
		ectx, cancel := context.WithTimeout(context.WithoutCancel(ctx), redisTimeout)
		defer cancel()
		err = c.stand(ectx, call, answer.waiter)
	}
	if err != nil {
		answer.Close()
		if made {
			// It may not stand in line: a retry must not wait for it.
			c.forget(call.ID)
		}
		return nil, err
	}
	if answer.Joined = !made; !made {
		answer.lookUp()
	}
	return answer, nil
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
	made, err = makeCallScript.Run(ctx, c.rdb, []string{callKey(call.ID), waitersKey(call.ID), framesKey(call.ID)},
		waiter, waiterTTL.Milliseconds(), b, callTTL.Milliseconds(), memory.Milliseconds(), c.channel).Bool()
	if err != nil {
		return false, unavailable(err)
	}
	return made, nil
}

// stand puts the call into its line, and a ticket for one more call on the
// queue: the line first, because a ticket that finds nothing in it does nothing. The
// ticket has the waiter's id: one with the call's may still be out, for a run of the same
// call that everybody left.
func (c *Client) stand(ctx context.Context, call Call, waiter string) error {
	who := string(call.Tier) + ":" + call.Owner
	err := standScript.Run(ctx, c.rdb, []string{ringKey(call.Lane, call.Tier)}, linePrefix(call.Lane), who, call.ID).Err()
	if err != nil {
		return unavailable(err)
	}
	return c.o.Issue(ctx, call.Lane, waiter)
}

// forget drops a call that could not be put in line.
func (c *Client) forget(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), redisTimeout)
	defer cancel()
	if err := forgetScript.Run(ctx, c.rdb, callKeys(id), "").Err(); err != nil {
		c.o.Log.Warn("a call that was not put in line stays for a while", "call_id", id, "err", err)
	}
}
