package record

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/internal/fault"
)

func TestStageAndProgressNeverGoBack(t *testing.T) {
	t.Parallel()
	r, id := newJob(t)
	fence := begin(t, r, id)
	step := func(stage presswork.Stage, percent int, wantStage presswork.Stage, wantPercent, wantEvents int) {
		t.Helper()

		before := read(t, r, id).Seq
		if err := progress(r, t.Context(), id, fence, stage, percent, ""); err != nil {
			t.Fatal(err)
		}

		s := read(t, r, id)
		if s.Stage != wantStage || s.Progress != wantPercent || s.Seq != before+int64(wantEvents) {
			t.Errorf("%s %d: got stage %s, progress %d and %d events; want %s, %d and %d", stage, percent, s.Stage,
				s.Progress, s.Seq-before, wantStage, wantPercent, wantEvents)
		}
	}
	step(presswork.StageRendering, 40, presswork.StageRendering, 40, 1)
	step(presswork.StageRendering, 40, presswork.StageRendering, 40, 0)
	step(presswork.StageAnalyzing, 10, presswork.StageRendering, 40, 0)
	step(presswork.StagePrinting, 30, presswork.StagePrinting, 40, 1)
	step(presswork.StagePrinting, 9, presswork.StagePrinting, 40, 0)
	step(presswork.StagePrinting, 100, presswork.StagePrinting, 100, 1)
	// A second attempt starts over. The job shows its steps only when they are beyond those of the first.
	fence = begin(t, r, id)
	step(presswork.StageAnalyzing, 5, presswork.StagePrinting, 100, 0)
	step(presswork.StageStoring, 90, presswork.StageStoring, 100, 1)
}

func TestEveryStageHasARankInTheScripts(t *testing.T) {
	t.Parallel()
	r, id := newJob(t)

	fence := begin(t, r, id)
	for i, stage := range []presswork.Stage{
		presswork.StageRendering, presswork.StagePrinting, presswork.StageStoring, presswork.StageDone,
	} {
		t.Run(string(stage), func(t *testing.T) {
			if err := progress(r, t.Context(), id, fence, stage, i, ""); err != nil {
				t.Fatal(err)
			}

			if got := read(t, r, id).Stage; got != stage {
				t.Errorf("got stage %s, want %s", got, stage)
			}
		})
	}
}

func TestOnlyTheLatestRunUpdatesTheJob(t *testing.T) {
	t.Parallel()
	r, id := newJob(t)
	older, latest := begin(t, r, id), begin(t, r, id)

	ctx := t.Context()
	for name, err := range map[string]error{
		"progress": progress(r, ctx, id, older, presswork.StagePrinting, 50, ""),
		"note":     note(r, ctx, id, older, "m", nil, fieldTheme, "x"),
		"finish":   errorOf(r.Finish(ctx, id, Ending{Fence: older, Nonce: "a", Status: presswork.Completed})),
	} {
		t.Run(name, func(t *testing.T) {
			if !errors.Is(err, ErrSuperseded) {
				t.Errorf("got %v, want %v", err, ErrSuperseded)
			}
		})
	}

	if _, err := r.Finish(ctx, id, Ending{Fence: latest, Nonce: "b", Status: presswork.Completed}); err != nil {
		t.Errorf("Finish of the latest run: %v", err)
	}
}

// errorOf returns the error of a call that returns a value as well.
func errorOf[T any](_ T, err error) error { return err }

func TestADequeueBeginsTheJobOfItsTask(t *testing.T) {
	t.Parallel()
	r, id := newJob(t)
	script := redis.NewScript(
		"local function begin(id, type, argv)\n" + DequeueLua + "\nend\nreturn begin(ARGV[1], ARGV[2], {unpack(ARGV, 3)})",
	)
	dequeue := func(id, kind string) ([]any, error) {
		return script.Run(t.Context(), r.rdb, nil,
			id, kind, stamp(r.clock.Now()), NewID(), "w", " "+convertKind+" "+exportKind+" ").
			Slice()
	}
	// A dequeue begins no job for a task without the prefix, or of a kind that this worker does not run.
	for _, kind := range []string{convertKind, TaskPrefix + "convert:v2", TaskPrefix + chooseKind, webhookKind} {
		t.Run(kind, func(t *testing.T) {
			if _, err := dequeue(id, kind); !errors.Is(err, redis.Nil) || read(t, r, id).Seq != 1 {
				t.Errorf("a dequeue of kind %q began the job (%v), want none begun", kind, err)
			}
		})
	}

	for id, kind := range map[string]string{NewID(): TaskPrefix + convertKind, id: TaskPrefix + exportKind} {
		reply, err := dequeue(id, kind)
		if err != nil {
			t.Fatal(err)
		}

		if _, err := ReadBegun(reply); LostCause(err) == nil {
			t.Errorf("ReadBegun of a missing job or another task: got %v, want a lost run", err)
		}
	}

	reply, err := dequeue(id, TaskPrefix+convertKind)
	if err != nil {
		t.Fatal(err)
	}

	begun, err := ReadBegun(reply)
	if err != nil || string(begun.Payload) != payload || begun.Fence != "1" {
		t.Errorf("got %v, fence %q, payload %s; want fence 1 and %s", err, begun.Fence, begun.Payload, payload)
	}

	s := read(t, r, id)

	diff := cmp.Diff(s.Record, begun.Job.Record)
	if diff != "" || s.Status != presswork.Processing || s.Seq != 2 || s.Attempts != 1 {
		t.Errorf("got %s, seq %d, attempt %d; want processing, 2, 1 (-in Redis +returned):\n%s", s.Status, s.Seq,
			s.Attempts, diff)
	}
}

func TestReportsOfOneWriteBecomeEventsInOrder(t *testing.T) {
	t.Parallel()
	r, id := newJob(t)
	fence := begin(t, r, id)

	themed, err := r.note("theme x", nil, fieldTheme, "x")
	if err != nil {
		t.Fatal(err)
	}

	warned, err := r.note("w", []fault.Warning{{Code: "c", Message: "w"}})
	if err != nil {
		t.Fatal(err)
	}

	sub := r.rdb.Subscribe(t.Context(), EventsChannel)
	defer sub.Close()

	if _, err := sub.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := []Report{r.Progress(presswork.StageRendering, 20, "r"), themed, themed, warned, warned}

	last, err := r.Finish(t.Context(), id,
		Ending{Fence: fence, Nonce: "n", Status: presswork.Completed, Message: "done", Before: before})
	if err != nil {
		t.Fatal(err)
	}

	events, err := r.Events(t.Context(), id, 2)
	if err != nil {
		t.Fatal(err)
	}
	var got []string

	for i, e := range events {
		if e.Seq != int64(i)+3 {
			t.Errorf("event %d has seq %d, want %d", i, e.Seq, i+3)
		}

		m, err := sub.ReceiveMessage(t.Context())
		if err != nil || !strings.HasPrefix(m.Payload, fmt.Sprintf("%s %d {", id, e.Seq)) {
			t.Errorf("event %d was published as %v (%v)", e.Seq, m, err)
		}
		got = append(got, fmt.Sprint(e.Status, " ", e.Stage, " ", e.Progress, " ", e.Message))
	}

	want := []string{
		"processing rendering 20 r",
		"processing rendering 20 theme x",
		"processing rendering 20 w",
		"completed done 100 done",
	}

	diff := cmp.Diff(want, got)
	if diff != "" || last.Seq != 6 || last.Theme != "x" || len(last.Warnings) != 1 || !last.Settled {
		t.Errorf("record at %d, theme %q, warnings %v, settled %v; events (-want +got):\n%s", last.Seq, last.Theme,
			last.Warnings, last.Settled, diff)
	}
}

func TestACompletedJobWithoutAWebhookIsSettledWithItsEnd(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		webhook string
		status  presswork.Status
		settled bool
	}{
		"completed":      {"", presswork.Completed, true},
		"with a webhook": {"https://example.com", presswork.Completed, false},
		"failed":         {"", presswork.Failed, false},
	} {
		t.Run(name, func(t *testing.T) {
			r, id := newJob(t)
			if c.webhook != "" {
				r.rdb.HSet(t.Context(), JobKey(id), fieldWebhook, c.webhook)
			}

			if err := r.OpenLedger(t.Context(), r.rdb, id).Err(); err != nil {
				t.Fatal(err)
			}

			s, err := r.Finish(t.Context(), id, Ending{Nonce: "n", Status: c.status})
			if err != nil {
				t.Fatal(err)
			}

			open := r.rdb.ZScore(t.Context(), LedgerKey, id).Err() == nil
			due := r.rdb.ZScore(t.Context(), SettledKey, id).Val()

			if s.Settled != c.settled || open == c.settled || (due > 0) != c.settled {
				t.Errorf("got settled %v, in the ledger %v, due for packing at %.0f; want settled %v", s.Settled,
					open, due, c.settled)
			}
		})
	}
}
