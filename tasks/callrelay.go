package tasks

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork"
)

// reissueAfter is how long a call may stand in line before its ticket is issued
// anew: it may be lost.
const reissueAfter = 15 * time.Second

// callRelay routes the frames of calls to those of this process who wait for
// them, over one connection.
type callRelay struct {
	rdb   redis.UniversalClient
	issue func(ctx context.Context, id string) error
	log   *slog.Logger

	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	sub     *redis.PubSub

	// outage is outageLimit, and away when Redis was found not to answer.
	outage time.Duration
	away   time.Time

	mu      sync.Mutex
	answers map[string]map[*Answer]time.Time
	// changed are calls whose subscription may have to begin or to end. One
	// goroutine sees to it, so that nobody waits for the connection with the lock
	// held.
	changed []string
	wake    chan struct{}
	ended   error
}

func newCallRelay(rdb redis.UniversalClient, log *slog.Logger) *callRelay {
	ctx, cancel := context.WithCancel(context.Background())
	return &callRelay{
		rdb: rdb, log: log, ctx: ctx, cancel: cancel, outage: outageLimit,
		answers: map[string]map[*Answer]time.Time{}, wake: make(chan struct{}, 1),
	}
}

func (r *callRelay) start() {
	r.sub = r.rdb.Subscribe(r.ctx)
	r.running.Go(r.run)
	r.running.Go(r.subscribe)
	r.running.Go(r.renew)
}

// stop ends every answer.
func (r *callRelay) stop() {
	r.mu.Lock()
	r.ended = presswork.Errorf(presswork.QueueUnavailable, "the server is stopping")
	for _, set := range r.answers {
		for a := range set {
			a.fail(r.ended)
		}
	}
	r.mu.Unlock()
	r.cancel()
	if r.sub != nil {
		// It was closed before only if its client was.
		_ = r.sub.Close()
	}
	r.running.Wait()
}

// listen begins to hear a call's frames. What is published before the
// subscription stands is looked up then.
func (r *callRelay) listen(id string, linger bool) (*Answer, error) {
	a := &Answer{ID: id, calls: r, waiter: NewID(), linger: linger, next: 1, news: make(chan struct{}, 1)}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended != nil || r.sub == nil {
		return nil, presswork.Errorf(presswork.QueueUnavailable, "the server is not running").WithCause(r.ended)
	}
	if r.answers[id] == nil {
		r.answers[id] = map[*Answer]time.Time{}
		r.change(id)
	}
	r.answers[id][a] = time.Now()
	return a, nil
}

// change is called with the lock held.
func (r *callRelay) change(id string) {
	r.changed = append(r.changed, id)
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// subscribe keeps the subscriptions those of the calls that somebody hears.
func (r *callRelay) subscribe() {
	subscribed := map[string]bool{}
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-r.wake:
		}
		var begin, end []string
		r.mu.Lock()
		for _, id := range r.changed {
			wanted := len(r.answers[id]) > 0
			switch {
			case wanted && !subscribed[id]:
				subscribed[id] = true
				begin = append(begin, framesKey(id))
			case !wanted && subscribed[id]:
				delete(subscribed, id)
				end = append(end, framesKey(id))
			}
		}
		r.changed = nil
		r.mu.Unlock()
		// An error is that of the connection, which go-redis makes anew and
		// subscribes again; what was missed is looked up then.
		if len(end) > 0 {
			_ = r.sub.Unsubscribe(r.ctx, end...)
		}
		if len(begin) > 0 {
			_ = r.sub.Subscribe(r.ctx, begin...)
		}
	}
}

// leave forgets an answer, and tells the call's worker when nobody waits for it
// any more.
func (r *callRelay) leave(a *Answer) {
	r.unlisten(a)
	if _, open := a.position(); !open {
		return
	}
	linger := time.Duration(0)
	if a.linger {
		linger = lingerTTL
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*ioTimeout)
	defer cancel()
	err := leaveScript.Run(ctx, r.rdb, []string{callKey(a.ID), waitersKey(a.ID)},
		a.waiter, linger.Milliseconds(), cancelChannel, a.ID).Err()
	if err != nil {
		// The worker finds out by itself when the waiter is not renewed.
		r.log.Warn("a call's worker was not told that its caller left", "call_id", a.ID, "err", err)
	}
}

func (r *callRelay) unlisten(a *Answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.answers[a.ID], a)
	if len(r.answers[a.ID]) == 0 {
		delete(r.answers, a.ID)
		r.change(a.ID)
	}
}

func (r *callRelay) run() {
	for m := range r.sub.ChannelWithSubscriptions(redis.WithChannelSize(relayBuffer)) {
		switch m := m.(type) {
		case *redis.Message:
			r.route(m.Channel, m.Payload)
		case *redis.Subscription:
			if m.Kind == "subscribe" {
				// What was published before it stood is in the stream.
				for _, a := range r.of(idOfFrames(m.Channel)) {
					a.lookUp()
				}
			}
		}
	}
}

// idOfFrames is the call whose frames a channel carries.
func idOfFrames(channel string) string {
	const before = len("pw:{")
	if len(channel) < before+idLength {
		return ""
	}
	return channel[before : before+idLength]
}

func (r *callRelay) of(id string) []*Answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	answers := make([]*Answer, 0, len(r.answers[id]))
	for a := range r.answers[id] {
		answers = append(answers, a)
	}
	return answers
}

// route hands on a published piece, "seq last data", or the news that a call was
// written again.
func (r *callRelay) route(channel, message string) {
	if message == "restored" {
		for _, a := range r.of(idOfFrames(channel)) {
			a.lookUp()
		}
		return
	}
	number, rest, _ := strings.Cut(message, " ")
	last, data, _ := strings.Cut(rest, " ")
	seq, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		r.log.Error("a frame has no number", "channel", channel)
		return
	}
	for _, a := range r.of(idOfFrames(channel)) {
		a.hear(seq, piece{[]byte(data), last == "1"})
	}
}

// renew tells now and then that somebody still waits for each call, and finds
// what was lost on the way: frames, tickets, calls.
func (r *callRelay) renew() {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-tick.C:
			r.renewAll()
		}
	}
}

func (r *callRelay) renewAll() {
	type waiting struct {
		*Answer
		since time.Time
		next  int64
		state *redis.Cmd
	}
	var all []waiting
	r.mu.Lock()
	for _, set := range r.answers {
		for a, since := range set {
			if next, open := a.position(); open {
				all = append(all, waiting{Answer: a, since: since, next: next})
			}
		}
	}
	r.mu.Unlock()
	if len(all) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(r.ctx, renewEvery)
	defer cancel()
	_, err := r.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, w := range all {
			all[i].state = renewScript.Eval(ctx, p, []string{callKey(w.ID), waitersKey(w.ID)},
				w.waiter, waiterTTL.Milliseconds(), waiterTTL.Milliseconds())
		}
		return nil
	})
	if err != nil {
		r.log.Warn("waiting calls could not be renewed", "calls", len(all), "err", err)
		if r.away.IsZero() {
			r.away = time.Now()
		}
		if time.Since(r.away) >= r.outage {
			for _, w := range all {
				w.fail(presswork.Errorf(presswork.QueueUnavailable, "the queue did not answer for %s; send the request again", r.outage).WithCause(err))
			}
		}
		return
	}
	// A worker needs a while, too, to tell again that it lives.
	back := !r.away.IsZero()
	r.away = time.Time{}
	for _, w := range all {
		f, err := w.state.StringSlice()
		if err != nil {
			r.log.Error("a waiting call cannot be read", "call_id", w.ID, "err", err)
			continue
		}
		if f[0] == "gone" {
			if w.missed++; w.missed >= lostAfter {
				w.fail(presswork.Errorf(presswork.QueueUnavailable, "the queue has lost this request; send it again"))
			}
			continue
		}
		w.missed = 0
		switch {
		case f[0] == "dead" && back:
		case f[0] == "dead":
			w.fail(presswork.Errorf(presswork.QueueUnavailable, "the worker of this request is gone; send it again"))
		case sent(f[1]) >= w.next:
			w.lookUp()
		case f[2] == "" && time.Since(w.since) > reissueAfter:
			if err := r.issue(ctx, w.ID); err != nil {
				r.log.Warn("a waiting call's ticket could not be issued anew", "call_id", w.ID, "err", err)
			}
		}
	}
}

// sent is how many entries the stream of an answer has, as renewScript says.
func sent(seq string) int64 {
	n, _ := strconv.ParseInt(seq, 10, 64)
	return n
}
