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

// site is a web site of one page, and counts who opened it.
type site struct {
	url    string
	opened atomic.Int64
	asked  chan struct{} // has one for each request of /slow, which has no end
}

func serveSite(t *testing.T) *site {
	t.Helper()
	s := &site{asked: make(chan struct{}, 10)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			s.opened.Add(1)
			fmt.Fprint(w, "<title>Annual report</title><h1>Fine</h1>")
		case "/slow":
			s.asked <- struct{}{}
			<-r.Context().Done()
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	s.url = strings.Replace(server.URL, "127.0.0.1", "site.test", 1)

	return s
}

// setupExports is a worker that exports pages with a real browser; its client
// submits to a real queue.
func setupExports(t *testing.T) *shop {
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
	s := &shop{t: t, client: client, store: &faultyStore{Store: disk}, printer: &printer{}, index: index}
	w := worker.New(worker.Options{
		Store:  s.store,
		Keeper: retention.New(retention.Options{Store: disk, Redis: index}),
		Themes: catalogue,
		Converter: document.New(
			document.Options{Printer: s.printer, Themes: catalogue},
		),
		Exporter:  exporter,
		Retention: 48 * time.Hour,
	})
	tasks.Handle(server, tasks.ExportPage, w.Export)

	if err := errors.Join(
		exporter.Start(t.Context()),
		client.Start(t.Context()),
		server.Start(t.Context()),
	); err != nil {
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

func (s *shop) submitExport(payload tasks.PageExport) (id string) {
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

			rec := s.ended(id)
			if rec.Status != presswork.Completed {
				t.Errorf("%s: the job %s: %v", name, rec.Status, rec.Error)
				return
			}

			if rec.Artifact.Filename != c.filename || rec.Artifact.Pages != c.pages ||
				rec.Artifact.ContentType != c.contentType {
				t.Errorf("%s: %+v", name, rec.Artifact)
			}

			if early, late := before.Add(
				c.kept-time.Minute,
			), time.Now().
				Add(c.kept+time.Minute); rec.Artifact.ExpiresAt.Before(early) ||
				rec.Artifact.ExpiresAt.After(late) {
				t.Errorf("%s: the artifact expires at %s", name, rec.Artifact.ExpiresAt)
			}
			key := storage.ArtifactKeyOf(id, c.contentType)

			body, info, err := s.store.Get(t.Context(), key, storage.Range{Length: int64(len(c.magic))})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			head := make([]byte, len(c.magic))
			_, err = body.Read(head)
			body.Close()

			if string(head) != c.magic || info.ContentType != c.contentType {
				t.Errorf("%s: stored as %s, begins with %q (%v)", name, info.ContentType, head, err)
			}

			if err := s.index.ZScore(t.Context(), "pw:{keep}:made", key).Err(); err != nil {
				t.Errorf("%s: the keeper does not know of it: %v", name, err)
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
			_, err := s.store.Store.Put(
				t.Context(),
				key,
				bytes.NewReader(body),
				int64(len(body)),
				storage.Attrs{ContentType: "image/png"},
			)

			return errors.Join(err, fault.Errorf(fault.Internal, "the worker died"))
		}

		return nil
	}
	id := s.submitExport(tasks.PageExport{URL: web.url + "/", Screenshot: &export.ScreenshotOptions{}})

	rec := s.ended(id)
	if rec.Status != presswork.Completed || rec.Artifact.Size != int64(len("\x89PNG of a run that died")) ||
		rec.Artifact.Filename != "site-test.png" {
		t.Errorf("the job %s: %+v, %v", rec.Status, rec.Artifact, rec.Error)
	}

	if n := web.opened.Load(); n != 1 || puts.Load() != 1 {
		t.Errorf("the page was opened %d times, the result stored %d times", n, puts.Load())
	}
}

func TestAnExportThatFailsOrIsCancelledLeavesNothing(t *testing.T) {
	t.Parallel()
	s, web := setupExports(t), serveSite(t)

	missing := s.submitExport(tasks.PageExport{URL: web.url + "/missing", PDF: &export.PDFOptions{}})
	if rec := s.ended(
		missing,
	); rec.Status != presswork.Failed || rec.Error == nil ||
		!strings.Contains(rec.Error.Message, "404") {
		t.Errorf("a page that is not there: %s, %v", rec.Status, rec.Error)
	}
	slow := s.submitExport(tasks.PageExport{URL: web.url + "/slow", PDF: &export.PDFOptions{}})
	wait.Receive(t, "the page is asked for", web.asked)

	if _, err := s.client.Cancel(t.Context(), slow); err != nil {
		t.Fatal(err)
	}

	if rec := s.ended(slow); rec.Status != presswork.Cancelled {
		t.Errorf("a cancelled export: %s, %v", rec.Status, rec.Error)
	}
	// One more is cancelled when its result is stored.
	s.store.afterPut = func(key string) {
		if _, err := s.client.Cancel(
			context.Background(),
			strings.TrimSuffix(strings.TrimPrefix(key, storage.Artifacts), ".pdf"),
		); err != nil {
			t.Error(err)
		}
	}

	late := s.submitExport(tasks.PageExport{URL: web.url + "/", PDF: &export.PDFOptions{}})
	if rec := s.ended(late); rec.Status != presswork.Cancelled || rec.Artifact != nil {
		t.Errorf("an export cancelled late: %s, %+v", rec.Status, rec.Artifact)
	}

	for _, id := range []string{missing, slow, late} {
		wait.Until(t, id+" leaves no result", func() bool { return !s.stored(storage.ArtifactKey(id)) })
	}
}
