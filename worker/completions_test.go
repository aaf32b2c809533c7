package worker_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"presswork/internal/inference"
	"presswork/internal/inference/meter"
	"presswork/internal/test/redistest"
	"presswork/storage"
	"presswork/storage/retention"
	"presswork/tasks"
	"presswork/tasks/stream"
	"presswork/worker"
)

// stalled is an engine that has said a word and waits to go on.
type stalled struct{ begun, proceed chan struct{} }

func (e stalled) Complete(ctx context.Context, _ *inference.Request, _ *inference.Model, emit func(*inference.Delta) error) error {
	if err := emit(&inference.Delta{Content: "Hel"}); err != nil {
		return err
	}
	e.begun <- struct{}{}
	select {
	case <-e.proceed:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return errors.Join(emit(&inference.Delta{Content: "lo"}), emit(&inference.Delta{Finish: "stop", Usage: &inference.RawUsage{PromptTokens: 3, CompletionTokens: 2}}))
}

func (stalled) Models(context.Context) ([]string, error) { return nil, nil }
func (stalled) Traits() inference.Traits                 { return inference.Traits{} }

func TestEveryRunRecordsItsOwnUsage(t *testing.T) {
	t.Parallel()
	address := redistest.Start(t)
	rdb, err := tasks.Dial(address, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rdb.Close() })
	disk, err := storage.OpenDisk(storage.DiskOptions{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	client, err := tasks.NewClient(address, tasks.Options{})
	if err != nil {
		t.Fatal(err)
	}
	server, err := tasks.NewServer(address, tasks.Options{Queues: []tasks.Queue{tasks.Infer}, DrainTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	counts := meter.New(rdb, log)
	engine := stalled{make(chan struct{}), make(chan struct{})}
	catalogue := inference.NewCatalogue([]inference.Model{{ID: "m", Upstreams: []inference.Upstream{{BaseURL: "http://a"}}}})
	completions := worker.NewCompletions(worker.CompletionOptions{
		Gateway: inference.NewGateway(inference.GatewayOptions{
			Catalogue: func() *inference.Catalogue { return catalogue },
			Open:      func(inference.Upstream) (inference.Engine, error) { return engine, nil },
		}),
		Meter: counts, Store: disk, Keeper: retention.New(retention.Options{Store: disk, Redis: rdb}), Log: log,
	})
	returned := make(chan struct{}, 1)
	tasks.HandleCalls(server, func(ctx context.Context, run *stream.Run) error {
		defer func() { returned <- struct{}{} }()
		return completions.Complete(ctx, run)
	})
	if err := errors.Join(client.Start(t.Context()), server.Start(t.Context())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Stop(context.Background())
		client.Stop(context.Background())
	})
	body := []byte(`{"request":{"model":"m","messages":[{"role":"user","parts":[{"text":"Hi"}]}]}}`)
	for name, superseded := range map[string]bool{"ann": false, "bob": true} {
		id := tasks.NewID()
		answer, err := client.Call(t.Context(), stream.Call{ID: id, Owner: name, Tier: stream.OnDemand, Body: body})
		if err != nil {
			t.Fatal(err)
		}
		<-engine.begun
		if superseded {
			// Another worker has begun a run of it.
			rdb.HSet(t.Context(), "pw:{"+id+"}:call", "fence", "another", "run", 2)
		}
		select {
		case engine.proceed <- struct{}{}:
			<-returned
		case <-returned: // a superseded run may have found out by itself
		}
		answer.Close()
		now := time.Now()
		rows, err := counts.Query(t.Context(), meter.Query{From: now.Add(-time.Hour), To: now, Key: &name, By: []string{"key"}})
		if err != nil || (len(rows) == 0) != superseded {
			t.Errorf("superseded %t: %+v (%v)", superseded, rows, err)
		}
	}
	// A retry of a call that everybody has left bears its id, and is paid for, too.
	name := "eve"
	for try := range 2 {
		answer, err := client.Call(t.Context(), stream.Call{
			ID: tasks.NewID(), Owner: name, Tier: stream.OnDemand, Body: body, IdempotencyKey: "k", Fingerprint: "f",
		})
		if err != nil {
			t.Fatal(err)
		}
		<-engine.begun
		if try == 0 {
			rdb.Publish(t.Context(), "pw:cancel", answer.ID)
		} else {
			engine.proceed <- struct{}{}
		}
		<-returned
		for try == 0 && rdb.Exists(t.Context(), "pw:{"+answer.ID+"}:call").Val() > 0 {
			time.Sleep(5 * time.Millisecond)
		}
		answer.Close()
	}
	now := time.Now()
	rows, err := counts.Query(t.Context(), meter.Query{From: now.Add(-time.Hour), To: now, Key: &name, By: []string{"key"}})
	if err != nil || len(rows) != 1 || rows[0].Requests != 2 || rows[0].Cancelled != 1 {
		t.Errorf("a retry: %+v (%v)", rows, err)
	}
}
