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
	// vitalsEvery is the time between two measurements of a worker's vitals. They take some milliseconds, so they are
	// rarer than the reports of its running tasks (publishEvery).
	vitalsEvery = 10 * time.Second
	// reportedRuns is the largest number of runs that a report lists. Further runs are only counted.
	reportedRuns = 32
)

// Worker is the report of a worker process, at most a few seconds old.
type Worker struct {
	// Name is the host name and the process id.
	Name    string    `json:"name"`
	Started time.Time `json:"started_at"`
	// Queues are the served queues. Slots is how many jobs the worker prints at a time.
	Queues []Queue `json:"queues"`
	Slots  int     `json:"slots"`
	// Running counts the runs by queue. Runs lists the oldest of them, at most reportedRuns.
	Running map[Queue]int `json:"running"`
	Runs    []WorkerRun   `json:"runs"`
	Vitals
}

// WorkerRun is a task that a worker runs.
type WorkerRun struct {
	// ID is the task's id. The task of a job has the id of the job.
	ID    string `json:"id"`
	Queue Queue  `json:"queue"`
	// Kind is the name of the task's kind.
	Kind string `json:"kind"`
	// Job reports whether the task belongs to a job. Since is when the run began, by the clock of Redis.
	Job   bool      `json:"job"`
	Since time.Time `json:"since"`
}

// Vitals describe the state of a process.
type Vitals struct {
	// Version is the version of the program.
	Version string `json:"version,omitempty"`
	// MemoryBytes is the resident memory of the process without its browsers.
	MemoryBytes int64 `json:"memory_bytes"`
	// Browsers are the browsers of the process.
	Browsers []BrowserVitals `json:"browsers,omitempty"`
}

// BrowserVitals is a browser of a worker.
type BrowserVitals struct {
	// Use is the purpose of the browser: documents or pages.
	Use string `json:"use"`
	// Since is when the browser started; zero while it does not run.
	Since time.Time `json:"started_at,omitzero"`
	// MemoryBytes is the memory of all processes of the browser.
	MemoryBytes int64 `json:"memory_bytes"`
	// Prints counts the finished prints, Busy the running ones, and Waiting those that wait for a tab.
	Prints  int64 `json:"prints"`
	Busy    int   `json:"busy"`
	Waiting int   `json:"waiting"`
}

// Report makes the worker report vitals. The server calls the function about every vitalsEvery, from one goroutine.
// Call Report before Start.
func (s *Server) Report(vitals func() Vitals) { s.vitals = vitals }

// Slots returns the number of print jobs on this worker and their maximum. Both include jobs before and after
// their print.
func (s *Server) Slots() (used, total int) { return s.slots.Usage(Render) }

// reporter returns a function that makes the reports of this worker.
func (s *Server) reporter(queues []Queue) func() any {
	started := s.clock.Now()
	var vitals Vitals
	var measured time.Time

	return func() any {
		if s.vitals != nil && time.Since(measured) >= vitalsEvery {
			measured, vitals = time.Now(), s.vitals()
		}
		w := Worker{
			Name: s.name, Started: started, Queues: queues, Slots: s.options.RenderSlots,
			Running: map[Queue]int{}, Runs: []WorkerRun{}, Vitals: vitals,
		}
		runs := s.active.allRuns()
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

// publish adds the result of state to the sorted set at key, and replaces it every publishEvery until ctx ends.
// Then it removes it. The entry of a worker that dies expires after publishTTL. what names the entry in log
// messages.
func (s *Server) publish(ctx context.Context, key, what string, state func() any) {
	tick := time.NewTicker(publishEvery)
	defer tick.Stop()
	previous := ""
	// The end of ctx must not cancel a write: the worker could not know whether Redis has received the text.
	write := func(text string) {
		wctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
		defer cancel()

		err := publishScript.Run(wctx, s.rdb, []string{key}, publishTTL.Milliseconds(), previous, text).Err()
		if err != nil && ctx.Err() == nil {
			s.log.Warn("a worker report could not be written; trying again", "what", what, "err", err)
		}
		previous = text
	}

	for {
		b, err := json.Marshal(state())
		if err != nil {
			s.log.Error("a worker report cannot be encoded", "what", what, "err", err)
			return
		}
		write(string(b))

		select {
		case <-tick.C:
		case <-ctx.Done():
			write("")
			return
		}
	}
}

// Fleet is the state of all workers and queues.
type Fleet struct {
	// At is when the state was read, by the clock of Redis.
	At      time.Time
	Queues  []QueueStats
	Workers []Worker
	// Open counts the jobs that have not ended, Dead the dead letters.
	Open, Dead int64
}

// Fleet returns the state of all workers and queues. Errors: QueueUnavailable.
func (c *Client) Fleet(ctx context.Context) (Fleet, error) {
	f := Fleet{At: c.clock.Now(), Workers: []Worker{}}

	var err error
	if f.Queues, err = c.Stats(ctx); err != nil {
		return f, err
	}

	reports, err := publishedScript.Run(ctx, c.rdb, []string{workersKey}).StringSlice()
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
	// publishEvery is the time between two writes of a worker's report or offer. They expire after publishTTL, so the
	// tools of a dead worker disappear within seconds.
	publishEvery = 2 * time.Second
	publishTTL   = 7 * time.Second
)

// Offer describes the built-in tools of a worker. It maps the type of each tool to "", or to the reason why the
// tool is not available.
type Offer map[string]string

// Offers are the combined tools of the living workers of the queue Tools.
type Offers struct {
	// Workers counts the living workers.
	Workers int
	// Tools maps the type of each tool to "" when some worker has it. Otherwise it has the reason of a worker without
	// the tool.
	Tools Offer
}

// publishScript replaces a worker's entry in a sorted set of reports or offers. KEYS: the set. ARGV: life in ms,
// previous entry, new entry ("" withdraws it). Like the sessions, it is not written to the append-only file.
var publishScript = redis.NewScript(stream.Volatile + clock.Lua + `
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', millis())
redis.call('ZREM', KEYS[1], ARGV[2])
if ARGV[3] ~= '' then redis.call('ZADD', KEYS[1], millis() + tonumber(ARGV[1]), ARGV[3]) end
return 1
`)

// publishedScript returns the entries that have not expired. KEYS: the set.
var publishedScript = redis.NewScript(clock.Lua + `return redis.call('ZRANGEBYSCORE', KEYS[1], millis(), '+inf')`)

// storedOffer is an Offer in Redis. The name of the worker keeps equal offers of two workers apart.
type storedOffer struct {
	Worker string `json:"worker"`
	Tools  Offer  `json:"tools"`
}

// publishOffer publishes the offer of this worker until ctx ends, and then withdraws it. A draining worker gets no new
// sessions.
func (s *Server) publishOffer(ctx context.Context) {
	worker := s.name + " " + NewID() // s.name is that of the process, which may have several servers
	s.publish(ctx, offersKey, "offer", func() any { return storedOffer{worker, s.offers()} })
}

// Offers returns the combined tools of the living workers of the queue Tools. A tool is available if one worker has it.
// Errors: QueueUnavailable.
func (c *Client) Offers(ctx context.Context) (Offers, error) {
	entries, err := publishedScript.Run(ctx, c.rdb, []string{offersKey}).StringSlice()
	if err != nil {
		return Offers{}, record.Unavailable(err)
	}

	all := Offers{Workers: len(entries), Tools: Offer{}}
	for _, e := range entries {
		var offer storedOffer
		if err := json.Unmarshal([]byte(e), &offer); err != nil {
			c.log.Error("a worker's offer cannot be read", "err", err)
			continue
		}

		for tool, reason := range offer.Tools {
			earlier, known := all.Tools[tool]
			if available := known && earlier == ""; !available {
				all.Tools[tool] = reason
			}
		}
	}

	return all, nil
}
