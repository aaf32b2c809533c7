// Package nemesis injects faults into a fleet while callers use it, and then checks that nothing was lost, doubled or
// left over. APIs, workers, Redis and MinIO are real processes, and a seed chooses the faults. A history records all
// responses to callers. A checker compares the history, the API, Redis, the store and the machine.
package nemesis

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"presswork"
	"presswork/internal/test/wait"
)

// Options configure a run.
type Options struct {
	// Program is the version under test. Others are versions with which workers are restarted. Clocked is a
	// version whose clock is ahead by the seconds in the file NEMESIS_CLOCK; "" for none.
	Program string
	Others  []string
	Clocked string
	// Dir is the folder for logs, the history and all other files.
	Dir string
	// Seed chooses faults, targets and kinds of jobs. The timing on the machine still varies.
	Seed uint64
	// Duration is how long callers submit and faults are injected.
	Duration time.Duration
	// Jobs bounds the number of submitted jobs; 0 for no bound.
	Jobs int
	// Callers is the number of callers that submit at the same time.
	Callers int
	// Gap is the usual time between two faults. LongestFault bounds the duration of a fault.
	Gap, LongestFault time.Duration
	// Faults lists the faults by name. Default: all.
	Faults []string
	// Redis is the form of Redis.
	Redis Redis
	// SmallDisk puts Redis and the store on a disk that can be filled. It needs root.
	SmallDisk bool
	// Settling is how long open jobs may take after the last fault.
	Settling time.Duration
}

// Redis is a form in which Redis runs.
type Redis string

// The forms: one server; a primary, its replica and a sentinel; a Cluster of three primaries with a replica each.
const (
	Single     Redis = ""
	Replicated Redis = "replicated"
	Cluster    Redis = "cluster"
)

// Run runs callers against a fleet under faults, checks the result, and fails the test for each broken promise. It
// returns a line of figures.
func Run(t testing.TB, o Options) string {
	t.Helper()
	path := filepath.Join(o.Dir, "history.jsonl")
	h := newHistory(t, path)
	hooks := &receiver{h: h, delivered: map[string]bool{}}
	f := newFleet(t, o, hooks)

	watched, unwatch := context.WithCancel(context.Background())
	defer unwatch()
	l := &load{
		h:       h,
		bases:   f.bases,
		site:    f.site.URL,
		hooks:   f.receiver.URL,
		seed:    o.Seed,
		maxJobs: o.Jobs,
		http: &http.Client{
			Transport: &http.Transport{MaxIdleConnsPerHost: 64},
		},
		stopped: make(chan struct{}),
		watched: watched,
		replays: f.replays,
	}
	h.began = time.Now()

	var callers sync.WaitGroup
	for n := range o.Callers {
		callers.Go(func() { l.caller(n) })
	}
	faults := f.nemesis(h, o)
	close(l.stopped)
	callers.Wait()

	withWebhook := map[string]bool{} // by the id of a job

	var ids []string
	for _, e := range h.all() {
		if e.Op == opSubmit && e.ID != "" && !slices.Contains(ids, e.ID) {
			ids = append(ids, e.ID)
			if e.Kind == "webhook" {
				withWebhook[e.ID] = true
			}
		}
	}
	began := time.Now()
	f.settle(l, ids, func() int { return hooks.missing(withWebhook) }, o.Settling)
	settled := time.Since(began)
	time.AfterFunc(wait.Patience, unwatch) // by then each watcher has received the last event
	l.wg.Wait()
	final := f.observe(l)

	complaints := Check(h.all(), final)
	for _, c := range complaints {
		t.Error(c)
	}

	if len(complaints) > 0 {
		t.Logf("seed %d; history: %s", o.Seed, path)
	}

	return figures(o, h.all(), final, faults, settled, len(complaints))
}

// figures returns a line with the counts of a run.
func figures(o Options, entries []Entry, final State, faults map[string]int, settled time.Duration, broken int) string {
	accepted := map[string]bool{}
	ends := map[presswork.Status]int{}
	submissions, watchers, hooks, completions, whole, runs := 0, 0, 0, 0, 0, 0
	delivered := map[string]bool{}

	for _, e := range entries {
		switch e.Op {
		case opSubmit:
			submissions++

			if e.ID != "" {
				accepted[e.ID] = true
			}
		case opWatch:
			watchers++
		case opWebhook:
			hooks++
			delivered[e.ID] = true
		case opCompletion:
			completions++

			if e.Whole && e.End == "" {
				whole++
			}
		}
	}

	for id := range accepted {
		ends[final.Jobs[id].Status]++
		runs += final.Jobs[id].Attempts
	}
	var counts []string
	sum := 0

	for _, name := range slices.Sorted(maps.Keys(faults)) {
		counts = append(counts, fmt.Sprintf("%s %d", name, faults[name]))
		sum += faults[name]
	}
	var ledger Use
	var asked, sent int64

	for model, use := range final.Ledger {
		if model != listener {
			ledger.Requests, ledger.Tokens = ledger.Requests+use.Requests, ledger.Tokens+use.Tokens
		}
		asked, sent = asked+final.Asked[model], sent+final.Sent[model]
	}
	recovered := "none to recover"

	if n := len(final.Recoveries); n > 0 {
		var took []time.Duration
		for _, e := range final.Recoveries {
			took = append(took, (e.Return - e.Call).Round(100*time.Millisecond))
		}
		slices.Sort(took)
		recovered = fmt.Sprintf("%d runs of killed workers recovered after p50 %s, max %s", n, took[n/2], took[n-1])
	}

	return fmt.Sprintf(
		"seed %d, %s: %d submissions, %d jobs accepted (%d completed, %d cancelled, %d failed, %d lost) in %d "+
			"runs, %s, %d completions (%d whole; ledger %d requests and %d tokens, the model was asked for %d and "+
			"sent %d), "+
			"%d watchers, %d webhooks of %d ends; %d faults (%s); settled %s after the last; %d promises broken",
		o.Seed,
		o.Duration,
		submissions,
		len(accepted),
		ends[presswork.Completed],
		ends[presswork.Cancelled],
		ends[presswork.Failed],
		len(accepted)-ends[presswork.Completed]-ends[presswork.Cancelled]-ends[presswork.Failed],
		runs,
		recovered,
		completions,
		whole,
		ledger.Requests,
		ledger.Tokens,
		asked,
		sent,
		watchers,
		hooks,
		len(delivered),
		sum,
		strings.Join(counts, ", "),
		settled.Round(time.Second),
		broken,
	)
}

// receiver receives webhooks. It answers the first delivery of every seventh job with a 503.
type receiver struct {
	h *history

	mu        sync.Mutex
	delivered map[string]bool // by job: whether a delivery was answered with 200
	seen      int             // jobs with a delivery
}

// ServeHTTP records a webhook in the history and answers it.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	var body struct{ Data presswork.Job }

	b, err := io.ReadAll(req.Body)
	if err != nil || json.Unmarshal(b, &body) != nil {
		http.Error(w, "no webhook", http.StatusBadRequest)
		return
	}
	e := Entry{
		Op: opWebhook, Call: r.h.now(), Return: r.h.now(), ID: body.Data.ID, Status: body.Data.Status,
		Message: req.Header.Get("Webhook-Id"), Code: http.StatusOK,
	}
	r.mu.Lock()

	_, before := r.delivered[e.ID]
	if !before {
		// Each seventh job's first delivery fails, so that the sender must repeat it.
		if r.seen++; r.seen%7 == 0 {
			e.Code = http.StatusServiceUnavailable
		}
	}
	r.delivered[e.ID] = r.delivered[e.ID] || e.Code == http.StatusOK
	r.mu.Unlock()
	r.h.add(e)
	w.WriteHeader(e.Code)
}

// missing returns the number of jobs whose webhook is not delivered yet.
func (r *receiver) missing(jobs map[string]bool) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()

	for id := range jobs {
		if !r.delivered[id] {
			n++
		}
	}

	return n
}
