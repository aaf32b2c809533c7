package stream

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// Send gives the call's run an input, of at most 1 MB. The run answers by a frame, and
// until then nothing else may be sent: an input replaces the one before. It is sent again now
// and then until the answer comes, so that neither an outage of Redis nor its
// restart loses it. Errors are those of an input that is too large.
func (a *Answer) Send(ctx context.Context, input []byte) error {
	if len(input) > maxInput {
		return fmt.Errorf("an input of %d bytes is too large for a call; allowed is %d", len(input), maxInput)
	}
	a.mu.Lock()
	a.inputs++
	a.input = input
	a.mu.Unlock()

	if err := a.sendInput(ctx, a.client.rdb); err != nil {
		a.client.o.Log.Debug("an input of a call is sent again later", "call_id", a.ID, "err", err)
	}

	return nil
}

// sendInput sends the last input, where there is one without an answer.
func (a *Answer) sendInput(ctx context.Context, rdb redis.Scripter) error {
	a.mu.Lock()
	input, n, have := a.input, a.inputs, a.next-1
	a.mu.Unlock()

	if input == nil {
		return nil
	}

	return inputScript.Eval(ctx, rdb, []string{callKey(a.ID), framesKey(a.ID)}, n, input, have, a.client.o.Input, a.ID).
		Err()
}

// Receive waits for the caller's next input. The error is the cause of the run's
// end, or that of ctx.
func (r *Run) Receive(ctx context.Context) ([]byte, error) {
	for {
		input, err := r.input(ctx)
		if input != nil {
			return input, nil
		}

		if err != nil {
			// The next look of the server finds it, once Redis is back.
			r.writer.log.Debug("a call's input could not be read", "call_id", r.ID, "err", err)
		}

		select {
		case <-r.arrived:
		case <-r.ctx.Done():
			return nil, context.Cause(r.ctx)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// input returns the input after the last one, nil when it is not there yet.
func (r *Run) input(ctx context.Context) ([]byte, error) {
	f, err := r.writer.rdb.HMGet(ctx, callKey(r.ID), "inputs", "input").Result()
	if err != nil {
		return nil, unavailable(err)
	}
	number, _ := f[0].(string)

	input, ok := f[1].(string)
	if !ok {
		return nil, nil
	}

	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return nil, errors.New("the input of a call has no number")
	}

	if !r.isNew(n) {
		return nil, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inputs = n

	return []byte(input), nil
}

// isNew reports whether the input of this number was not received yet.
func (r *Run) isNew(n int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()

	return n > r.inputs
}

// wake makes Receive look.
func (r *Run) wake() {
	select {
	case r.arrived <- struct{}{}:
	default:
	}
}
