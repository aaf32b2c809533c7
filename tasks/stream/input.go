package stream

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// Send sends an input of at most 1 MiB to the run of the call. The run answers it by a frame. Do not send another
// input before that: it replaces the previous one. The client sends the input again every few seconds until the
// answer arrives, so that it survives an outage or restart of Redis. Errors: the input is too large.
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

// sendInput sends the last input if the run has not answered it.
func (a *Answer) sendInput(ctx context.Context, rdb redis.Scripter) error {
	a.mu.Lock()
	input, number, received := a.input, a.inputs, a.next-1
	a.mu.Unlock()

	if input == nil {
		return nil
	}

	return inputScript.Eval(ctx, rdb, []string{callKey(a.ID), framesKey(a.ID)}, number, input, received, a.client.o.Input,
		a.ID).
		Err()
}

// Receive waits for the caller's next input. Errors: the cause of the run's end, and the cause of ctx.
func (r *Run) Receive(ctx context.Context) ([]byte, error) {
	for {
		input, err := r.nextInput(ctx)
		if input != nil {
			return input, nil
		}

		if err != nil {
			// Server.checkCalls wakes this loop again once Redis answers.
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

// nextInput returns the input after the last received one; nil when there is none.
func (r *Run) nextInput(ctx context.Context) ([]byte, error) {
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

// isNew reports whether the run has not yet received the input with this number.
func (r *Run) isNew(n int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()

	return n > r.inputs
}

// wake makes Receive check for an input.
func (r *Run) wake() {
	select {
	case r.arrived <- struct{}{}:
	default:
	}
}
