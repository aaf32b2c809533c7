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

	// subscribing keeps the subscriptions in the order of the answers.
	subscribing sync.Mutex

	mu      sync.Mutex
	answers map[string]map[*Answer]time.Time
	ended   error
}

func newCallRelay(rdb redis.UniversalClient, log *slog.Logger) *callRelay {
	ctx, cancel := context.WithCancel(context.Background())
	return &callRelay{rdb: rdb, log: log, ctx: ctx, cancel: cancel, answers: map[string]map[*Answer]time.Time{}}
}

func (r *callRelay) start() {
	r.sub = r.rdb.Subscribe(r.ctx)
	r.running.Go(r.run)
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

// listen begins to hear a call's frames.
func (r *callRelay) listen(id string, linger bool) (*Answer, error) {
	a := &Answer{ID: id, calls: r, waiter: NewID(), linger: linger, next: 1, news: make(chan struct{}, 1)}
	r.subscribing.Lock()
	defer r.subscribing.Unlock()
	r.mu.Lock()
	if r.ended != nil || r.sub == nil {
		defer r.mu.Unlock()
		return nil, presswork.Errorf(presswork.QueueUnavailable, "the server is not running").WithCause(r.ended)
	}
	first := r.answers[id] == nil
	if first {
		r.answers[id] = map[*Answer]time.Time{}
	}
	r.answers[id][a] = time.Now()
	r.mu.Unlock()
	if first {
		// An error is that of the connection, which go-redis makes anew and
		// subscribes again; what was missed is looked up then.
		_ = r.sub.Subscribe(r.ctx, framesKey(id))
	}
	return a, nil
}

// leave forgets an answer, and tells the call's worker when nobody waits for it
// any more.
func (r *callRelay) leave(a *Answer) {
	r.unlisten(a)
	if _, open := a.position(); !open {
		return
	}
	until := ""
	if a.linger {
		until = untilMillis(lingerTTL)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*ioTimeout)
	defer cancel()
	err := leaveScript.Run(ctx, r.rdb, []string{callKey(a.ID), waitersKey(a.ID)},
		a.waiter, untilMillis(0), until, cancelChannel, a.ID).Err()
	if err != nil {
		// The worker finds out by itself when the waiter is not renewed.
		r.log.Warn("a call's worker was not told that its caller left", "call_id", a.ID, "err", err)
	}
}

func (r *callRelay) unlisten(a *Answer) {
	r.subscribing.Lock()
	defer r.subscribing.Unlock()
	r.mu.Lock()
	delete(r.answers[a.ID], a)
	last := len(r.answers[a.ID]) == 0
	if last {
		delete(r.answers, a.ID)
	}
	r.mu.Unlock()
	if last {
		_ = r.sub.Unsubscribe(r.ctx, framesKey(a.ID))
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

// route hands on a published piece, "seq last data".
func (r *callRelay) route(channel, message string) {
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
		state *redis.SliceCmd
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
	until := float64(time.Now().Add(waiterTTL).UnixMilli())
	_, err := r.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, w := range all {
			p.ZAddXX(ctx, waitersKey(w.ID), redis.Z{Score: until, Member: w.waiter})
			all[i].state = p.HMGet(ctx, callKey(w.ID), "by", "seq", "run")
		}
		return nil
	})
	if err != nil {
		r.log.Warn("waiting calls could not be renewed", "calls", len(all), "err", err)
		return
	}
	for _, w := range all {
		f := w.state.Val()
		seq, _ := f[1].(string)
		heard, _ := strconv.ParseInt(seq, 10, 64)
		switch {
		case f[0] == nil && time.Since(w.since) > renewEvery:
			w.fail(presswork.Errorf(presswork.QueueUnavailable, "the queue has lost this request; send it again"))
		case heard >= w.next:
			w.lookUp()
		case f[2] == nil && time.Since(w.since) > reissueAfter:
			if err := r.issue(ctx, w.ID); err != nil {
				r.log.Warn("a waiting call's ticket could not be issued anew", "call_id", w.ID, "err", err)
			}
		}
	}
}
