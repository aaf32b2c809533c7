package tasks

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/tasks/clock"
	"presswork/tasks/record"
	"presswork/tasks/stream"
)

const (
	// vitalsEvery is how often a worker looks how it is, which costs it some
	// milliseconds; what it works at it tells every offerEvery.
	vitalsEvery = 10 * time.Second
	// reportedRuns is how many runs a report names; the rest are counted.
	reportedRuns = 32
)

// Worker is what a worker process reports of itself, at most a few seconds ago.
type Worker struct {
	// Name is the machine's with the process's id.
	Name    string    `json:"name"`
	Started time.Time `json:"started_at"`
	// Queues are those it takes, Slots how many jobs it prints at a time.
	Queues []Queue `json:"queues"`
	Slots  int     `json:"slots"`
	// Running counts its runs by queue; Runs are the oldest of them.
	Running map[Queue]int `json:"running"`
	Runs    []WorkerRun   `json:"runs"`
	Vitals
}

// WorkerRun is a task that a worker is at.
type WorkerRun struct {
	// ID is the task's: a job's id, or that of a task without a job.
	ID    string    `json:"id"`
	Queue Queue     `json:"queue"`
	Kind  string    `json:"kind"`
	Job   bool      `json:"job"`
	Since time.Time `json:"since"`
}

// Vitals are what a process can say of itself.
type Vitals struct {
	// Version is the program's.
	Version string `json:"version,omitempty"`
	// MemoryBytes is what the process has in memory, browsers not counted.
	MemoryBytes int64 `json:"memory_bytes"`
	// Browsers are those it runs.
	Browsers []BrowserVitals `json:"browsers,omitempty"`
}

// BrowserVitals is a browser of a worker.
type BrowserVitals struct {
	// Use is what it is for: documents or pages.
	Use string `json:"use"`
	// Since is when it started; zero while it does not run.
	Since       time.Time `json:"started_at,omitzero"`
	MemoryBytes int64     `json:"memory_bytes"`
	// Prints are those it has done, Busy those it is at, Waiting those that wait for a tab.
	Prints  int64 `json:"prints"`
	Busy    int   `json:"busy"`
	Waiting int   `json:"waiting"`
}

// Report makes the worker report vitals, which it asks for every few seconds. Call
// it before Start.
func (s *Server) Report(vitals func() Vitals) { s.vitals = vitals }

// Slots returns the number of print jobs on this worker and their maximum. Both include jobs before and after
// their print.
func (s *Server) Slots() (used, total int) { return s.slots.Usage(Render) }

// reporter returns what makes the reports of this worker.
func (s *Server) reporter(queues []Queue) func() any {
	started := s.clock.Now()
	var vitals Vitals
	var looked time.Time

	return func() any {
		if s.vitals != nil && time.Since(looked) >= vitalsEvery {
			looked, vitals = time.Now(), s.vitals()
		}
		w := Worker{
			Name: s.name, Started: started, Queues: queues, Slots: s.options.RenderSlots,
			Running: map[Queue]int{}, Runs: []WorkerRun{}, Vitals: vitals,
		}
		runs := s.active.all()
		slices.SortFunc(runs, func(a, b *activeRun) int { return a.began.Compare(b.began) })

		for _, r := range runs {
			w.Running[r.queue]++
			if len(w.Runs) < reportedRuns {
				w.Runs = append(
					w.Runs,
					WorkerRun{ID: r.task, Queue: r.queue, Kind: r.kind, Job: r.fence != "", Since: r.began},
				)
			}
		}

		return w
	}
}

// tell writes the result of state under a key every offerEvery until ctx ends, and then deletes the key. The key
// of a worker that dies expires after offerTTL.
func (s *Server) tell(ctx context.Context, key, what string, state func() any) {
	tick := time.NewTicker(offerEvery)
	defer tick.Stop()
	said := ""
	// The end of ctx cuts no word off: whether that was written would not be known.
	say := func(text string) {
		wctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
		defer cancel()

		err := offerScript.Run(wctx, s.rdb, []string{key}, offerTTL.Milliseconds(), said, text).Err()
		if err != nil && ctx.Err() == nil {
			s.log.Warn("what a worker tells could not be written", "what", what, "err", err)
		}
		said = text
	}

	for {
		b, err := json.Marshal(state())
		if err != nil {
			s.log.Error("what a worker tells cannot be written", "what", what, "err", err)
			return
		}
		say(string(b))

		select {
		case <-tick.C:
		case <-ctx.Done():
			say("")
			return
		}
	}
}

// Fleet is how the workers and the queues are.
type Fleet struct {
	At      time.Time
	Queues  []QueueStats
	Workers []Worker
	// Open counts the jobs that have not ended, Dead those of Search.Dead.
	Open, Dead int64
}

// Fleet returns how the workers and the queues are. Errors: QueueUnavailable.
func (c *Client) Fleet(ctx context.Context) (Fleet, error) {
	f := Fleet{At: c.clock.Now(), Workers: []Worker{}}

	var err error
	if f.Queues, err = c.Stats(ctx); err != nil {
		return f, err
	}

	reports, err := offersScript.Run(ctx, c.rdb, []string{workersKey}).StringSlice()
	if err != nil {
		return f, record.Unavailable(err)
	}

	for _, text := range reports {
		var w Worker
		if err := json.Unmarshal([]byte(text), &w); err != nil {
			c.log.Error("a worker's report cannot be read", "err", err)
			continue
		}
		f.Workers = append(f.Workers, w)
	}
	slices.SortFunc(f.Workers, func(a, b Worker) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), a.Started.Compare(b.Started))
	})
	var open, dead *redis.IntCmd

	_, err = c.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		open, dead = p.ZCard(ctx, record.LedgerKey), p.ZCard(ctx, deadKey)
		return nil
	})
	if err != nil {
		return f, record.Unavailable(err)
	}
	f.Open, f.Dead = open.Val(), dead.Val()

	return f, nil
}

const (
	// offerEvery is how often a worker writes what it offers, and offerTTL how long
	// that holds: a dead worker's tools are missed soon.
	offerEvery = 2 * time.Second
	offerTTL   = 7 * time.Second
)

// Offer describes the built-in tools of a worker. It maps the type of each tool to "", or to the reason why the
// tool is not available.
type Offer map[string]string

// Offers is what the living workers of Tools can do, together.
type Offers struct {
	// Workers counts them.
	Workers int
	// Tools holds by type "" where one of them has the tool, else the reason of one
	// that has not.
	Tools Offer
}

// offerScript says what a worker offers. KEYS: offers. ARGV: how long it holds in
// ms, the offer before this one, offer ("" for no more). It is as volatile as the
// sessions that it is for.
var offerScript = redis.NewScript(stream.Volatile + clock.Lua + `
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', millis())
redis.call('ZREM', KEYS[1], ARGV[2])
if ARGV[3] ~= '' then redis.call('ZADD', KEYS[1], millis() + tonumber(ARGV[1]), ARGV[3]) end
return 1
`)

// offersScript returns the offers that hold. KEYS: offers.
var offersScript = redis.NewScript(clock.Lua + `return redis.call('ZRANGEBYSCORE', KEYS[1], millis(), '+inf')`)

// offered is an offer as it is written, one for each worker.
type offered struct {
	Worker string `json:"worker"`
	Tools  Offer  `json:"tools"`
}

// offer publishes what this worker offers until ctx ends, and then withdraws it, so
// that a worker that drains is offered no new session.
func (s *Server) offer(ctx context.Context) {
	worker := s.name + " " + NewID() // a process may have several
	s.tell(ctx, offersKey, "offer", func() any { return offered{worker, s.offers()} })
}

// Offers returns what the living workers of Tools can do. Errors: QueueUnavailable.
func (c *Client) Offers(ctx context.Context) (Offers, error) {
	entries, err := offersScript.Run(ctx, c.rdb, []string{offersKey}).StringSlice()
	if err != nil {
		return Offers{}, record.Unavailable(err)
	}

	all := Offers{Workers: len(entries), Tools: Offer{}}
	for _, e := range entries {
		var one offered
		if err := json.Unmarshal([]byte(e), &one); err != nil {
			c.log.Error("a worker's offer cannot be read", "err", err)
			continue
		}

		for tool, why := range one.Tools {
			if had, ok := all.Tools[tool]; !ok || had != "" {
				all.Tools[tool] = why
			}
		}
	}

	return all, nil
}
