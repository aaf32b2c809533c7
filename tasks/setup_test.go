package tasks_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
	"presswork/tasks"
	"presswork/tasks/redisdial"
)

func TestMain(m *testing.M) {
	if address := os.Getenv(childEnv); address != "" {
		runChild(address)
		return
	}
	os.Exit(m.Run())
}

// bundle is the set-up of most tests: a Redis, a client of it, and a raw connection.
type bundle struct {
	address string
	client  *tasks.Client
	rdb     redis.UniversalClient // the raw connection
}

// setup starts a Redis and a client of it.
func setup(t testing.TB, o tasks.Options) *bundle {
	t.Helper()
	return setupOn(t, redistest.Start(t), o)
}

// setupWithHook is setup with a hook on the client's commands.
func setupWithHook(t testing.TB, h redis.Hook) *bundle {
	t.Helper()
	return setupOnWithHook(t, redistest.Start(t), tasks.Options{}, h)
}

// setupOn starts a client of the Redis at this address.
func setupOn(t testing.TB, address string, o tasks.Options) *bundle {
	t.Helper()
	return setupOnWithHook(t, address, o, nil)
}

func setupOnWithHook(t testing.TB, address string, o tasks.Options, h redis.Hook) *bundle {
	t.Helper()

	client, err := tasks.NewClient(address, o)
	if err != nil {
		t.Fatal(err)
	}

	if h != nil { // before the client starts, since go-redis reads its hooks without a lock
		client.AddHook(h)
	}

	if err := client.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Stop(context.Background()) })

	rdb, err := redisdial.Dial(address, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rdb.Close() })

	return &bundle{address, client, rdb}
}

type handlerFunc = func(context.Context, *tasks.Run, tasks.Convert) error

// serve starts a server that runs conversions with h.
func (b *bundle) serve(t testing.TB, o tasks.Options, h handlerFunc) *tasks.Server {
	t.Helper()
	return b.serveKind(t, o, tasks.ConvertPDF, h)
}

// serveKind is serve for a variant of ConvertPDF, such as one with fewer retries.
func (b *bundle) serveKind(t testing.TB, o tasks.Options, k tasks.Kind[tasks.Convert], h handlerFunc) *tasks.Server {
	t.Helper()
	s := b.server(t, o)
	tasks.Handle(s, k, h)

	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}

	return s
}

// server returns a server that has not started. It is stopped at the end of the test.
func (b *bundle) server(t testing.TB, o tasks.Options) *tasks.Server {
	t.Helper()

	s, err := tasks.NewServer(b.address, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), wait.Patience)
		defer cancel()

		if err := s.Stop(ctx); err != nil {
			t.Errorf("Stop: %v", err)
		}
	})

	return s
}

// submission returns a small conversion.
func submission(t testing.TB) tasks.Submission {
	t.Helper()
	return submissionOf(t, tasks.ConvertPDF)
}

func submissionOf(t testing.TB, k tasks.Kind[tasks.Convert]) tasks.Submission {
	t.Helper()

	task, err := k.Task(tasks.Convert{Content: "# Hi", Theme: "nord"})
	if err != nil {
		t.Fatal(err)
	}

	return tasks.Submission{ID: tasks.NewID(), Kind: presswork.KindConversion, Theme: "nord", Owner: "ann", Task: task}
}

// submit submits a job and returns its id.
func (b *bundle) submit(t testing.TB, s tasks.Submission) string {
	t.Helper()

	rec, _, err := b.client.Submit(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}

	return rec.ID
}

func (b *bundle) job(t testing.TB, id string) tasks.Record {
	t.Helper()

	rec, err := b.client.Job(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}

	return rec
}

// waitForEnd waits for the job's terminal event and returns its record.
func (b *bundle) waitForEnd(t testing.TB, id string) tasks.Record {
	t.Helper()
	b.events(t, id, 0)

	return b.job(t, id)
}

// wantCompleted waits for the end of a job and fails the test unless it completed after this number of attempts.
func (b *bundle) wantCompleted(t testing.TB, id string, attempts int) {
	t.Helper()

	if rec := b.waitForEnd(t, id); rec.Status != presswork.Completed || rec.Attempts != attempts {
		t.Errorf("job %s is %s after %d attempts (%v), want completed after %d", id, rec.Status, rec.Attempts,
			rec.Error, attempts)
	}
}

func countTerminal(events []presswork.Event) (n int) {
	for _, e := range events {
		if e.Status.Terminal() {
			n++
		}
	}

	return n
}

// events waits for the terminal event of a job and returns all events after since. It fails the test if a sequence
// number is missing, repeated or out of order.
func (b *bundle) events(t testing.TB, id string, since int64) []presswork.Event {
	t.Helper()

	w, err := b.client.Watch(t.Context(), id, since)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()

	return readEvents(t, w, since)
}

// readEvents returns the events of a watch up to the terminal one. It checks that their numbers follow since.
func readEvents(t testing.TB, w *tasks.Watch, since int64) (events []presswork.Event) {
	t.Helper()
	deadline := time.After(wait.Patience)

	for {
		select {
		case e, open := <-w.Events:
			if !open {
				if err := w.Err(); err != nil {
					t.Fatalf("watch ended: %v", err)
				}

				return events
			}

			if since++; e.Seq != since {
				t.Fatalf("got event %d, want %d: %+v", e.Seq, since, e)
			}
			events = append(events, e)
		case <-deadline:
			t.Fatalf("no terminal event within %s; got %+v", wait.Patience, events)
		}
	}
}

// complete is a handler that completes the job at once.
func complete(ctx context.Context, run *tasks.Run, _ tasks.Convert) error {
	return run.Complete(ctx, artifact(run.ID), false)
}

func artifact(id string) presswork.Artifact {
	return presswork.Artifact{ID: id, Size: 3, Pages: 1, ContentType: "application/pdf", Filename: "a.pdf"}
}

func wantCode(t testing.TB, err error, want fault.Code) {
	t.Helper()

	if got := fault.CodeOf(err); got != want {
		t.Fatalf("code %q (%v), want %q", got, err, want)
	}
}
