package watch

import (
	"context"
	"encoding/json"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/internal/fault"
	"presswork/tasks/record"
)

const (
	// checkEvery is the time between two reads of the watched jobs. A lost message therefore delays a watcher but
	// never leaves it waiting.
	checkEvery = 5 * time.Second
	// relayBuffer is how many messages go-redis may buffer while events are routed. Routing never waits.
	relayBuffer = 4096
	// idLength is the length of a job's id.
	idLength = 26
)

// Relay is the only event subscription of a process. It routes each event to the watchers of its job.
type Relay struct {
	records *record.Records
	log     *slog.Logger

	ctx       context.Context
	cancel    context.CancelFunc
	startOnce sync.Once
	running   sync.WaitGroup
	// subscribed is closed once the subscription exists.
	subscribed chan struct{}

	// mu guards the fields below.
	mu sync.Mutex
	// watchers maps the id of a job to its watchers.
	watchers map[string]map[*watcher]struct{}
	// ended is the reason why no more events follow; nil while the relay runs.
	ended error
	// relayed has the counts of Stats, except Watchers.
	relayed EventStats
}

// EventStats counts the events that a process has relayed to its watchers.
type EventStats struct {
	// Watchers is the current number of watchers. Slow counts watches that ended with ErrSlow.
	Watchers, Slow int64
	// Events counts the relayed events. Delay is the sum of their delays.
	Events int64
	// A delay is the time from an event to its routing, by the clock of Redis.
	Delay time.Duration
}

// Stats returns the counts since the start.
func (r *Relay) Stats() EventStats {
	r.mu.Lock()
	defer r.mu.Unlock()

	s := r.relayed
	for _, set := range r.watchers {
		s.Watchers += int64(len(set))
	}

	return s
}

// NewRelay returns a relay for the events of these records. It does not connect.
func NewRelay(recs *record.Records, log *slog.Logger) *Relay {
	ctx, cancel := context.WithCancel(context.Background())

	return &Relay{
		records: recs, log: log, ctx: ctx, cancel: cancel,
		subscribed: make(chan struct{}), watchers: map[string]map[*watcher]struct{}{},
	}
}

// Start begins to relay events; a second call does nothing.
func (r *Relay) Start() {
	r.startOnce.Do(func() { r.running.Go(r.run) })
}

// Stop ends the subscription and every watch.
func (r *Relay) Stop() {
	r.startOnce.Do(func() {}) // a later Start does nothing
	r.endAll(fault.Errorf(fault.QueueUnavailable, "the server is stopping"))
	r.running.Wait()
}

// endAll ends every watch with err. addWatcher returns err from then on.
func (r *Relay) endAll(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if r.ended == nil {
		r.ended = err
	}

	for _, set := range r.watchers {
		for w := range set {
			w.fail(r.ended)
		}
	}
	r.cancel()
}

// run routes events to the watchers. Every checkEvery, and after each reconnect, it compares the watched jobs with
// their records.
func (r *Relay) run() {
	sub := r.records.SubscribeEvents(r.ctx)
	defer sub.Close()
	messages := sub.ChannelWithSubscriptions(redis.WithChannelSize(relayBuffer))

	check := time.NewTicker(checkEvery)
	defer check.Stop()
	// Run one check at a time, in parallel with the routing. The channel remembers one request that arrives during a
	// check.
	checkRequests := make(chan struct{}, 1)
	r.running.Go(func() {
		for {
			select {
			case <-r.ctx.Done():
				return
			case <-checkRequests:
				r.check()
			}
		}
	})
	requestCheck := func() {
		select {
		case checkRequests <- struct{}{}:
		default:
		}
	}
	isFirst := true

	for {
		select {
		case <-r.ctx.Done():
			return
		case <-check.C:
			requestCheck()
		case m, open := <-messages:
			if !open {
				// go-redis gives up only when its client is closed.
				r.endAll(record.Unavailable(redis.ErrClosed))
				return
			}

			switch m := m.(type) {
			case *redis.Message:
				r.route(m.Payload)
			case *redis.Subscription:
				if isFirst {
					isFirst = false
					close(r.subscribed)
				}
				// After a reconnect, messages may have been lost.
				requestCheck()
			}
		}
	}
}

// news is a message to a watcher: an event, or only the latest sequence number of the job.
type news struct {
	seq int64
	// event is nil in a message of a periodic check.
	event *presswork.Event
}

// route sends a published message, "id seq event", to the watchers of the job. It decodes the event only if the job has
// a watcher in this process, which is rare.
func (r *Relay) route(message string) {
	if len(message) <= idLength {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()

	set := r.watchers[message[:idLength]]
	if len(set) == 0 {
		return
	}
	number, text, _ := strings.Cut(message[idLength+1:], " ")

	seq, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		r.log.Error("an event has no sequence number", "message", message)
		return
	}

	event := new(presswork.Event)
	if err := json.Unmarshal([]byte(text), event); err != nil {
		r.log.Error("an event cannot be read", "message", message, "err", err)
		return
	}
	delay := max(0, r.records.Now().Sub(event.At))

	for w := range set {
		select {
		case w.in <- news{seq, event}:
			r.relayed.Events++
			r.relayed.Delay += delay
		default:
			r.relayed.Slow++
			w.fail(ErrSlow)
		}
	}
}

// check sends the watchers of each watched job its latest sequence number.
func (r *Relay) check() {
	r.mu.Lock()

	ids := make([]string, 0, len(r.watchers))
	for id := range r.watchers {
		ids = append(ids, id)
	}
	r.mu.Unlock()

	if len(ids) == 0 {
		return
	}

	ctx, cancel := context.WithTimeout(r.ctx, checkEvery)
	defer cancel()

	seqs, err := r.records.Seqs(ctx, ids)
	if err != nil {
		r.log.Warn("watched jobs could not be read", "jobs", len(ids), "err", err)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()

	for i, id := range ids {
		for w := range r.watchers[id] {
			if seqs[i] == 0 {
				w.fail(record.NotFound(id))
				continue
			}

			select {
			case w.in <- news{seq: seqs[i]}:
			default:
				// The buffer of the watcher is full. If it stays full, the next event ends the watch with ErrSlow.
			}
		}
	}
}

// addWatcher registers w for the news of its job. It returns an error when the relay has ended.
func (r *Relay) addWatcher(w *watcher) error {
	r.mu.Lock()
	defer r.mu.Unlock()

	if r.ended != nil {
		return r.ended
	}

	if r.watchers[w.id] == nil {
		r.watchers[w.id] = map[*watcher]struct{}{}
	}
	r.watchers[w.id][w] = struct{}{}

	return nil
}

// removeWatcher stops routing events to a watcher.
func (r *Relay) removeWatcher(w *watcher) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.watchers[w.id], w)

	if len(r.watchers[w.id]) == 0 {
		delete(r.watchers, w.id)
	}
}
