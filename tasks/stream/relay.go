package stream

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/internal/fault"
)

// reenqueueAfter is how long a call waits before its task is queued again, because a failover may have lost the task
// but not the call. A task that exists stays as it is.
const reenqueueAfter = 15 * time.Second

// ErrNotBegun is the cause of the error when no worker has begun the call within Call.MaxWait.
var ErrNotBegun = errors.New("no worker has begun the call")

// Client creates calls and routes their frames to the answers of this process, over one subscription.
type Client struct {
	rdb redis.UniversalClient
	o   ClientOptions
	// channel receives the frames of all calls of this client, so that one message can carry the frames of many
	// calls.
	channel string

	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	// sub is the subscription to channel; nil before Start.
	sub *redis.PubSub

	// outage is outageLimit; tests shorten it. unansweredSince is when Redis stopped answering; zero while it
	// answers.
	outage          time.Duration
	unansweredSince time.Time

	// mu guards answers and ended.
	mu sync.Mutex
	// answers maps the id of a call to its open answers, with the time since which each has waited.
	answers map[string]map[*Answer]time.Time
	// ended is the error of further calls after Stop; nil before.
	ended error
}

// ClientOptions configure a Client. All fields are mandatory.
type ClientOptions struct {
	// Enqueue queues the task of a call; it succeeds when the task exists. Drop removes a waiting task from its
	// queue.
	Enqueue func(ctx context.Context, call Call, task string) error
	Drop    func(ctx context.Context, call Call, task string)
	// Left and Input are channels to the workers. Left has the runs without callers, Input the ids of calls that
	// have an input: see Server.Left and Server.Input.
	Left, Input string
	// Log receives messages for the operator.
	Log *slog.Logger
}

// NewClient returns a client. It does not connect.
func NewClient(rdb redis.UniversalClient, o ClientOptions) *Client {
	ctx, cancel := context.WithCancel(context.Background())

	return &Client{
		rdb: rdb, o: o, channel: "pw:answers:" + newID(), ctx: ctx, cancel: cancel, outage: outageLimit,
		answers: map[string]map[*Answer]time.Time{},
	}
}

// Start begins to relay frames.
func (c *Client) Start() {
	c.sub = c.rdb.Subscribe(c.ctx)
	c.running.Go(c.routeAll)
	c.running.Go(c.renew)
}

// Stop ends every answer with QueueUnavailable, and waits until nothing is relayed any more.
func (c *Client) Stop() {
	c.mu.Lock()

	c.ended = fault.Errorf(fault.QueueUnavailable, "the server is stopping")
	for _, set := range c.answers {
		for a := range set {
			a.fail(c.ended)
		}
	}
	c.mu.Unlock()
	c.cancel()

	if c.sub != nil {
		// Closing fails only when the Redis client was closed first.
		_ = c.sub.Close()
	}
	c.running.Wait()
}

// addAnswer registers an answer for the frames of a call. It must precede the creation of the call, so that no
// frame is published before. Errors: QueueUnavailable when the client does not run.
func (c *Client) addAnswer(call Call) (*Answer, error) {
	id := call.ID
	a := &Answer{
		ID:      id,
		client:  c,
		call:    call,
		waiter:  newID(),
		linger:  call.Shared || call.IdempotencyKey != "",
		maxWait: call.MaxWait,
		next:    1,
		changed: make(chan struct{}, 1),
	}
	a.call.Body = nil
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.ended != nil || c.sub == nil {
		return nil, fault.Errorf(fault.QueueUnavailable, "the server is not running").WithCause(c.ended)
	}

	if c.answers[id] == nil {
		c.answers[id] = map[*Answer]time.Time{}
	}
	c.answers[id][a] = time.Now()

	return a, nil
}

// leaveCall removes an answer, and notifies the call's worker when no caller waits any more.
func (c *Client) leaveCall(a *Answer) {
	c.removeAnswer(a)

	if _, open := a.position(); !open {
		return
	}

	linger := time.Duration(0)
	if a.linger {
		linger = lingerTTL
	}

	ctx, cancel := context.WithTimeout(context.Background(), redisTimeout)
	defer cancel()

	left, err := leaveScript.Run(ctx, c.rdb, []string{callKey(a.ID), waitersKey(a.ID)},
		a.waiter, linger.Milliseconds(), c.o.Left).Int()
	if err != nil {
		// The worker notices when the waiter is not renewed.
		c.o.Log.Warn("the worker of a call could not be notified that its caller left", "call_id", a.ID, "err", err)
	}

	if left == 2 {
		c.o.Drop(ctx, a.call, TaskID(a.ID, a.waiter))
	}
}

// removeAnswer stops routing frames to an answer.
func (c *Client) removeAnswer(a *Answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.answers[a.ID], a)

	if len(c.answers[a.ID]) == 0 {
		delete(c.answers, a.ID)
	}
}

// routeAll routes published messages to the answers until Stop.
func (c *Client) routeAll() {
	// go-redis reconnects after an error and subscribes again.
	_ = c.sub.Subscribe(c.ctx, c.channel)
	for m := range c.sub.ChannelWithSubscriptions(redis.WithChannelSize(relayBuffer)) {
		switch m := m.(type) {
		case *redis.Message:
			c.route(m.Payload)
		case *redis.Subscription:
			// Frames that were published before the subscription existed are in the streams.
			c.checkStreams()
		}
	}
}

// checkStreams makes every answer check its stream for missed frames.
func (c *Client) checkStreams() {
	c.mu.Lock()
	defer c.mu.Unlock()

	for _, set := range c.answers {
		for a := range set {
			a.checkStream()
		}
	}
}

// route delivers a message to its calls. A message has three parts for each call: "id seq last", the frames of the
// entry, and an empty line. "id look" means that the stream must be read: the call was written again, or the entry
// is too large to be published.
func (c *Client) route(message string) {
	c.mu.Lock()
	defer c.mu.Unlock()

	for len(message) > 0 {
		var head, data string
		head, message, _ = strings.Cut(message, "\n")
		data, message = cutEntry(message)

		id, entry, _ := strings.Cut(head, " ")
		if entry == "look" {
			for a := range c.answers[id] {
				a.checkStream()
			}
			continue
		}
		number, end, _ := strings.Cut(entry, " ")

		seq, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			c.o.Log.Error("a frame has no number", "call_id", id)
			return
		}

		for a := range c.answers[id] {
			a.receive(seq, streamEntry{[]byte(data), endMark(end)})
		}
	}
}

// cutEntry cuts a message after the frames of its first entry, of which there may be none.
func cutEntry(message string) (frames, rest string) {
	if after, none := strings.CutPrefix(message, "\n"); none {
		return "", after
	}
	frames, rest, _ = strings.Cut(message, "\n\n")

	return frames, rest
}

// renew periodically renews the waiter of each answer. It also finds lost frames, tasks and calls.
func (c *Client) renew() {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()

	for {
		select {
		case <-c.ctx.Done():
			return
		case <-tick.C:
			c.renewAll()
		}
	}
}

// waitingAnswer is an open answer during one renewal.
type waitingAnswer struct {
	*Answer
	// since is when the caller began to wait.
	since time.Time
	// next is the sequence number of the next entry before the renewal.
	next int64
	// state is the reply of renewScript.
	state *redis.Cmd
}

// openAnswers returns the answers that expect more frames.
func (c *Client) openAnswers() []*waitingAnswer {
	c.mu.Lock()
	defer c.mu.Unlock()

	var all []*waitingAnswer

	for _, set := range c.answers {
		for a, since := range set {
			if next, open := a.position(); open {
				all = append(all, &waitingAnswer{Answer: a, since: since, next: next})
			}
		}
	}

	return all
}

// renewAll renews the waiters of the open answers once, in one pipeline. After an outage of outageLimit it ends them.
func (c *Client) renewAll() {
	all := c.openAnswers()
	if len(all) == 0 {
		return
	}

	ctx, cancel := context.WithTimeout(c.ctx, renewEvery)
	defer cancel()

	err := runAll(ctx, c.rdb, renewScript, func(p redis.Pipeliner) error {
		for _, w := range all {
			w.state = renewScript.EvalSha(ctx, p, []string{callKey(w.ID), waitersKey(w.ID)}, w.waiter,
				waiterTTL.Milliseconds(), waiterTTL.Milliseconds(), c.channel,
				w.maxWait > 0 && time.Since(w.since) >= w.maxWait, !w.linger)
			_ = w.sendInput(ctx, p) // the pipeline returns the error
		}

		return nil
	})
	if err != nil {
		c.o.Log.Warn("waiting calls could not be renewed", "calls", len(all), "err", err)

		if c.unansweredSince.IsZero() {
			c.unansweredSince = time.Now()
		}

		if time.Since(c.unansweredSince) >= c.outage {
			outageErr := fault.Errorf(fault.QueueUnavailable,
				"the queue did not answer for %s; send the request again", c.outage).WithCause(err)
			for _, w := range all {
				w.fail(outageErr)
			}
		}

		return
	}
	// Directly after an outage, "dead" proves nothing: the workers also need time to show that they are alive.
	afterOutage := !c.unansweredSince.IsZero()
	c.unansweredSince = time.Time{}

	for _, w := range all {
		c.handleRenewal(ctx, w, afterOutage)
	}
}

// handleRenewal acts on the reply of renewScript about one answer. It ends the answer when the call is lost, and makes
// its reader fetch entries that were not received. It queues the task of a call again that no run has begun.
func (c *Client) handleRenewal(ctx context.Context, w *waitingAnswer, afterOutage bool) {
	reply, err := w.state.StringSlice()
	if err != nil {
		c.o.Log.Error("a waiting call cannot be read", "call_id", w.ID, "err", err)
		return
	}

	if reply[0] == "gone" {
		if w.missed++; w.missed >= lostAfter {
			w.fail(fault.Errorf(fault.QueueUnavailable, "the queue has lost this request; send it again"))
		}

		return
	}

	w.missed = 0

	switch {
	case reply[0] == "late":
		if !w.linger {
			c.o.Drop(ctx, w.call, TaskID(w.ID, w.waiter))
		}

		w.fail(fault.Errorf(fault.QueueUnavailable,
			"no worker has begun this request within %s; send it again later", w.maxWait).
			WithAfter(retryAfter).WithCause(ErrNotBegun))
	case reply[0] == "dead" && afterOutage:
	case reply[0] == "dead":
		w.fail(fault.Errorf(fault.QueueUnavailable, "the worker of this request is gone; send it again"))
	case entriesIn(reply[1]) >= w.next:
		w.checkStream()
	case reply[2] == "" && time.Since(w.since) > reenqueueAfter: // no run has begun
		if err := c.o.Enqueue(ctx, w.call, TaskID(w.ID, reply[3])); err != nil {
			c.o.Log.Warn("a waiting call could not be enqueued again", "call_id", w.ID, "err", err)
		}
	}
}

// entriesIn parses the number of entries in the stream of an answer, as renewScript returns it.
func entriesIn(seq string) int64 {
	n, _ := strconv.ParseInt(seq, 10, 64)
	return n
}
