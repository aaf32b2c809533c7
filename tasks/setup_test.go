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

// bundle is what most tests need: a Redis, a client on it, and a raw view.
type bundle struct {
	address string
	client  *tasks.Client
	rdb     redis.UniversalClient
}

func setup(t testing.TB, o tasks.Options) *bundle {
	t.Helper()
	return setupOn(t, redistest.Start(t), o)
}

// setupHooked is setup with a hook that sees and changes all that the client sends.
func setupHooked(t testing.TB, h redis.Hook) *bundle {
	t.Helper()
	return setupWith(t, redistest.Start(t), tasks.Options{}, h)
}

func setupOn(t testing.TB, address string, o tasks.Options) *bundle {
	t.Helper()
	return setupWith(t, address, o, nil)
}

func setupWith(t testing.TB, address string, o tasks.Options, h redis.Hook) *bundle {
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

// serve starts a server whose conversions are done by h.
func (b *bundle) serve(t testing.TB, o tasks.Options, h handlerFunc) *tasks.Server {
	t.Helper()
	return b.serveKind(t, o, tasks.ConvertPDF, h)
}

func (b *bundle) serveKind(t testing.TB, o tasks.Options, k tasks.Kind[tasks.Convert], h handlerFunc) *tasks.Server {
	t.Helper()
	s := b.server(t, o)
	tasks.Handle(s, k, h)

	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}

	return s
}

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

// submission is a small conversion.
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

// submit submits and returns the job's id.
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

// finished waits for the job's terminal state.
func (b *bundle) finished(t testing.TB, id string) tasks.Record {
	t.Helper()
	b.events(t, id, 0)

	return b.job(t, id)
}

// events returns every event of a job up to the terminal one, and fails when a
// sequence number is missing, doubled or out of order.
func (b *bundle) events(t testing.TB, id string, since int64) []presswork.Event {
	t.Helper()

	w, err := b.client.Watch(t.Context(), id, since)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()

	return drain(t, w, since)
}

func drain(t testing.TB, w *tasks.Watch, since int64) (events []presswork.Event) {
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
				t.Fatalf("event %d came where %d was due: %+v", e.Seq, since, e)
			}
			events = append(events, e)
		case <-deadline:
			t.Fatalf("no terminal event within %s; had %+v", wait.Patience, events)
		}
	}
}

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
