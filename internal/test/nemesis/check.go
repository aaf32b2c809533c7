package nemesis

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"presswork"
	"presswork/internal/fault"
)

// Check compares a history and the final state with the promises to callers and operators. It returns a sentence for
// each broken promise.
func Check(entries []Entry, final State) []string {
	c := checker{final: final, entries: entries, submissions: map[string]Entry{}, objects: map[string][]string{}}
	for _, e := range entries {
		if e.Op == opSubmit && e.ID != "" {
			c.submissions[e.ID] = e
		}
	}

	for _, key := range final.Objects {
		if rest, ok := strings.CutPrefix(key, "artifacts/"); ok {
			id, _, _ := strings.Cut(rest, ".")
			c.objects[id] = append(c.objects[id], key)
		}
	}

	for _, check := range []func(){
		c.accepted, c.keys, c.artifacts, c.logs, c.watchers, c.webhooks, c.completions, c.recordings, c.leftovers,
	} {
		check()
	}

	return append(c.complaints, nonLinearizable(entries)...)
}

// checker collects the broken promises.
type checker struct {
	final       State
	entries     []Entry
	submissions map[string]Entry    // the accepted submission of a job, by its id
	objects     map[string][]string // the artifacts of a job in the store, by its id
	complaints  []string
}

// complain adds a broken promise.
func (c *checker) complain(format string, args ...any) {
	c.complaints = append(c.complaints, fmt.Sprintf(format, args...))
}

// accepted checks that every accepted job exists and has completed, or was cancelled by its caller.
func (c *checker) accepted() {
	for _, id := range slices.Sorted(maps.Keys(c.submissions)) {
		e := c.submissions[id]

		job, exists := c.final.Jobs[id]
		switch {
		case !exists:
			c.complain("job %d (%s, %s) was accepted, but does not exist", e.Job, e.Kind, id)
		case !job.Status.Terminal():
			c.complain("job %d (%s, %s) was accepted and is %s, %s", e.Job, e.Kind, id, job.Status, job.Stage)
		case job.Status == presswork.Failed && !c.killedThreeTimes(e, job):
			c.complain("job %d (%s, %s) failed: %+v", e.Job, e.Kind, id, job.Error)
		case job.Status == presswork.Cancelled && e.Kind != "cancelled":
			c.complain("job %d (%s, %s) was cancelled, but no caller requested that", e.Job, e.Kind, id)
		}
	}

	for id, job := range c.final.Jobs {
		if !job.Status.Terminal() {
			if _, known := c.submissions[id]; !known {
				c.complain("job %s, whose caller got no response, is %s", id, job.Status)
			}
		}
	}
}

// killedThreeTimes reports whether the nemesis may have killed three workers of one job. The job then fails, because it
// seems to kill its workers.
func (c *checker) killedThreeTimes(e Entry, job presswork.Job) bool {
	if job.Error == nil || job.Error.Code != fault.RenderFailed ||
		!strings.Contains(job.Error.Message, "the worker died") || job.FinishedAt == nil {
		return false
	}
	end, lost := e.Call+job.FinishedAt.Sub(job.CreatedAt), 0

	for _, f := range c.entries {
		kills := strings.HasPrefix(f.Kind, "kill") ||
			slices.Contains([]string{"pause", "restart", "part", "lose answers"}, f.Kind)
		// The fault may have ended a worker while the call was running.
		if f.Op == opFault && kills && (strings.HasPrefix(f.Target, "worker") || f.Kind == killStoringWorkers) &&
			f.Call < end && f.Return > e.Call {
			lost++
		}
	}

	return lost >= 3
}

// keys checks that requests with one idempotency key create one job.
func (c *checker) keys() {
	ids := map[int]map[string]bool{}
	keyed := map[int]bool{}
	// note adds the id of a job that the submissions with a number created.
	note := func(job int, id string) {
		if ids[job] == nil {
			ids[job] = map[string]bool{}
		}
		ids[job][id] = true
	}

	for _, e := range c.entries {
		if e.Op != opSubmit {
			continue
		}

		keyed[e.Job] = keyed[e.Job] || e.Key != ""
		if e.ID != "" {
			note(e.Job, e.ID)
		}
	}

	for id, job := range c.final.Jobs {
		var number int
		if job.Artifact != nil {
			if _, err := fmt.Sscanf(job.Artifact.Filename, "job-%d.", &number); err == nil {
				note(number, id)
			}
		}
	}

	for job, created := range ids {
		if keyed[job] && len(created) > 1 {
			c.complain("the requests of job %d, with one key, created %d jobs: %v", job, len(created),
				slices.Sorted(maps.Keys(created)))
		}
	}
}

// artifacts checks that each completed job has the artifact in its record, and that no other job has one.
func (c *checker) artifacts() {
	for id, job := range c.final.Jobs {
		e := c.submissions[id]

		n := len(c.objects[id])
		switch {
		case job.Status == presswork.Completed && (n != 1 || job.Artifact == nil):
			c.complain("job %d (%s, %s) is completed with %d artifacts", e.Job, e.Kind, id, n)
		case job.Status != presswork.Completed && n > 0:
			c.complain("job %d (%s, %s) is %s and has the artifact %v", e.Job, e.Kind, id, job.Status, c.objects[id])
		}

		if why := c.final.Wrong[id]; why != "" {
			c.complain("the artifact of job %d (%s, %s): %s", e.Job, e.Kind, id, why)
		}
	}

	for id, keys := range c.objects {
		if _, exists := c.final.Jobs[id]; !exists {
			c.complain("the artifact %v belongs to no job", keys)
		}
	}
	// A worker deletes a source at the end of its job. A source that remains after a crash must be in the index that the
	// sweeper reads.
	for _, key := range c.final.Objects {
		if _, found := slices.BinarySearch(c.final.Index, key); strings.HasPrefix(key, "sources/") && !found {
			c.complain("the sweeper's index lacks %s", key)
		}
	}
}

// logs checks that every event log counts from 1 without a gap and that only its last event is terminal.
func (c *checker) logs() {
	for id, job := range c.final.Jobs {
		log := c.final.Logs[id]
		ends := 0

		for i, event := range log {
			if event.Seq != int64(i+1) {
				c.complain("job %s: event %d of its log has seq %d", id, i+1, event.Seq)
				break
			}

			if event.Status.Terminal() {
				ends++
			}
		}

		if job.Status.Terminal() && (ends != 1 || !log[len(log)-1].Status.Terminal() || job.Seq != int64(len(log))) {
			c.complain("job %s, at seq %d, has %d events, %d of them terminal", id, job.Seq, len(log), ends)
		}
	}
}

// watchers checks that each watcher received every event once, in order, up to the last.
func (c *checker) watchers() {
	for _, e := range c.entries {
		if e.Op != opWatch {
			continue
		}

		for i, seq := range e.Seqs {
			if seq != e.Since+int64(i+1) {
				c.complain("a watcher of job %d (%s) from %d got %v", e.Job, e.ID, e.Since, e.Seqs)
				break
			}
		}

		if job := c.final.Jobs[e.ID]; job.Status.Terminal() && e.End != string(job.Status) {
			c.complain("a watcher of job %d (%s), which is %s, got the end %q after %v", e.Job, e.ID,
				job.Status, e.End, e.Seqs)
		}
	}
}

// webhooks checks that the end of each job was delivered, with one message id.
func (c *checker) webhooks() {
	delivered, ids := map[string]bool{}, map[string]map[string]bool{}

	for _, e := range c.entries {
		if e.Op != opWebhook {
			continue
		}

		if ids[e.ID] == nil {
			ids[e.ID] = map[string]bool{}
		}
		ids[e.ID][e.Message] = true

		delivered[e.ID] = delivered[e.ID] || e.Code == http.StatusOK
		if job := c.final.Jobs[e.ID]; job.Status != e.Status {
			c.complain("a webhook has the status %s for job %s, which is %s", e.Status, e.ID, job.Status)
		}
	}

	for id, e := range c.submissions {
		if e.Kind == "webhook" && c.final.Jobs[id].Status.Terminal() && !delivered[id] {
			c.complain("the webhook of job %d (%s) was not delivered", e.Job, id)
		}
	}

	for id, messages := range ids {
		if len(messages) != 1 {
			c.complain("the webhook of job %s has the message ids %v", id, slices.Sorted(maps.Keys(messages)))
		}
	}
}

// completions checks that no token was lost, doubled or changed. The ledger must have each complete answer once, with
// the tokens that the caller received. Of an answer that broke off it has at most the tokens that the model's server has
// sent.
func (c *checker) completions() {
	type calls struct{ whole, open, tokens int64 }
	byModel := map[string]calls{}

	for _, e := range c.entries {
		if e.Op != opCompletion {
			continue
		}

		if e.Error != "" {
			c.complain("completion %d: %s", e.Job, e.Error)
		}

		n := byModel[e.Kind]
		if e.Whole && e.End == "" {
			n.whole, n.tokens = n.whole+1, n.tokens+int64(e.Tokens)
			if e.Tokens != scriptTokens {
				c.complain("completion %d ended with %d of %d tokens", e.Job, e.Tokens, scriptTokens)
			}
		} else {
			n.open++
		}
		byModel[e.Kind] = n
	}

	for _, model := range slices.Sorted(maps.Keys(byModel)) {
		n, recorded := byModel[model], c.final.Ledger[model]

		missing := c.final.Unrecorded[model]
		if recorded.Requests < n.whole-missing || recorded.Requests > min(n.whole+n.open, c.final.Asked[model]) {
			c.complain(
				"the ledger has %d completions of %s; %d were whole, %d incomplete, and the model was asked for %d",
				recorded.Requests,
				model,
				n.whole,
				n.open,
				c.final.Asked[model],
			)
		}

		if recorded.Tokens < n.tokens-missing*scriptTokens ||
			recorded.Tokens > min(n.tokens+n.open*scriptTokens, c.final.Sent[model]) {
			c.complain(
				"the ledger has %d tokens of %s; callers of complete answers received %d, %d were incomplete, and the model "+
					"has sent %d",
				recorded.Tokens,
				model,
				n.tokens,
				n.open,
				c.final.Sent[model],
			)
		}
	}
}

// recordings checks that the ledger has each transcription once.
func (c *checker) recordings() {
	var done int64

	for _, job := range c.final.Jobs {
		if job.Kind == presswork.KindTranscription && job.Status == presswork.Completed {
			done++
		}
	}

	recorded := c.final.Ledger[listener]
	if recorded.Requests > done || recorded.Requests < done-c.final.Unrecorded[listener] ||
		recorded.Seconds != recorded.Requests*spoken {
		c.complain("the ledger has %d transcriptions and %d seconds of %d recordings of %d seconds",
			recorded.Requests, recorded.Seconds, done, spoken)
	}
}

// leftovers checks that the work leaves nothing in Redis, in the browsers and on the machine.
func (c *checker) leftovers() {
	for _, key := range c.final.LeftoverKeys {
		c.complain("left in Redis: %s", key)
	}

	for _, process := range c.final.LeftoverProcesses {
		c.complain("a process outlives its worker: %s", process)
	}

	for _, file := range c.final.Files {
		c.complain("a file outlives its worker: %s", file)
	}

	for _, browser := range leaked(c.final.Tabs) {
		c.complain("tabs outlive their documents in %s", browser)
	}

	for _, name := range c.final.NotStopped {
		c.complain("%s did not stop", name)
	}
}
