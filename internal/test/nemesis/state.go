package nemesis

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"presswork"
	"presswork/internal/test/wait"
)

// State is the final state of a run: the content of the API, Redis, the store and the machine after all work.
type State struct {
	// Jobs has the jobs that the API lists, by id, and Logs has their events.
	Jobs map[string]presswork.Job
	Logs map[string][]presswork.Event
	// Objects has the keys in the store, Index those in the keeper's index.
	Objects, Index []string
	// LeftoverKeys has the keys in Redis that should be gone, with the reason, and the tasks on queues.
	LeftoverKeys []string
	// Wrong has the jobs whose artifact differs from their record, with the difference.
	Wrong map[string]string
	// Ledger has the usage in the ledger, by model.
	Ledger map[string]Use
	// Asked counts the requests to the model server, and Sent the tokens that it sent, by model.
	Asked map[string]int64
	Sent  map[string]int64
	// Unrecorded has the models of completions whose usage a worker could not record, according to its log.
	Unrecorded map[string]int64
	// Tabs counts the tabs of the workers' browsers while nothing is printed, by worker and use of the browser.
	Tabs map[string]int
	// Recoveries are the times from the kill of a worker to the next run of its job.
	Recoveries []Entry
	// LeftoverProcesses has the processes that outlived their worker, Files the files that stopped
	// workers left, and NotStopped the nodes that did not stop.
	LeftoverProcesses, Files, NotStopped []string
}

// Use is the usage of a model in the ledger.
type Use struct{ Requests, Tokens, Seconds int64 }

// settle waits until the jobs have ended, Redis has no leftovers and hooks returns 0, at most for limit.
func (f *fleet) settle(l *load, ids []string, hooks func() int, limit time.Duration) {
	f.t.Helper()

	open := slices.Clone(ids)
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(250 * time.Millisecond) {
		open = slices.DeleteFunc(open, func(id string) bool {
			_, body, err := l.do("GET", f.bases[0]+"/api/conversion/"+id, "", nil)
			var job presswork.Job

			return err == nil && json.Unmarshal(body, &job) == nil && job.Status.Terminal()
		})
		if len(open) == 0 && len(f.leftoverKeys()) == 0 && hooks() == 0 {
			return
		}
	}
}

// observe reads the final state of API, Redis, store and machine, and stops the fleet.
func (f *fleet) observe(l *load) State {
	f.t.Helper()
	final := State{Jobs: map[string]presswork.Job{}, Logs: map[string][]presswork.Event{}, Wrong: map[string]string{}}

	for cursor := ""; ; {
		code, body, err := l.do("GET", f.bases[0]+"/api/conversion?limit=100&cursor="+cursor, "", nil)

		var page struct {
			Data       []presswork.Job
			HasMore    bool   `json:"has_more"`
			NextCursor string `json:"next_cursor"`
		}
		if err != nil || code != http.StatusOK || json.Unmarshal(body, &page) != nil {
			f.t.Fatalf("list of jobs: status %d, %s (%v); want 200", code, body, err)
		}

		for _, job := range page.Data {
			final.Jobs[job.ID] = job
		}

		if cursor = page.NextCursor; !page.HasMore {
			break
		}
	}
	// Read the index before the objects: a deletion removes an object from the store first.
	for _, s := range f.redis.primaries() {
		client := s.Client()
		final.Index = append(final.Index, client.HKeys(f.t.Context(), "pw:{keep}:size").Val()...)
		client.Close()
	}
	slices.Sort(final.Index)

	final.Objects = f.objects()
	for id, job := range final.Jobs {
		l.stream(
			f.t.Context(),
			"GET",
			fmt.Sprintf("%s/api/conversion/%s/events?since=0", f.bases[1], id),
			nil,
			func(data string) bool {
				var e presswork.Event
				if json.Unmarshal([]byte(data), &e) == nil && e.Type != presswork.EventSnapshot {
					final.Logs[id] = append(final.Logs[id], e)
				}

				return job.Status.Terminal()
			},
		)

		if job.Artifact == nil {
			continue
		}

		code, body, err := l.do("GET", f.bases[1]+job.Artifact.URL, "", nil)
		if err != nil || code != http.StatusOK || int64(len(body)) != job.Artifact.Size {
			final.Wrong[id] = fmt.Sprintf("got status %d with %d of %d bytes (%v)", code, len(body),
				job.Artifact.Size, err)
		}
	}
	// Nodes still do periodic work, so wait for keys that disappear by themselves.
	for deadline := time.Now().Add(wait.Patience); ; time.Sleep(250 * time.Millisecond) {
		if final.LeftoverKeys = f.leftoverKeys(); len(final.LeftoverKeys) == 0 || time.Now().After(deadline) {
			break
		}
	}
	f.readUsage(l, &final)

	final.Tabs = f.tabs(l)
	for id, job := range final.Jobs {
		if job.Attempts > 1 {
			final.Recoveries = append(final.Recoveries, f.recoveries(l, id)...)
		}
	}

	for _, n := range f.nodes {
		if !n.stop() {
			final.NotStopped = append(final.NotStopped, n.name)
		}
	}
	// The kernel may end the children of a process a moment later.
	nodes := filepath.Join(f.dir, "tmp")
	for deadline := time.Now().Add(wait.Patience); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if final.LeftoverProcesses = leftoverProcesses(nodes); len(final.LeftoverProcesses) == 0 {
			break
		}
	}

	left, _ := os.ReadDir(nodes)
	for _, entry := range left {
		final.Files = append(final.Files, entry.Name())
	}
	final.Unrecorded = f.unrecorded()

	return final
}

// readUsage reads the ledger and the counts of the model server.
func (f *fleet) readUsage(l *load, final *State) {
	final.Ledger, final.Asked, final.Sent = map[string]Use{}, map[string]int64{}, map[string]int64{}
	code, body, err := l.do("GET", f.bases[0]+"/v1/usage?group_by=model", "", nil)

	var usage struct {
		Data []struct {
			Model            string
			Requests         int64
			CompletionTokens int64 `json:"completion_tokens"`
			AudioSeconds     int64 `json:"audio_seconds"`
		}
	}
	if err != nil || code != http.StatusOK || json.Unmarshal(body, &usage) != nil {
		f.t.Fatalf("ledger: status %d, %s (%v); want 200", code, body, err)
	}

	for _, u := range usage.Data {
		sum := final.Ledger[u.Model]
		final.Ledger[u.Model] = Use{
			sum.Requests + u.Requests,
			sum.Tokens + u.CompletionTokens,
			sum.Seconds + u.AudioSeconds,
		}
	}

	for _, r := range f.upstream.Requests() {
		final.Asked[r.Header.Get(modelHeader)]++
	}
	f.sent.Range(func(model, n any) bool {
		final.Sent[model.(string)] = n.(*atomic.Int64).Load()
		return true
	})
}

// unrecorded counts, by model, the completions whose usage a worker could not record, because Redis did not answer for
// longer than a worker waits. It reads the logs.
func (f *fleet) unrecorded() map[string]int64 {
	byModel := map[string]int64{}

	logs, _ := filepath.Glob(filepath.Join(f.dir, "*.log"))
	for _, path := range logs {
		b, err := os.ReadFile(path)
		if err != nil {
			f.t.Fatal(err)
		}

		for line := range bytes.Lines(b) {
			var entry struct{ Msg, Model string }
			if json.Unmarshal(line, &entry) == nil && strings.HasSuffix(entry.Msg, "was not recorded") {
				byModel[entry.Model]++
			}
		}
	}

	return byModel
}

// tabs reads the number of tabs from the workers' metrics. A worker counts them every five seconds, so tabs waits for
// closed tabs to disappear.
func (f *fleet) tabs(l *load) (of map[string]int) {
	for deadline := time.Now().Add(wait.Patience); ; time.Sleep(250 * time.Millisecond) {
		of = map[string]int{}

		for _, n := range f.nodes[apis:] {
			_, metrics, _ := l.do("GET", n.ops+"/metrics", "", nil)

			for name, use := range map[string]string{
				"presswork_browser_tabs ": "documents", "presswork_export_browser_tabs ": "pages",
			} {
				count := -1
				if _, rest, found := strings.Cut(string(metrics), "\n"+name); found {
					fmt.Sscan(rest, &count)
				}
				of[n.name+" "+use] = count
			}
		}

		if len(leaked(of)) == 0 || time.Now().After(deadline) {
			return of
		}
	}
}

// leaked returns the browsers with unknown tabs, or with more tabs than they keep for the next document or page.
func leaked(of map[string]int) (browsers []string) {
	for _, browser := range slices.Sorted(maps.Keys(of)) {
		keeps := tabs
		if strings.HasSuffix(browser, "pages") {
			keeps = 1
		}

		if n := of[browser]; n < 0 || n > keeps {
			browsers = append(browsers, fmt.Sprintf("%s: %d of %d", browser, n, keeps))
		}
	}

	return browsers
}

// recoveries returns the times from each kill of a worker of a job to the next run, and adds them to the history.
func (f *fleet) recoveries(l *load, id string) (found []Entry) {
	_, body, err := l.do("GET", f.bases[0]+"/admin/api/jobs/"+id, "", nil)

	var job struct {
		Workers []string
		Events  []presswork.Event
	}
	if err != nil || json.Unmarshal(body, &job) != nil {
		return nil
	}

	began := slices.DeleteFunc(job.Events,
		func(e presswork.Event) bool { return !strings.HasSuffix(e.Message, " has begun") })
	for i := range job.Workers[:max(0, min(len(job.Workers), len(began))-1)] {
		for _, n := range f.nodes[apis:] {
			for _, d := range n.deaths {
				if strings.HasSuffix(job.Workers[i], fmt.Sprintf(":%d", d.pid)) && d.at.After(began[i].At) &&
					d.at.Before(began[i+1].At) {
					e := Entry{
						Op:     opRecovery,
						ID:     id,
						Target: n.name,
						Call:   d.at.Sub(l.h.began),
						Return: began[i+1].At.Sub(l.h.began),
					}
					found = append(found, e)
					l.h.add(e)
				}
			}
		}
	}

	return found
}
