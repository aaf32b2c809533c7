package nemesis_test

import (
	"strings"
	"testing"
	"time"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/test/nemesis"
)

// correctRun returns a history without a broken promise and the state that it leaves.
func correctRun() ([]nemesis.Entry, nemesis.State) {
	at := func(ms int) time.Duration { return time.Duration(ms) * time.Millisecond }
	entries := []nemesis.Entry{
		{
			Op:     "submit",
			Job:    1,
			Kind:   "duplicates",
			Key:    "one",
			Call:   at(0),
			Return: at(5),
			Code:   202,
			ID:     "A",
			Status: "queued",
		},
		{
			Op:     "submit",
			Job:    1,
			Kind:   "duplicates",
			Key:    "one",
			Call:   at(0),
			Return: at(6),
			Code:   202,
			ID:     "A",
			Status: "processing",
		},
		{Op: "get", Job: 1, Call: at(7), Return: at(8), Code: 200, ID: "A", Status: "processing", Seq: 2},
		{Op: "get", Job: 1, Call: at(10), Return: at(12), Code: 200, ID: "A", Status: "completed", Seq: 3},
		{Op: "watch", Job: 1, ID: "A", Since: 1, Seqs: []int64{2, 3}, End: "completed"},
		{Op: "submit", Job: 2, Kind: "cancelled", Call: at(0), Return: at(5), Code: 202, ID: "B", Status: "queued"},
		{Op: "cancel", Job: 2, Call: at(6), Return: at(7), Code: 200, ID: "B", Status: "cancelled", Seq: 2},
		{Op: "get", Job: 2, Call: at(8), Return: at(9), Code: 200, ID: "B", Status: "cancelled", Seq: 2},
		{Op: "submit", Job: 3, Kind: "webhook", Call: at(0), Return: at(5), Code: 202, ID: "C", Status: "queued"},
		{Op: "webhook", ID: "C", Status: "completed", Message: "msg_C", Code: 503},
		{Op: "webhook", ID: "C", Status: "completed", Message: "msg_C", Code: 200},
		{Op: "completion", Job: 4, Kind: "m", Code: 200, Tokens: 30, Whole: true},
		{Op: "submit", Job: 5, Kind: "transcription", Call: at(0), Return: at(5), Code: 202, ID: "D", Status: "queued"},
	}
	log := func(last presswork.Status, n int64) (events []presswork.Event) {
		for seq := int64(1); seq < n; seq++ {
			events = append(events, presswork.Event{Seq: seq, Status: presswork.Processing})
		}

		return append(events, presswork.Event{Seq: n, Status: last})
	}
	artifact := func(name string) *presswork.Artifact { return &presswork.Artifact{Filename: name} }

	return entries, nemesis.State{
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
			"artifacts/A.pdf",
			"artifacts/C.pdf",
			"artifacts/D.json",
			"renders/x.pdf",
			"sources/A/A/content.md",
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
		t.Fatalf("the checker complains about a correct history: %q", got)
	}
	job := func(id string, change func(*presswork.Job)) func([]nemesis.Entry, *nemesis.State) {
		return func(_ []nemesis.Entry, w *nemesis.State) {
			j := w.Jobs[id]
			change(&j)
			w.Jobs[id] = j
		}
	}

	uses := func(model string, u nemesis.Use) func([]nemesis.Entry, *nemesis.State) {
		return func(_ []nemesis.Entry, w *nemesis.State) { w.Ledger[model] = u }
	}
	for name, tc := range map[string]struct {
		damage func([]nemesis.Entry, *nemesis.State)
		says   string // in the complaint
	}{
		"a lost job":       {func(_ []nemesis.Entry, w *nemesis.State) { delete(w.Jobs, "C") }, "does not exist"},
		"a job that waits": {job("C", func(j *presswork.Job) { j.Status = presswork.Queued }), "was accepted and is queued"},
		"a failed job": {job("C", func(j *presswork.Job) {
			j.Status, j.Error = presswork.Failed, &fault.Error{Code: fault.RenderFailed}
		}), "failed"},
		"a job that seems to kill its workers": {func(_ []nemesis.Entry, w *nemesis.State) {
			at := time.Now()
			w.Jobs["C"] = presswork.Job{
				ID: "C", Status: presswork.Failed, Seq: 3, CreatedAt: at, FinishedAt: &at,
				Error: &fault.Error{Code: fault.RenderFailed, Message: "the worker died 3 times on this document"},
			}
		}, "the worker died 3 times"},
		"a cancelled job":               {job("A", func(j *presswork.Job) { j.Status = presswork.Cancelled }), "was cancelled, but no caller"},
		"two jobs for one submission":   {job("C", func(j *presswork.Job) { j.Artifact.Filename = "job-1.pdf" }), "made 2 jobs"},
		"two ids for one key":           {func(e []nemesis.Entry, _ *nemesis.State) { e[1].ID = "C" }, "made 2 jobs"},
		"no artifact":                   {func(_ []nemesis.Entry, w *nemesis.State) { w.Objects = w.Objects[1:] }, "completed with 0 artifacts"},
		"two artifacts":                 {func(_ []nemesis.Entry, w *nemesis.State) { w.Objects = append(w.Objects, "artifacts/C.png") }, "completed with 2 artifacts"},
		"an orphaned artifact":          {func(_ []nemesis.Entry, w *nemesis.State) { w.Objects = append(w.Objects, "artifacts/B.pdf") }, "is cancelled and has the artifact"},
		"an artifact without a job":     {func(_ []nemesis.Entry, w *nemesis.State) { w.Objects = append(w.Objects, "artifacts/X.pdf") }, "belongs to no job"},
		"a wrong artifact":              {func(_ []nemesis.Entry, w *nemesis.State) { w.Wrong = map[string]string{"A": "3 bytes"} }, "the artifact of job 1"},
		"a forgotten source":            {func(_ []nemesis.Entry, w *nemesis.State) { w.Index = nil }, "the sweeper's index lacks sources/A"},
		"a gap in a log":                {func(_ []nemesis.Entry, w *nemesis.State) { w.Logs["A"][1].Seq = 7 }, "event 2 of its log"},
		"two terminal events":           {func(_ []nemesis.Entry, w *nemesis.State) { w.Logs["A"][1].Status = presswork.Completed }, "2 of them terminal"},
		"a watcher's gap":               {func(e []nemesis.Entry, _ *nemesis.State) { e[4].Seqs = []int64{3} }, "a watcher of job 1"},
		"a watcher's double":            {func(e []nemesis.Entry, _ *nemesis.State) { e[4].Seqs = []int64{2, 2, 3} }, "a watcher of job 1"},
		"a watcher without the end":     {func(e []nemesis.Entry, _ *nemesis.State) { e[4].End = "" }, "got the end"},
		"no webhook":                    {func(e []nemesis.Entry, _ *nemesis.State) { e[10].Code = 500 }, "was not delivered"},
		"two webhooks":                  {func(e []nemesis.Entry, _ *nemesis.State) { e[10].Message = "msg_D" }, "under the ids"},
		"a webhook with a wrong status": {func(e []nemesis.Entry, _ *nemesis.State) { e[10].Status = "failed" }, "calls job C failed"},
		"a lost token":                  {func(e []nemesis.Entry, _ *nemesis.State) { e[11].Tokens = 29 }, "29 of 30 tokens"},
		"an uncounted request":          {uses("m", nemesis.Use{}), "the ledger has 0 completions of m"},
		"a request counted twice":       {uses("m", nemesis.Use{Requests: 2, Tokens: 30}), "the ledger has 2 completions of m"},
		"an uncounted token":            {uses("m", nemesis.Use{Requests: 1, Tokens: 29}), "the ledger has 29 tokens of m"},
		"tokens without a caller":       {uses("m", nemesis.Use{Requests: 1, Tokens: 31}), "the ledger has 31 tokens of m"},
		"an uncounted recording":        {uses("ears", nemesis.Use{}), "the ledger has 0 transcriptions"},
		"a recording counted twice":     {uses("ears", nemesis.Use{Requests: 2, Seconds: 6}), "the ledger has 2 transcriptions"},
		"seconds without a caller":      {uses("ears", nemesis.Use{Requests: 1, Seconds: 6}), "1 transcriptions and 6 seconds"},
		"a leaked tab":                  {func(_ []nemesis.Entry, w *nemesis.State) { w.Tabs["worker1 documents"] = 3 }, "tabs outlive their documents in worker1 documents: 3 of 2"},
		"a leaked page":                 {func(_ []nemesis.Entry, w *nemesis.State) { w.Tabs["worker1 pages"] = 2 }, "worker1 pages: 2 of 1"},
		"an unknown number of tabs":     {func(_ []nemesis.Entry, w *nemesis.State) { w.Tabs["worker1 pages"] = -1 }, "worker1 pages: -1 of 1"},
		"a leftover key":                {func(_ []nemesis.Entry, w *nemesis.State) { w.LeftoverKeys = []string{"pw:open"} }, "left in Redis"},
		"a leftover process":            {func(_ []nemesis.Entry, w *nemesis.State) { w.LeftoverProcesses = []string{"1 chromium"} }, "outlives its worker"},
		"a status that goes back":       {func(e []nemesis.Entry, _ *nemesis.State) { e[3].Status, e[3].Seq = "queued", 4 }, "no order of its requests"},
		"an outdated response":          {func(e []nemesis.Entry, _ *nemesis.State) { e[3].Seq = 1 }, "no order of its requests"},
		"a cancelled job that completes": {
			func(e []nemesis.Entry, _ *nemesis.State) { e[7].Status, e[7].Seq = "completed", 3 },
			"job 2 (B): no order of its requests",
		},
		"an accepted job that is not found": {func(e []nemesis.Entry, _ *nemesis.State) { e[7].Code = 404 }, "job 2 (B): no order of its requests"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			entries, final := correctRun()
			tc.damage(entries, &final)

			if got := strings.Join(nemesis.Check(entries, final), "\n"); !strings.Contains(got, tc.says) {
				t.Errorf("the complaints are %q, want %q", got, tc.says)
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
		nemesis.Entry{Op: "submit", Job: 1, Kind: "duplicates", Key: "one", Call: at(1), Return: at(4)},
		nemesis.Entry{Op: "cancel", Job: 2, Call: at(5), Return: at(6), Code: 503, ID: "B"},
		nemesis.Entry{Op: "get", Job: 2, Call: at(5), Return: at(6), ID: "B"},
		// The worker died. Another worker may have recorded what it sent.
		nemesis.Entry{Op: "completion", Job: 6, Kind: "n", Code: 200, Tokens: 3, End: "error"},
		// Redis was unavailable for longer than the worker waits, so the usage was not recorded.
		nemesis.Entry{Op: "completion", Job: 7, Kind: "o", Code: 200, Tokens: 30, Whole: true},
	)
	final.Asked["n"], final.Sent["n"], final.Ledger["n"] = 1, 7, nemesis.Use{Requests: 1, Tokens: 5}

	final.Asked["o"], final.Sent["o"], final.Unrecorded = 1, 30, map[string]int64{"o": 1}
	if got := nemesis.Check(entries, final); len(got) > 0 {
		t.Errorf("the complaints are %q, want none", got)
	}
}
