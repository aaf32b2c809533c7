package tasks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/test/redistest"
)

// newJob returns the records of a fresh Redis with one job in it.
func newJob(t *testing.T, o ...Options) (*records, string) {
	t.Helper()

	c, err := NewClient(redistest.Start(t), append(o, Options{})[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Stop(context.Background()) })

	task, err := ConvertPDF.Task(Convert{Content: "x"})
	if err != nil {
		t.Fatal(err)
	}

	s := Submission{ID: NewID(), Kind: presswork.KindConversion, Task: task}
	if err := c.Accept(t.Context(), s); err != nil {
		t.Fatal(err)
	}

	return c.records, s.ID
}

func begin(t *testing.T, r *records, id string) (fence string) {
	t.Helper()

	now, err := r.begin(t.Context(), id, ConvertPDF.Name, "w")
	if err != nil {
		t.Fatal(err)
	}

	return now.fence
}

// progress and note report one step, or one note.
func (r *records) progress(
	ctx context.Context,
	id, fence string,
	stage presswork.Stage,
	percent int,
	message string,
) error {
	return r.tell(ctx, id, fence, r.progressed(stage, percent, message))
}

func (r *records) note(ctx context.Context, id, fence, message string, warnings []fault.Warning, fields ...any) error {
	note, err := r.noted(message, warnings, fields...)
	return errors.Join(err, r.tell(ctx, id, fence, note))
}

func read(t *testing.T, r *records, id string) *stored {
	t.Helper()

	s, err := r.read(t.Context(), id)
	if err != nil || s == nil {
		t.Fatal(s, err)
	}

	return s
}

func TestStageAndProgressNeverGoBack(t *testing.T) {
	t.Parallel()
	r, id := newJob(t)
	fence := begin(t, r, id)
	step := func(stage presswork.Stage, percent int, wantStage presswork.Stage, wantPercent, wantEvents int) {
		t.Helper()

		before := read(t, r, id).Seq
		if err := r.progress(t.Context(), id, fence, stage, percent, ""); err != nil {
			t.Fatal(err)
		}

		s := read(t, r, id)
		if s.Stage != wantStage || s.Progress != wantPercent || s.Seq != before+int64(wantEvents) {
			t.Errorf("%s %d: stage %s, progress %d, %d events", stage, percent, s.Stage, s.Progress, s.Seq-before)
		}
	}
	step(presswork.StageRendering, 40, presswork.StageRendering, 40, 1)
	step(presswork.StageRendering, 40, presswork.StageRendering, 40, 0)
	step(presswork.StageAnalyzing, 10, presswork.StageRendering, 40, 0)
	step(presswork.StagePrinting, 30, presswork.StagePrinting, 40, 1)
	step(presswork.StagePrinting, 9, presswork.StagePrinting, 40, 0)
	step(presswork.StagePrinting, 100, presswork.StagePrinting, 100, 1)
	// A second attempt starts over, and the caller does not see it go back.
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
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			if err := r.progress(t.Context(), id, fence, stage, i, ""); err != nil {
				t.Fatal(err)
			}

			if got := read(t, r, id).Stage; got != stage {
				t.Errorf("stage %s after %s", got, stage)
			}
		})
	}
}

func TestOnlyTheLatestRunSpeaksForTheJob(t *testing.T) {
	t.Parallel()
	r, id := newJob(t)
	old, young := begin(t, r, id), begin(t, r, id)

	ctx := t.Context()
	for name, err := range map[string]error{
		"progress": r.progress(ctx, id, old, presswork.StagePrinting, 50, ""),
		"note":     r.note(ctx, id, old, "m", nil, fieldTheme, "x"),
		"finish":   second(r.finish(ctx, id, ending{fence: old, nonce: "a", status: presswork.Completed})),
	} {
		t.Run(name, func(t *testing.T) {
			if !errors.Is(err, ErrSuperseded) {
				t.Errorf("%s of the old run: %v", name, err)
			}
		})
	}

	if _, err := r.finish(ctx, id, ending{fence: young, nonce: "b", status: presswork.Completed}); err != nil {
		t.Errorf("the latest run: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestAJobBeginsWithItsDequeue(t *testing.T) {
	t.Parallel()
	r, id := newJob(t)
	dequeued := redis.NewScript(
		"local function begin(id, type, argv)\n" + beginDequeued + "\nend\nreturn begin(ARGV[1], ARGV[2], {unpack(ARGV, 3)})",
	)
	dequeue := func(id, kind string) ([]any, error) {
		return dequeued.Run(t.Context(), r.rdb, nil, id, kind, stamp(r.clock.Now()), NewID(), "w", " "+ConvertPDF.Name+" "+ExportPage.Name+" ").
			Slice()
	}
	// Tasks of release 0.1, of kinds that this worker does not know, and of no job.
	for i, kind := range []string{ConvertPDF.Name, ofJob + "convert:v2", ofJob + ChooseTheme.Name, DeliverWebhook.Name} {
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			if _, err := dequeue(id, kind); !errors.Is(err, redis.Nil) || read(t, r, id).Seq != 1 {
				t.Errorf("a dequeue of kind %q began the job: %v", kind, err)
			}
		})
	}

	for id, kind := range map[string]string{NewID(): ofJob + ConvertPDF.Name, id: ofJob + ExportPage.Name} {
		reply, err := dequeue(id, kind)
		if err != nil {
			t.Fatal(err)
		}

		if _, err := readBegun(reply); loss(err) == nil {
			t.Errorf("a job that is not there, or has another task, has begun: %v", err)
		}
	}

	reply, err := dequeue(id, ofJob+ConvertPDF.Name)
	if err != nil {
		t.Fatal(err)
	}

	now, err := readBegun(reply)
	if err != nil || string(now.payload) != `{"content":"x","theme":"","options":{}}` || now.fence != "1" {
		t.Errorf("%v: fence %q, payload %s", err, now.fence, now.payload)
	}

	s := read(t, r, id)
	if diff := cmp.Diff(
		s.Record,
		now.job.Record,
	); diff != "" || s.Status != presswork.Processing || s.Seq != 2 ||
		s.Attempts != 1 {
		t.Errorf("%s, seq %d, attempt %d; in Redis and as answered:\n%s", s.Status, s.Seq, s.Attempts, diff)
	}
}

func TestReportsOfOneWriteAreEventsInTheirOrder(t *testing.T) {
	t.Parallel()
	r, id := newJob(t)
	fence := begin(t, r, id)

	themed, err := r.noted("theme x", nil, fieldTheme, "x")
	if err != nil {
		t.Fatal(err)
	}

	warned, err := r.noted("w", []fault.Warning{{Code: "c", Message: "w"}})
	if err != nil {
		t.Fatal(err)
	}

	sub := r.rdb.Subscribe(t.Context(), eventsChannel)
	defer sub.Close()

	if _, err := sub.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := []report{r.progressed(presswork.StageRendering, 20, "r"), themed, themed, warned, warned}

	last, err := r.finish(
		t.Context(),
		id,
		ending{fence: fence, nonce: "n", status: presswork.Completed, message: "done", before: before},
	)
	if err != nil {
		t.Fatal(err)
	}

	events, err := r.events(t.Context(), id, 2)
	if err != nil {
		t.Fatal(err)
	}
	var got []string

	for i, e := range events {
		if e.Seq != int64(i)+3 {
			t.Errorf("event %d has the number %d", i, e.Seq)
		}

		if m, err := sub.ReceiveMessage(
			t.Context(),
		); err != nil ||
			!strings.HasPrefix(m.Payload, fmt.Sprintf("%s %d {", id, e.Seq)) {
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
	if diff := cmp.Diff(
		want,
		got,
	); diff != "" || last.Seq != 6 || last.Theme != "x" || len(last.Warnings) != 1 ||
		!last.settled {
		t.Errorf(
			"record at %d, theme %q, warnings %v, settled %v; events (-want +got):\n%s",
			last.Seq,
			last.Theme,
			last.Warnings,
			last.settled,
			diff,
		)
	}
}

func TestACompletedJobWithoutAWebhookIsSettledWithItsEnd(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		webhook string
		status  presswork.Status
		settled bool
	}{"completed": {"", presswork.Completed, true}, "with a webhook": {"https://example.com", presswork.Completed, false}, "failed": {"", presswork.Failed, false}} {
		r, id := newJob(t)
		if c.webhook != "" {
			r.rdb.HSet(t.Context(), jobKey(id), fieldWebhook, c.webhook)
		}

		if err := openScript.Run(t.Context(), r.rdb, []string{ledgerKey}, id, 1).Err(); err != nil {
			t.Fatal(err)
		}

		s, err := r.finish(t.Context(), id, ending{nonce: "n", status: c.status})
		if err != nil {
			t.Fatal(err)
		}

		open, due := r.rdb.ZScore(t.Context(), ledgerKey, id).
			Err() ==
			nil, r.rdb.ZScore(t.Context(), settledKey, id).
			Val()
		if s.settled != c.settled || open == c.settled || (due > 0) != c.settled {
			t.Errorf("%s: settled %v, in the ledger %v, packed at %.0f", name, s.settled, open, due)
		}
	}
}

func TestRepeatedTransitionsAfterALostAnswerHappenOnce(t *testing.T) {
	t.Parallel()
	r, id := newJob(t)
	ctx := t.Context()

	args := []any{stamp(r.clock.Now()), "nonce", ConvertPDF.Name, "w"}
	for range 2 {
		if err := r.run(ctx, beginScript, id, args).Err(); err != nil {
			t.Fatal(err)
		}
	}

	s := read(t, r, id)
	if s.Attempts != 1 || s.Seq != 2 {
		t.Errorf("begin: %d attempts, seq %d", s.Attempts, s.Seq)
	}

	for range 2 {
		if err := r.note(ctx, id, "1", "theme x", nil, fieldTheme, "x"); err != nil {
			t.Fatal(err)
		}

		w := fault.Warning{Code: fault.AltMissing, Message: `a "quoted" / line`, Line: 3}
		if err := r.note(ctx, id, "1", w.Message, []fault.Warning{w, {Code: "x", Message: "y"}}); err != nil {
			t.Fatal(err)
		}
	}

	s = read(t, r, id)
	if len(s.Warnings) != 2 || s.Warnings[0].Line != 3 || s.Theme != "x" {
		t.Errorf("notes: %+v, seq %d", s.Warnings, s.Seq)
	}
	before := s.Seq

	for range 2 {
		if _, err := r.finish(ctx, id, ending{fence: "1", nonce: "n", status: presswork.Completed}); err != nil {
			t.Errorf("finish: %v", err)
		}
	}

	if s = read(t, r, id); s.Seq != before+1 {
		t.Errorf("finish: seq %d after %d", s.Seq, before)
	}
}

func TestTerminalStateIsWrittenOnce(t *testing.T) {
	t.Parallel()
	r, id := newJob(t)
	fence := begin(t, r, id)
	ctx := t.Context()
	var wg sync.WaitGroup
	var mu sync.Mutex
	var won []presswork.Status

	for i := range 30 {
		e := ending{
			nonce:  fmt.Sprint(i),
			status: []presswork.Status{presswork.Completed, presswork.Failed, presswork.Cancelled}[i%3],
		}
		if i%3 < 2 {
			e.fence = fence
		}
		wg.Go(func() {
			_, err := r.finish(ctx, id, e)
			if _, ok := errors.AsType[endedError](err); err != nil && !ok {
				t.Error(err)
			}

			if err == nil {
				mu.Lock()
				won = append(won, e.status)
				mu.Unlock()
			}
		})
	}
	wg.Wait()

	s := read(t, r, id)
	if len(won) != 1 || s.Status != won[0] || s.Seq != 3 {
		t.Fatalf("won: %v; the job is %s at %d", won, s.Status, s.Seq)
	}

	if _, err := r.begin(ctx, id, ConvertPDF.Name, "w"); loss(err) == nil {
		t.Errorf("a finished job began again: %v", err)
	}

	if err := r.progress(ctx, id, fence, presswork.StageDone, 100, ""); loss(err) == nil {
		t.Errorf("progress on a finished job: %v", err)
	}
	// What failed has its task until it is a dead letter.
	if task, err := r.task(ctx, id); err != nil || (task.Kind != "") != (s.Status == presswork.Failed) {
		t.Errorf("a job that is %s has the task %q: %v", s.Status, task.Kind, err)
	}
}

func TestSequenceIsGaplessUnderConcurrentTransitions(t *testing.T) {
	t.Parallel()
	r, id := newJob(t)
	fence := begin(t, r, id)
	ctx := t.Context()

	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			for i := range 60 {
				var err error

				switch rand.N(3) {
				case 0:
					err = r.progress(ctx, id, fence, presswork.StagePrinting, rand.N(100), fmt.Sprintf("%d-%d", n, i))
				case 1:
					err = r.note(
						ctx,
						id,
						fence,
						fmt.Sprintf("theme %d-%d", n, i),
						nil,
						fieldTheme,
						fmt.Sprintf("%d-%d", n, i),
					)
				case 2:
					err = r.note(
						ctx,
						id,
						fence,
						"warned",
						[]fault.Warning{{Code: "c", Message: fmt.Sprintf("%d-%d", n, i)}},
					)
				}

				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()

	last, err := r.finish(
		ctx,
		id,
		ending{fence: fence, nonce: "n", status: presswork.Completed, artifact: &presswork.Artifact{ID: "a"}},
	)
	if err != nil {
		t.Fatal(err)
	}

	events, err := r.events(ctx, id, 0)
	if err != nil {
		t.Fatal(err)
	}
	percent := 0

	for i, e := range events {
		if e.Seq != int64(i+1) {
			t.Fatalf("event %d has seq %d", i, e.Seq)
		}

		if e.Progress < percent {
			t.Fatalf("progress went back to %d at %d", e.Progress, e.Seq)
		}
		percent = e.Progress
	}

	final := events[len(events)-1]
	if final.Seq != last.Seq || final.Type != presswork.EventCompleted || final.Progress != 100 ||
		final.Stage != presswork.StageDone {
		t.Errorf("last event %+v, record at %d", final, last.Seq)
	}

	if diff := cmp.Diff(last.lastEvent(), final); diff != "" {
		t.Errorf("the record and its last event differ (-record +event):\n%s", diff)
	}
}

func TestRecordsExpireAfterRetentionAndAWeekOrWhenTheyAreToldTo(t *testing.T) {
	t.Parallel()

	for want, o := range map[int]Options{37: {}, 90: {Records: 90 * 24 * time.Hour}} {
		r, id := newJob(t, o)
		ctx := t.Context()

		job, err := r.read(ctx, id)
		if err == nil {
			err = r.renew(ctx, job) // as the sweeper does
		}

		if err != nil {
			t.Fatal(err)
		}

		for i, key := range []string{jobKey(id), logKey(id), PayloadKey(id)} {
			t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
				if ttl := r.rdb.TTL(ctx, key).Val().Hours() / 24; ttl < float64(want)-1 || ttl > float64(want) {
					t.Errorf("%s lives %.1f days, want %d", key, ttl, want)
				}
			})
		}
		r.rdb.PExpire(ctx, jobKey(id), time.Hour)
		r.rdb.PExpire(ctx, logKey(id), time.Hour)

		if _, err := r.finish(ctx, id, ending{nonce: "n", status: presswork.Cancelled}); err != nil {
			t.Fatal(err)
		}

		for _, key := range []string{jobKey(id), logKey(id)} {
			if ttl := r.rdb.TTL(ctx, key).Val().Hours() / 24; ttl < float64(want)-1 || ttl > float64(want) {
				t.Errorf("%s lives %.1f days after its end, want %d", key, ttl, want)
			}
		}

		if n := r.rdb.Exists(ctx, PayloadKey(id)).Val(); n != 0 {
			t.Error("the payload outlives the job's end")
		}
	}
}

func TestTheRecordOfAnOpenJobDoesNotExpire(t *testing.T) {
	t.Parallel()

	o, err := Options{Records: 24 * time.Hour}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	r, open := newJob(t, o)
	s := &Server{
		rdb:     r.rdb,
		records: r,
		outbox:  newOutbox(r.rdb, r.clock, o),
		log:     slog.New(slog.DiscardHandler),
		metrics: r.metrics,
	}
	ctx := t.Context()
	// It has waited for a day.
	for _, key := range []string{jobKey(open), logKey(open), PayloadKey(open), ownerKey("")} {
		r.rdb.PExpire(ctx, key, time.Minute)
	}
	r.rdb.Del(ctx, ownerKey(""))

	if err := s.sweepLedger(ctx, time.Hour); err != nil {
		t.Fatal(err)
	}

	for i, key := range []string{jobKey(open), logKey(open), PayloadKey(open), ownerKey("")} {
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			if ttl := r.rdb.PTTL(ctx, key).Val(); ttl < 23*time.Hour {
				t.Errorf("%s lives %s more, want a day", key, ttl)
			}
		})
	}

	if ids := r.rdb.ZRange(ctx, ownerKey(""), 0, -1).Val(); !slices.Contains(ids, open) {
		t.Errorf("the owner's list holds %v, without the job", ids)
	}

	if _, err := r.finish(ctx, open, ending{nonce: "n", status: presswork.Cancelled}); err != nil {
		t.Fatal(err)
	}
	r.rdb.PExpire(ctx, jobKey(open), time.Minute)

	if err := s.sweepLedger(ctx, 2*time.Hour); err != nil {
		t.Fatal(err)
	}

	if ttl := r.rdb.PTTL(ctx, jobKey(open)).Val(); ttl > time.Minute {
		t.Errorf("the record of an ended job lives %s more, want a minute", ttl)
	}
}
