package nemesis_test

import (
	"strings"
	"testing"
	"time"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/test/nemesis"
)

// These are short names for the tables below.
type (
	Entry = nemesis.Entry
	State = nemesis.State
)

// The entries of correctRun that tests change.
const (
	secondSubmit = 1
	getCompleted = 3
	watcher      = 4
	getCancelled = 7
	delivered    = 10
	completion   = 11
)

// correctRun returns a history without a broken promise and the final state of its run.
func correctRun() ([]Entry, State) {
	at := func(ms int) time.Duration { return time.Duration(ms) * time.Millisecond }
	entries := []Entry{
		{
			Op: "submit", Job: 1, Kind: "duplicates", Key: "one", Call: at(0), Return: at(5), Code: 202,
			ID: "A", Status: "queued",
		},
		secondSubmit: {
			Op: "submit", Job: 1, Kind: "duplicates", Key: "one", Call: at(0), Return: at(6), Code: 202,
			ID: "A", Status: "processing",
		},
		{Op: "get", Job: 1, Call: at(7), Return: at(8), Code: 200, ID: "A", Status: "processing", Seq: 2},
		getCompleted: {
			Op:     "get",
			Job:    1,
			Call:   at(10),
			Return: at(12),
			Code:   200,
			ID:     "A",
			Status: "completed",
			Seq:    3,
		},
		watcher: {Op: "watch", Job: 1, ID: "A", Since: 1, Seqs: []int64{2, 3}, End: "completed"},
		{Op: "submit", Job: 2, Kind: "cancelled", Call: at(0), Return: at(5), Code: 202, ID: "B", Status: "queued"},
		{Op: "cancel", Job: 2, Call: at(6), Return: at(7), Code: 200, ID: "B", Status: "cancelled", Seq: 2},
		getCancelled: {Op: "get", Job: 2, Call: at(8), Return: at(9), Code: 200, ID: "B", Status: "cancelled", Seq: 2},
		{Op: "submit", Job: 3, Kind: "webhook", Call: at(0), Return: at(5), Code: 202, ID: "C", Status: "queued"},
		{Op: "webhook", ID: "C", Status: "completed", Message: "msg_C", Code: 503},
		delivered:  {Op: "webhook", ID: "C", Status: "completed", Message: "msg_C", Code: 200},
		completion: {Op: "completion", Job: 4, Kind: "m", Code: 200, Tokens: 30, Whole: true},
		{Op: "submit", Job: 5, Kind: "transcription", Call: at(0), Return: at(5), Code: 202, ID: "D", Status: "queued"},
	}
	log := func(last presswork.Status, n int64) (events []presswork.Event) {
		for seq := int64(1); seq < n; seq++ {
			events = append(events, presswork.Event{Seq: seq, Status: presswork.Processing})
		}

		return append(events, presswork.Event{Seq: n, Status: last})
	}
	artifact := func(name string) *presswork.Artifact { return &presswork.Artifact{Filename: name} }

	return entries, State{
		Jobs: map[string]presswork.Job{
			"A": {ID: "A", Status: "completed", Seq: 3, Artifact: artifact("job-1.pdf")},
			"B": {ID: "B", Status: "cancelled", Seq: 2},
			"C": {ID: "C", Status: "completed", Seq: 3, Artifact: artifact("job-3.pdf")},
			"D": {
				ID:       "D",
				Status:   "completed",
				Kind:     presswork.KindTranscription,
				Seq:      3,
				Artifact: artifact("job-5.json"),
			},
		},
		Logs: map[string][]presswork.Event{
			"A": log("completed", 3),
			"B": log("cancelled", 2),
			"C": log("completed", 3),
			"D": log("completed", 3),
		},
		Objects: []string{
			"artifacts/A.pdf", "artifacts/C.pdf", "artifacts/D.json", "renders/x.pdf", "sources/A/A/content.md",
		},
		Index:  []string{"artifacts/A.pdf", "sources/A/A/content.md"},
		Ledger: map[string]nemesis.Use{"m": {Requests: 1, Tokens: 30}, "ears": {Requests: 1, Seconds: 3}},
		Asked:  map[string]int64{"m": 2},
		Sent:   map[string]int64{"m": 40}, // including an earlier answer that no caller received
		Tabs:   map[string]int{"worker1 documents": 2, "worker1 pages": 1},
	}
}

func TestCheckReportsEachBrokenPromise(t *testing.T) {
	t.Parallel()

	if got := nemesis.Check(correctRun()); len(got) > 0 {
		t.Fatalf("the complaints about a correct history are %q, want none", got)
	}
	type damage func([]Entry, *State)
	entry := func(n int, change func(*Entry)) damage { return func(all []Entry, _ *State) { change(&all[n]) } }
	state := func(change func(*State)) damage { return func(_ []Entry, s *State) { change(s) } }
	job := func(id string, change func(*presswork.Job)) damage {
		return state(func(s *State) {
			j := s.Jobs[id]
			change(&j)
			s.Jobs[id] = j
		})
	}
	uses := func(model string, u nemesis.Use) damage { return state(func(s *State) { s.Ledger[model] = u }) }

	for name, tc := range map[string]struct {
		damage damage
		want   string // in a complaint
	}{
		"a lost job":       {state(func(s *State) { delete(s.Jobs, "C") }), "does not exist"},
		"a job that waits": {job("C", func(j *presswork.Job) { j.Status = presswork.Queued }), "was accepted and is queued"},
		"a failed job": {job("C", func(j *presswork.Job) {
			j.Status, j.Error = presswork.Failed, &fault.Error{Code: fault.RenderFailed}
		}), "failed"},
		"a job that seems to kill its workers": {state(func(s *State) {
			at := time.Now()
			s.Jobs["C"] = presswork.Job{
				ID: "C", Status: presswork.Failed, Seq: 3, CreatedAt: at, FinishedAt: &at,
				Error: &fault.Error{Code: fault.RenderFailed, Message: "the worker died 3 times on this document"},
			}
		}), "the worker died 3 times"},
		"a cancelled job":                {job("A", func(j *presswork.Job) { j.Status = presswork.Cancelled }), "was cancelled, but no caller"},
		"two jobs for one submission":    {job("C", func(j *presswork.Job) { j.Artifact.Filename = "job-1.pdf" }), "created 2 jobs"},
		"two ids for one key":            {entry(secondSubmit, func(e *Entry) { e.ID = "C" }), "created 2 jobs"},
		"no artifact":                    {state(func(s *State) { s.Objects = s.Objects[1:] }), "completed with 0 artifacts"},
		"two artifacts":                  {state(func(s *State) { s.Objects = append(s.Objects, "artifacts/C.png") }), "completed with 2 artifacts"},
		"an orphaned artifact":           {state(func(s *State) { s.Objects = append(s.Objects, "artifacts/B.pdf") }), "is cancelled and has the artifact"},
		"an artifact without a job":      {state(func(s *State) { s.Objects = append(s.Objects, "artifacts/X.pdf") }), "belongs to no job"},
		"a wrong artifact":               {state(func(s *State) { s.Wrong = map[string]string{"A": "3 bytes"} }), "the artifact of job 1"},
		"a forgotten source":             {state(func(s *State) { s.Index = nil }), "the sweeper's index lacks sources/A"},
		"a gap in a log":                 {state(func(s *State) { s.Logs["A"][1].Seq = 7 }), "event 2 of its log"},
		"two terminal events":            {state(func(s *State) { s.Logs["A"][1].Status = presswork.Completed }), "2 of them terminal"},
		"an event that a watcher misses": {entry(watcher, func(e *Entry) { e.Seqs = []int64{3} }), "a watcher of job 1"},
		"an event twice for a watcher":   {entry(watcher, func(e *Entry) { e.Seqs = []int64{2, 2, 3} }), "a watcher of job 1"},
		"a watcher without the end":      {entry(watcher, func(e *Entry) { e.End = "" }), "got the end"},
		"no webhook":                     {entry(delivered, func(e *Entry) { e.Code = 500 }), "was not delivered"},
		"two webhooks":                   {entry(delivered, func(e *Entry) { e.Message = "msg_D" }), "has the message ids"},
		"a webhook with a wrong status":  {entry(delivered, func(e *Entry) { e.Status = "failed" }), "the status failed for job C"},
		"a lost token":                   {entry(completion, func(e *Entry) { e.Tokens = 29 }), "29 of 30 tokens"},
		"an uncounted request":           {uses("m", nemesis.Use{}), "the ledger has 0 completions of m"},
		"a request counted twice":        {uses("m", nemesis.Use{Requests: 2, Tokens: 30}), "the ledger has 2 completions of m"},
		"an uncounted token":             {uses("m", nemesis.Use{Requests: 1, Tokens: 29}), "the ledger has 29 tokens of m"},
		"tokens without a caller":        {uses("m", nemesis.Use{Requests: 1, Tokens: 31}), "the ledger has 31 tokens of m"},
		"an uncounted recording":         {uses("ears", nemesis.Use{}), "the ledger has 0 transcriptions"},
		"a recording counted twice":      {uses("ears", nemesis.Use{Requests: 2, Seconds: 6}), "the ledger has 2 transcriptions"},
		"seconds without a caller":       {uses("ears", nemesis.Use{Requests: 1, Seconds: 6}), "1 transcriptions and 6 seconds"},
		"a leaked tab":                   {state(func(s *State) { s.Tabs["worker1 documents"] = 3 }), "tabs outlive their documents in worker1 documents: 3 of 2"},
		"a leaked page":                  {state(func(s *State) { s.Tabs["worker1 pages"] = 2 }), "worker1 pages: 2 of 1"},
		"an unknown number of tabs":      {state(func(s *State) { s.Tabs["worker1 pages"] = -1 }), "worker1 pages: -1 of 1"},
		"a leftover key":                 {state(func(s *State) { s.LeftoverKeys = []string{"pw:open"} }), "left in Redis"},
		"a leftover process":             {state(func(s *State) { s.LeftoverProcesses = []string{"1 chromium"} }), "outlives its worker"},
		"a status that goes back":        {entry(getCompleted, func(e *Entry) { e.Status, e.Seq = "queued", 4 }), "no order of its requests"},
		"an outdated response":           {entry(getCompleted, func(e *Entry) { e.Seq = 1 }), "no order of its requests"},
		"a cancelled job that completes": {
			entry(getCancelled, func(e *Entry) { e.Status, e.Seq = "completed", 3 }),
			"job 2 (B): no order of its requests",
		},
		"an accepted job that is not found": {entry(getCancelled, func(e *Entry) { e.Code = 404 }), "job 2 (B): no order of its requests"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			entries, final := correctRun()
			tc.damage(entries, &final)

			if got := strings.Join(nemesis.Check(entries, final), "\n"); !strings.Contains(got, tc.want) {
				t.Errorf("the complaints are %q, want %q in them", got, tc.want)
			}
		})
	}
}

func TestCheckAcceptsUnknownOutcomes(t *testing.T) {
	t.Parallel()
	entries, final := correctRun()
	at := func(ms int) time.Duration { return time.Duration(ms) * time.Millisecond }
	entries = append(entries,
		// These requests broke off. They may have happened before, between or after the others, or not at all.
		Entry{Op: "submit", Job: 1, Kind: "duplicates", Key: "one", Call: at(1), Return: at(4)},
		Entry{Op: "cancel", Job: 2, Call: at(5), Return: at(6), Code: 503, ID: "B"},
		Entry{Op: "get", Job: 2, Call: at(5), Return: at(6), ID: "B"},
		// The worker died. Another worker may have recorded what it sent.
		Entry{Op: "completion", Job: 6, Kind: "n", Code: 200, Tokens: 3, End: "error"},
		// Redis was unavailable for longer than the worker waits, so the usage was not recorded.
		Entry{Op: "completion", Job: 7, Kind: "o", Code: 200, Tokens: 30, Whole: true},
	)
	final.Asked["n"], final.Sent["n"], final.Ledger["n"] = 1, 7, nemesis.Use{Requests: 1, Tokens: 5}

	final.Asked["o"], final.Sent["o"], final.Unrecorded = 1, 30, map[string]int64{"o": 1}
	if got := nemesis.Check(entries, final); len(got) > 0 {
		t.Errorf("the complaints are %q, want none", got)
	}
}
