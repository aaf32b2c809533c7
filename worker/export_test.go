package worker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"presswork"
	"presswork/internal/chromium"
	"presswork/internal/document"
	"presswork/internal/export"
	"presswork/internal/fault"
	"presswork/internal/guard"
	"presswork/internal/test/public"
	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
	"presswork/storage"
	"presswork/storage/retention"
	"presswork/tasks"
	"presswork/worker"
)

// site is a web site with one page. It counts the requests for that page.
type site struct {
	url    string
	opened atomic.Int64
	slow   chan struct{} // receives one value for each request of /slow, which never ends
}

// serveSite starts a web site with a page, and one that never ends.
func serveSite(t *testing.T) *site {
	t.Helper()
	s := &site{slow: make(chan struct{}, 10)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			s.opened.Add(1)
			fmt.Fprint(w, "<title>Annual report</title><h1>Fine</h1>")
		case "/slow":
			s.slow <- struct{}{}
			<-r.Context().Done()
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	s.url = strings.Replace(server.URL, "127.0.0.1", "site.test", 1)

	return s
}

// setupExports starts a worker that exports pages with a real browser.
func setupExports(t *testing.T) *harness {
	t.Helper()

	if testing.Short() {
		t.Skip("needs Chromium; `make test` runs this test")
	}
	address := redistest.Start(t)
	index, disk, client := services(t, address)
	catalogue := builtins()

	server, err := tasks.NewServer(
		address,
		tasks.Options{Queues: []tasks.Queue{tasks.Export}, DrainTimeout: time.Second},
	)
	if err != nil {
		t.Fatal(err)
	}

	policy, err := guard.New(guard.Options{Allow: "true", Lookup: func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	exporter := chromium.NewExporter(chromium.ExporterOptions{Policy: policy, Browser: chromium.Options{
		Dir: public.Dir(t), Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}})
	s := &harness{t: t, client: client, store: &faultyStore{Store: disk}, printer: &fakePrinter{}, index: index}
	w := worker.New(worker.Options{
		Store:     s.store,
		Keeper:    retention.New(retention.Options{Store: disk, Redis: index}),
		Themes:    catalogue,
		Converter: document.New(document.Options{Printer: s.printer, Themes: catalogue}),
		Exporter:  exporter,
		Retention: 48 * time.Hour,
	})
	tasks.Handle(server, tasks.ExportPage, w.Export)

	if err := errors.Join(exporter.Start(t.Context()), client.Start(t.Context()),
		server.Start(t.Context())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), wait.Patience)
		defer cancel()

		if err := errors.Join(server.Stop(ctx), client.Stop(ctx), exporter.Stop(ctx)); err != nil {
			t.Error(err)
		}
	})

	return s
}

func (s *harness) submitExport(payload tasks.PageExport) (id string) {
	s.t.Helper()

	task, err := tasks.ExportPage.Task(payload)
	if err != nil {
		s.t.Fatal(err)
	}

	id = tasks.NewID()
	if _, _, err := s.client.Submit(
		s.t.Context(),
		tasks.Submission{ID: id, Kind: presswork.KindExport, Task: task},
	); err != nil {
		s.t.Fatal(err)
	}

	return id
}

func TestAnExportIsStoredNamedAndCounted(t *testing.T) {
	t.Parallel()

	s, web := setupExports(t), serveSite(t)
	for name, c := range map[string]struct {
		task        tasks.PageExport
		contentType string
		filename    string
		magic       string
		pages       int
		kept        time.Duration
	}{
		"a PDF, named after its title": {
			tasks.PageExport{PDF: &export.PDFOptions{}}, "application/pdf", "annual-report.pdf", "%PDF-", 1, 48 * time.Hour,
		},
		"a picture, kept for an hour": {
			tasks.PageExport{Screenshot: &export.ScreenshotOptions{Type: "jpeg"}, Keep: 3600}, "image/jpeg", "annual-report.jpeg", "\xff\xd8\xff", 0, time.Hour,
		},
		"a name of its own, kept for no longer than others": {
			tasks.PageExport{PDF: &export.PDFOptions{VisitOptions: export.VisitOptions{Filename: "mine.pdf"}}, Keep: 1 << 30},
			"application/pdf", "mine.pdf", "%PDF-", 1, 48 * time.Hour,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.task.URL = web.url + "/"
			before := time.Now()
			id := s.submitExport(c.task)

			rec := s.waitForEnd(id)
			if rec.Status != presswork.Completed {
				t.Errorf("got %s with %v, want completed", rec.Status, rec.Error)
				return
			}

			if rec.Artifact.Filename != c.filename || rec.Artifact.Pages != c.pages ||
				rec.Artifact.ContentType != c.contentType {
				t.Errorf("got %+v, want %s of type %s with %d pages", rec.Artifact, c.filename, c.contentType, c.pages)
			}

			early, late := before.Add(c.kept-time.Minute), time.Now().Add(c.kept+time.Minute)
			if rec.Artifact.ExpiresAt.Before(early) || rec.Artifact.ExpiresAt.After(late) {
				t.Errorf("the artifact expires at %s, want %s to %s", rec.Artifact.ExpiresAt, early, late)
			}
			key := storage.ArtifactKeyOf(id, c.contentType)

			body, info, err := s.store.Get(t.Context(), key, storage.Range{Length: int64(len(c.magic))})
			if err != nil {
				t.Errorf("Get: %v", err)
				return
			}
			head := make([]byte, len(c.magic))
			_, err = body.Read(head)
			body.Close()

			if string(head) != c.magic || info.ContentType != c.contentType {
				t.Errorf("got type %s and %q (%v), want %s and %q", info.ContentType, head, err, c.contentType, c.magic)
			}

			if err := s.index.ZScore(t.Context(), "pw:{keep}:made", key).Err(); err != nil {
				t.Errorf("the keeper does not count the artifact: %v", err)
			}
		})
	}
}

func TestAnExportOfAnEarlierRunIsAdopted(t *testing.T) {
	t.Parallel()
	s, web := setupExports(t), serveSite(t)
	// The first run stores its result and cannot report it.
	var puts atomic.Int64
	s.store.beforePut = func(key string) error {
		if strings.HasPrefix(key, storage.Artifacts) && puts.Add(1) == 1 {
			body := []byte("\x89PNG of a run that died")
			_, err := s.store.Store.Put(t.Context(), key, bytes.NewReader(body), int64(len(body)),
				storage.Attrs{ContentType: "image/png"})

			return errors.Join(err, fault.Errorf(fault.Internal, "the worker died"))
		}

		return nil
	}
	id := s.submitExport(tasks.PageExport{URL: web.url + "/", Screenshot: &export.ScreenshotOptions{}})

	rec := s.waitForEnd(id)
	if rec.Status != presswork.Completed || rec.Artifact.Size != int64(len("\x89PNG of a run that died")) ||
		rec.Artifact.Filename != "site-test.png" {
		t.Errorf("got %s with %+v, %v; want completed with the stored picture", rec.Status, rec.Artifact, rec.Error)
	}

	if n := web.opened.Load(); n != 1 || puts.Load() != 1 {
		t.Errorf("got %d visits and %d writes, want one of each", n, puts.Load())
	}
}

func TestAnExportThatFailsOrIsCancelledLeavesNothing(t *testing.T) {
	t.Parallel()
	s, web := setupExports(t), serveSite(t)

	missing := s.submitExport(tasks.PageExport{URL: web.url + "/missing", PDF: &export.PDFOptions{}})

	rec := s.waitForEnd(missing)
	if rec.Status != presswork.Failed || rec.Error == nil || !strings.Contains(rec.Error.Message, "404") {
		t.Errorf("a missing page: got %s with %v, want failed with 404", rec.Status, rec.Error)
	}
	slow := s.submitExport(tasks.PageExport{URL: web.url + "/slow", PDF: &export.PDFOptions{}})
	wait.Receive(t, "the page is requested", web.slow)

	if _, err := s.client.Cancel(t.Context(), slow); err != nil {
		t.Fatal(err)
	}

	if rec := s.waitForEnd(slow); rec.Status != presswork.Cancelled {
		t.Errorf("got %s with %v, want cancelled", rec.Status, rec.Error)
	}
	// Cancel the next export at the moment when its result is stored.
	s.store.afterPut = func(key string) {
		_, err := s.client.Cancel(
			context.Background(),
			strings.TrimSuffix(strings.TrimPrefix(key, storage.Artifacts), ".pdf"),
		)
		if err != nil {
			t.Error(err)
		}
	}

	late := s.submitExport(tasks.PageExport{URL: web.url + "/", PDF: &export.PDFOptions{}})
	if rec := s.waitForEnd(late); rec.Status != presswork.Cancelled || rec.Artifact != nil {
		t.Errorf("cancelled after it was stored: got %s with %+v, want cancelled without an artifact", rec.Status,
			rec.Artifact)
	}

	for _, id := range []string{missing, slow, late} {
		wait.Until(t, id+" leaves no result", func() bool { return !s.isStored(storage.ArtifactKeyOf(id, "")) })
	}
}
