package worker_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/internal/chromium/printable"
	"presswork/internal/document"
	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
	"presswork/storage"
	"presswork/storage/retention"
	"presswork/tasks"
	"presswork/tasks/redisdial"
	"presswork/themes"
	"presswork/worker"
)

// fakePrinter returns the same small PDF for every document. If before is set, each print calls it first.
type fakePrinter struct {
	prints atomic.Int64
	before func(ctx context.Context) error
}

func (p *fakePrinter) Version() string { return "test" }

// Print returns a PDF of one page, after before has run.
func (p *fakePrinter) Print(ctx context.Context, page printable.Page) ([]byte, error) {
	p.prints.Add(1)

	if p.before != nil {
		if err := p.before(ctx); err != nil {
			return nil, err
		}
	}

	return []byte(onePagePDF), nil
}

const onePagePDF = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj
trailer<</Root 1 0 R>>
%%EOF
`

func (p *fakePrinter) PrintRevised(
	ctx context.Context,
	page printable.Page,
	_ func([]byte) ([]string, error),
) ([]byte, error) {
	return p.Print(ctx, page)
}

// harness is a worker on a real queue and a store on disk, with a fake printer.
type harness struct {
	t       *testing.T
	client  *tasks.Client
	store   *faultyStore
	printer *fakePrinter
	index   redis.UniversalClient // the Redis of the queue, where the keeper counts objects
}

// faultyStore is a store that calls hooks around its methods and can simulate faults.
type faultyStore struct {
	storage.Store
	beforePut   func(key string) error
	slowPut     func(ctx context.Context, key string) // Put then ignores that its context ends
	afterPut    func(key string)
	afterCopy   func(to string)
	beforeGet   func(ctx context.Context)
	unavailable atomic.Bool  // Get, Stat, Copy and Health fail
	denied      string       // the key of an object that cannot be read
	refusals    atomic.Int64 // attempts to read it
	damaged     []string     // the keys of objects that cannot be copied, because they are damaged
}

// Get fails during an outage and for the denied key.
func (s *faultyStore) Get(ctx context.Context, key string, rng storage.Range) (io.ReadCloser, storage.Info, error) {
	if s.beforeGet != nil {
		s.beforeGet(ctx)
	}

	if err := errors.Join(ctx.Err(), s.outage()); err != nil {
		return nil, storage.Info{}, err
	}

	if key == s.denied {
		s.refusals.Add(1)
		return nil, storage.Info{}, errors.New("access denied")
	}

	return s.Store.Get(ctx, key, rng)
}

// outage returns the error of a store that is unavailable, or nil.
func (s *faultyStore) outage() error {
	if s.unavailable.Load() {
		return errors.New("connection refused")
	}

	return nil
}

func (s *faultyStore) Stat(ctx context.Context, key string) (storage.Info, error) {
	if err := s.outage(); err != nil {
		return storage.Info{}, err
	}

	return s.Store.Stat(ctx, key)
}

func (s *faultyStore) Health(ctx context.Context) error {
	return errors.Join(s.outage(), s.Store.Health(ctx))
}

// Put fails during an outage and if beforePut fails.
func (s *faultyStore) Put(
	ctx context.Context,
	key string,
	r io.Reader,
	size int64,
	attrs storage.Attrs,
) (storage.Info, error) {
	if s.beforePut != nil {
		if err := s.beforePut(key); err != nil {
			return storage.Info{}, err
		}
	}

	if s.slowPut != nil {
		s.slowPut(ctx, key)
		// A store may keep the body of a request although its client no longer waits.
		ctx = context.WithoutCancel(ctx)
	}

	info, err := s.Store.Put(ctx, key, r, size, attrs)
	if s.afterPut != nil {
		s.afterPut(key)
	}

	return info, err
}

// Copy fails during an outage and for damaged objects.
func (s *faultyStore) Copy(ctx context.Context, from, to string) (storage.Info, error) {
	if err := s.outage(); err != nil {
		return storage.Info{}, err
	}

	if slices.Contains(s.damaged, from) {
		return storage.Info{}, storage.ErrCorrupt
	}

	info, err := s.Store.Copy(ctx, from, to)
	if s.afterCopy != nil && err == nil {
		s.afterCopy(to)
	}

	return info, err
}

// setup starts a worker with this render time-out.
func setup(t *testing.T, timeout time.Duration) *harness {
	t.Helper()
	return setupSharing(t, timeout, false)
}

// builtins returns the built-in themes, which are read once for all tests.
var builtins = sync.OnceValue(func() *themes.Catalogue { return themes.Open(themes.Options{}) })

// setupSharing is setup with or without a render cache that is shared among owners.
func setupSharing(t *testing.T, timeout time.Duration, shared bool) *harness {
	t.Helper()
	address := redistest.Start(t)

	disk, err := storage.OpenDisk(storage.DiskOptions{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	catalogue := builtins()

	client, err := tasks.NewClient(address, tasks.Options{})
	if err != nil {
		t.Fatal(err)
	}

	index, err := redisdial.Dial(address, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { index.Close() })
	keeper := retention.New(retention.Options{Store: disk, Redis: index})

	server, err := tasks.NewServer(address, tasks.Options{
		RenderSlots: 1,
		Discard: func(ctx context.Context, rec tasks.Record) error {
			return keeper.Delete(ctx, storage.ArtifactKeyOf(rec.ID, rec.ContentType))
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &harness{t: t, client: client, store: &faultyStore{Store: disk}, printer: &fakePrinter{}, index: index}
	w := worker.New(worker.Options{
		SharedRenders: shared,
		Store:         s.store,
		Keeper:        keeper,
		Converter:     document.New(document.Options{Printer: s.printer, Themes: catalogue}),
		Themes:        catalogue,
		RenderTimeout: timeout,
	})
	tasks.Handle(server, tasks.ConvertPDF, w.Convert)
	tasks.Handle(server, tasks.ChooseTheme, w.Choose)
	tasks.Handle(server, tasks.EditPDF, w.EditPDF)

	if err := errors.Join(client.Start(t.Context()), server.Start(t.Context())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(server.Stop(context.Background()), client.Stop(context.Background())); err != nil {
			t.Error(err)
		}
	})

	return s
}

// submit submits a conversion without an owner.
func (s *harness) submit(id string, payload tasks.Convert) {
	s.t.Helper()
	s.submitFor("", id, payload)
}

func (s *harness) submitFor(owner, id string, payload tasks.Convert) {
	s.t.Helper()

	task, err := tasks.ConvertPDF.Task(payload)
	if err != nil {
		s.t.Fatal(err)
	}

	_, _, err = s.client.Submit(
		s.t.Context(),
		tasks.Submission{ID: id, Owner: owner, Kind: presswork.KindConversion, Theme: payload.Theme, Task: task},
	)
	if err != nil {
		s.t.Fatal(err)
	}
}

// waitForEnd waits for the job's end and returns the record.
func (s *harness) waitForEnd(id string) tasks.Record {
	s.t.Helper()

	ctx, cancel := context.WithTimeout(s.t.Context(), wait.Patience)
	defer cancel()

	watch, err := s.client.Watch(ctx, id, -1)
	if err != nil {
		s.t.Fatal(err)
	}
	defer watch.Close()

	for {
		select {
		case _, more := <-watch.Events:
			if more {
				continue
			}

			rec, err := s.client.Job(s.t.Context(), id)
			if err != nil {
				s.t.Fatal(err)
			}

			return rec
		case <-ctx.Done():
			s.t.Fatalf("job %s has not ended within %s", id, wait.Patience)
		}
	}
}

func (s *harness) isStored(key string) bool {
	s.t.Helper()

	_, err := s.store.Stat(s.t.Context(), key)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		s.t.Fatal(err)
	}

	return err == nil
}
