package worker_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/internal/pdf"
	"presswork/internal/test/redistest"
	"presswork/storage"
	"presswork/storage/retention"
	"presswork/tasks"
	"presswork/themes"
	"presswork/worker"
)

// printer answers with the same small PDF at once; before is called first.
type printer struct {
	prints atomic.Int64
	before func(ctx context.Context) error
}

func (p *printer) Version() string { return "test" }

func (p *printer) Print(ctx context.Context, page presswork.Page) ([]byte, error) {
	p.prints.Add(1)
	if p.before != nil {
		if err := p.before(ctx); err != nil {
			return nil, err
		}
	}
	return []byte("%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n" +
		"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"), nil
}

func (p *printer) PrintRevised(ctx context.Context, page presswork.Page, _ func([]byte) ([]string, error)) ([]byte, error) {
	return p.Print(ctx, page)
}

// shop is a worker on a real queue and a disk store, with a scripted printer.
type shop struct {
	t       *testing.T
	client  *tasks.Client
	store   *faultyStore
	printer *printer
	index   redis.UniversalClient // where the keeper counts
}

// faultyStore calls its hooks around the store's own methods.
type faultyStore struct {
	storage.Store
	beforePut func(key string) error
	slowPut   func(ctx context.Context, key string)
	afterPut  func(key string)
	afterCopy func(to string)
	beforeGet func(ctx context.Context)
}

func (s *faultyStore) Get(ctx context.Context, key string, rng storage.Range) (io.ReadCloser, storage.Info, error) {
	if s.beforeGet != nil {
		s.beforeGet(ctx)
	}
	if err := ctx.Err(); err != nil {
		return nil, storage.Info{}, err
	}
	return s.Store.Get(ctx, key, rng)
}

func (s *faultyStore) Put(ctx context.Context, key string, r io.Reader, size int64, attrs storage.Attrs) (storage.Info, error) {
	if s.beforePut != nil {
		if err := s.beforePut(key); err != nil {
			return storage.Info{}, err
		}
	}
	if s.slowPut != nil {
		s.slowPut(ctx, key)
		// What a request has brought is stored, though nobody waits for the answer.
		ctx = context.WithoutCancel(ctx)
	}
	info, err := s.Store.Put(ctx, key, r, size, attrs)
	if s.afterPut != nil {
		s.afterPut(key)
	}
	return info, err
}

func (s *faultyStore) Copy(ctx context.Context, from, to string) (storage.Info, error) {
	info, err := s.Store.Copy(ctx, from, to)
	if s.afterCopy != nil && err == nil {
		s.afterCopy(to)
	}
	return info, err
}

func setup(t *testing.T, timeout time.Duration) *shop {
	t.Helper()
	return setupSharing(t, timeout, false)
}

func setupSharing(t *testing.T, timeout time.Duration, shared bool) *shop {
	t.Helper()
	address := redistest.Start(t)
	disk, err := storage.OpenDisk(storage.DiskOptions{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	catalogue, err := themes.Open(themes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	client, err := tasks.NewClient(address, tasks.Options{})
	if err != nil {
		t.Fatal(err)
	}
	server, err := tasks.NewServer(address, tasks.Options{RenderSlots: 1})
	if err != nil {
		t.Fatal(err)
	}
	index, err := tasks.Dial(address, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { index.Close() })
	s := &shop{t: t, client: client, store: &faultyStore{Store: disk}, printer: &printer{}, index: index}
	w := worker.New(worker.Options{
		SharedRenders: shared,
		Store:         s.store,
		Keeper:        retention.New(retention.Options{Store: disk, Redis: index}),
		Converter:     pdf.New(pdf.Options{Printer: s.printer, Themes: catalogue}),
		RenderTimeout: timeout,
	})
	tasks.Handle(server, tasks.ConvertPDF, w.Convert)
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

func (s *shop) submit(id string, payload tasks.Convert) {
	s.t.Helper()
	s.submitFor("", id, payload)
}

func (s *shop) submitFor(owner, id string, payload tasks.Convert) {
	s.t.Helper()
	task, err := tasks.ConvertPDF.Task(payload)
	if err != nil {
		s.t.Fatal(err)
	}
	if _, _, err := s.client.Submit(s.t.Context(), tasks.Submission{ID: id, Owner: owner, Kind: presswork.KindConversion, Theme: payload.Theme, Task: task}); err != nil {
		s.t.Fatal(err)
	}
}

// ended waits for the job's end and returns the record.
func (s *shop) ended(id string) tasks.Record {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 30*time.Second)
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
			s.t.Fatalf("job %s has not ended", id)
		}
	}
}

func (s *shop) stored(key string) bool {
	s.t.Helper()
	_, err := s.store.Stat(s.t.Context(), key)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		s.t.Fatal(err)
	}
	return err == nil
}

func TestAnEqualDocumentComesFromTheRenderCache(t *testing.T) {
	t.Parallel()
	s := setup(t, time.Minute)
	first, second, other := tasks.NewID(), tasks.NewID(), tasks.NewID()
	s.submit(first, tasks.Convert{Content: "# Same", Theme: "nord"})
	a := s.ended(first)
	s.submit(second, tasks.Convert{Content: "# Same", Theme: "nord"})
	b := s.ended(second)
	if s.printer.prints.Load() != 1 || a.Cached || !b.Cached || b.Artifact.SHA256 != a.Artifact.SHA256 {
		t.Errorf("%d prints; first %+v, second %+v", s.printer.prints.Load(), a.Artifact, b.Artifact)
	}
	s.submit(other, tasks.Convert{Content: "# Same", Theme: "dracula"})
	if c := s.ended(other); c.Cached || s.printer.prints.Load() != 2 {
		t.Errorf("another theme came from the cache: %+v", c)
	}
}

// Whether a document comes from the cache reports whether somebody had it printed.
func TestTheRenderCacheTellsNoKeyOfAnother(t *testing.T) {
	t.Parallel()
	for _, shared := range []bool{false, true} {
		s := setupSharing(t, time.Minute, shared)
		print := func(owner string) bool {
			id := tasks.NewID()
			s.submitFor(owner, id, tasks.Convert{Content: "# Secret", Theme: "nord"})
			return s.ended(id).Cached
		}
		if print("alice") {
			t.Error("the first print came from the cache")
		}
		if got := print("bob"); got != shared {
			t.Errorf("shared %v: cached for another key: %v", shared, got)
		}
		if !print("alice") || !print("bob") {
			t.Errorf("shared %v: a key's own print did not come from the cache", shared)
		}
	}
}

func TestACancellationThatComesAfterTheStoringLeavesNoArtifact(t *testing.T) {
	t.Parallel()
	s := setup(t, time.Minute)
	id := tasks.NewID()
	s.store.afterPut = func(key string) {
		if key == storage.ArtifactKey(id) {
			if _, err := s.client.Cancel(context.Background(), id); err != nil {
				t.Error(err)
			}
		}
	}
	s.submit(id, tasks.Convert{Content: "# Too late", Theme: "light"})
	rec := s.ended(id)
	if rec.Status != presswork.Cancelled || rec.Artifact != nil {
		t.Errorf("record %+v", rec.Job)
	}
	for deadline := time.Now().Add(10 * time.Second); s.stored(storage.ArtifactKey(id)); time.Sleep(5 * time.Millisecond) { // polling a condition
		if time.Now().After(deadline) {
			t.Fatal("the artifact of a cancelled job is still stored")
		}
	}
}

func TestWhatAnEarlierRunStoredIsAdopted(t *testing.T) {
	t.Parallel()
	s := setup(t, time.Minute)
	id := tasks.NewID()
	left := []byte("%PDF-1.4 of a run that died before it could say so")
	attrs := storage.Attrs{ContentType: "application/pdf", Meta: map[string]string{"pages": "7"}}
	if _, err := s.store.Put(t.Context(), storage.ArtifactKey(id), bytes.NewReader(left), int64(len(left)), attrs); err != nil {
		t.Fatal(err)
	}
	s.submit(id, tasks.Convert{Content: "# Once", Theme: "light"})
	if rec := s.ended(id); rec.Status != presswork.Completed || rec.Artifact.Pages != 7 || rec.Artifact.Size != int64(len(left)) {
		t.Errorf("record %+v, artifact %+v", rec.Job, rec.Artifact)
	}
}

func TestTheProgressOfALongPrintingMoves(t *testing.T) {
	t.Parallel()
	s := setup(t, time.Minute)
	const id = "01JD0000000000000000000009"
	s.printer.before = func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
		defer cancel()
		watch, err := s.client.Watch(ctx, id, -1)
		if err != nil {
			return err
		}
		defer watch.Close()
		for event := range watch.Events {
			if event.Stage == presswork.StagePrinting && event.Progress > 50 && strings.HasPrefix(event.Message, "printing") {
				return nil
			}
		}
		return errors.New("the job stood still while it was printed")
	}
	s.submit(id, tasks.Convert{Content: "# Long", Theme: "light"})
	if rec := s.ended(id); rec.Status != presswork.Completed {
		t.Errorf("the job %s: %v", rec.Status, rec.Error)
	}
}

// The attempt that finds the result of one that died says what that one would
// have said, whether it had printed the document or taken it from the cache.
func TestAnAdoptedResultKeepsItsWarnings(t *testing.T) {
	t.Parallel()
	s := setup(t, time.Minute)
	var died atomic.Int64
	s.store.afterCopy = func(string) {
		if died.Add(1)%2 == 1 { // in the middle of the first attempt at each job
			panic("the worker dies")
		}
	}
	document := tasks.Convert{Content: "# Once", Theme: "light", Options: presswork.Options{PDFUA: new(true)}}
	id := tasks.NewID()
	s.submit(id, document)
	rec := s.ended(id)
	if rec.Status != presswork.Completed || rec.Attempts != 2 || rec.Cached || len(rec.Warnings) == 0 || s.printer.prints.Load() != 1 {
		t.Errorf("printed: record %+v, artifact %+v, %d prints", rec.Job, rec.Artifact, s.printer.prints.Load())
	}
	died.Store(0)
	id = tasks.NewID()
	s.submit(id, document)
	if rec := s.ended(id); rec.Status != presswork.Completed || rec.Attempts != 2 || !rec.Cached || s.printer.prints.Load() != 1 {
		t.Errorf("cached: record %+v, artifact %+v, %d prints", rec.Job, rec.Artifact, s.printer.prints.Load())
	}
}

func TestSourcesAreReadFromTheStoreAndTidiedAway(t *testing.T) {
	t.Parallel()
	s := setup(t, time.Minute)
	id := tasks.NewID()
	put := func(key, text string) {
		if _, err := s.store.Put(t.Context(), key, strings.NewReader(text), int64(len(text)), storage.Attrs{}); err != nil {
			t.Fatal(err)
		}
	}
	put(storage.SourceKey(id, id), "# Stored elsewhere\n\n![a square](img/a.svg)\n")
	put(storage.AssetKey(id, id, "0"), `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>`)
	s.submit(id, tasks.Convert{ContentKey: storage.SourceKey(id, id), Theme: "light", Assets: []tasks.Asset{{Name: "img/a.svg", Key: storage.AssetKey(id, id, "0")}}})
	rec := s.ended(id)
	if rec.Status != presswork.Completed || len(rec.Warnings) != 0 || rec.Artifact.Filename != "stored-elsewhere.pdf" {
		t.Errorf("record %+v, artifact %+v", rec.Job, rec.Artifact)
	}
	for deadline := time.Now().Add(10 * time.Second); s.stored(storage.SourceKey(id, id)) || s.stored(storage.AssetKey(id, id, "0")); time.Sleep(5 * time.Millisecond) { // polling a condition
		if time.Now().After(deadline) {
			t.Fatal("the sources of a completed job are still stored")
		}
	}
}

func TestASourceThatIsGoneFailsTheJobForGood(t *testing.T) {
	t.Parallel()
	s := setup(t, time.Minute)
	id := tasks.NewID()
	s.submit(id, tasks.Convert{ContentKey: storage.SourceKey(id, id), Theme: "light"})
	if rec := s.ended(id); rec.Status != presswork.Failed || rec.Error.Code != presswork.RenderFailed || rec.Attempts != 1 {
		t.Errorf("record %+v, error %v", rec.Job, rec.Error)
	}
}

func TestAWaitForTheBrowserDoesNotCountAgainstTheDocument(t *testing.T) {
	t.Parallel()
	s := setup(t, 200*time.Millisecond)
	s.printer.before = func(ctx context.Context) error {
		if _, ok := ctx.Deadline(); !ok {
			return errors.New("the kind's own limit is gone")
		}
		time.Sleep(500 * time.Millisecond) // the wait itself
		return ctx.Err()
	}
	id := tasks.NewID()
	s.submit(id, tasks.Convert{Content: "# Patient", Theme: "light"})
	if rec := s.ended(id); rec.Status != presswork.Completed {
		t.Errorf("record %+v, error %v", rec.Job, rec.Error)
	}
}

func TestADeadlineThatPassesBeforePrintingIsNoOutage(t *testing.T) {
	t.Parallel()
	s := setup(t, 300*time.Millisecond)
	s.store.beforeGet = func(ctx context.Context) { <-ctx.Done() }
	id := tasks.NewID()
	s.submit(id, tasks.Convert{ContentKey: storage.SourceKey(id, id), Theme: "light"})
	if rec := s.ended(id); rec.Status != presswork.Failed || rec.Error.Code != presswork.RenderTimeout || rec.Attempts != 1 {
		t.Errorf("record %+v, error %v", rec.Job, rec.Error)
	}
}

func TestStrictFindingsAreOnTheFailedJobAsWarnings(t *testing.T) {
	t.Parallel()
	s := setup(t, time.Minute)
	id := tasks.NewID()
	s.submit(id, tasks.Convert{Content: "# One\n\n### Three\n", Theme: "light", Options: presswork.Options{Strict: new(true)}})
	rec := s.ended(id)
	if rec.Status != presswork.Failed || rec.Error.Code != presswork.StrictFindings || len(rec.Warnings) != 1 || rec.Warnings[0].Code != presswork.HeadingSkipped {
		t.Errorf("record %+v, error %v", rec.Job, rec.Error)
	}
}
