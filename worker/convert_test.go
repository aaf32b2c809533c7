package worker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/test/wait"
	"presswork/storage"
	"presswork/tasks"
)

func TestAnEqualDocumentComesFromTheRenderCache(t *testing.T) {
	t.Parallel()
	s := setup(t, time.Minute)
	first, second, other := tasks.NewID(), tasks.NewID(), tasks.NewID()
	s.submit(first, tasks.Convert{Content: "# Same", Theme: "nord"})
	a := s.waitForEnd(first)
	s.submit(second, tasks.Convert{Content: "# Same", Theme: "nord"})

	b := s.waitForEnd(second)
	if s.printer.prints.Load() != 1 || a.Cached || !b.Cached || b.Artifact.SHA256 != a.Artifact.SHA256 {
		t.Errorf("got %d prints, first %+v, second %+v; want one print, and the second from the cache",
			s.printer.prints.Load(), a.Artifact, b.Artifact)
	}
	s.submit(other, tasks.Convert{Content: "# Same", Theme: "dracula"})

	if c := s.waitForEnd(other); c.Cached || s.printer.prints.Load() != 2 {
		t.Errorf("another theme: got %+v, want a new print", c)
	}

	// A damaged cache entry is deleted, and the document is printed again.
	for info, err := range s.store.List(t.Context(), storage.Renders) {
		if err != nil {
			t.Fatal(err)
		}
		s.store.damaged = append(s.store.damaged, info.Key)
	}
	third := tasks.NewID()
	s.submit(third, tasks.Convert{Content: "# Same", Theme: "nord"})

	if d := s.waitForEnd(third); d.Status != presswork.Completed || d.Cached || s.printer.prints.Load() != 3 {
		t.Errorf("damaged cache entry: got %d prints and %+v, want 3 and a new print", s.printer.prints.Load(), d)
	}
}

// A cache hit reveals that another key had the same document printed. With SharedRenders the operator accepts that.
func TestOnlyASharedRenderCacheServesOtherKeys(t *testing.T) {
	t.Parallel()

	for _, shared := range []bool{false, true} {
		s := setupSharing(t, time.Minute, shared)

		print := func(owner string) bool {
			id := tasks.NewID()
			s.submitFor(owner, id, tasks.Convert{Content: "# Secret", Theme: "nord"})

			return s.waitForEnd(id).Cached
		}
		if print("alice") {
			t.Error("the first print came from the cache")
		}

		if got := print("bob"); got != shared {
			t.Errorf("shared %v: cached for another owner: %v, want %v", shared, got, shared)
		}

		if !print("alice") || !print("bob") {
			t.Errorf("shared %v: a second print of the same owner did not come from the cache", shared)
		}
	}
}

func TestACancellationDeletesAnArtifactThatWasJustStored(t *testing.T) {
	t.Parallel()
	s := setup(t, time.Minute)
	id := tasks.NewID()
	s.store.afterPut = func(key string) {
		if key == storage.ArtifactKeyOf(id, "") {
			if _, err := s.client.Cancel(context.Background(), id); err != nil {
				t.Error(err)
			}
		}
	}
	s.submit(id, tasks.Convert{Content: "# Too late", Theme: "light"})

	rec := s.waitForEnd(id)
	if rec.Status != presswork.Cancelled || rec.Artifact != nil {
		t.Errorf("got %+v, want a cancelled job without an artifact", rec.Job)
	}
	wait.Until(t, "the artifact of a cancelled job is gone",
		func() bool { return !s.isStored(storage.ArtifactKeyOf(id, "")) })
}

// The record of a run that died may lack its last steps. The metadata of the stored artifact names the job for which
// it was printed.
func TestArtifactOfAnEarlierRunIsAdopted(t *testing.T) {
	t.Parallel()
	s := setup(t, time.Minute)
	stored := []byte("%PDF-1.4 of a run that died before it could complete its job")
	document := tasks.Convert{Content: "# Once", Theme: "light"}
	equalJob := tasks.NewID()
	s.submit(equalJob, document)
	s.waitForEnd(equalJob)

	for _, cached := range []bool{false, true} {
		id := tasks.NewID()

		printedFor := id
		if cached {
			printedFor = equalJob
		}

		attrs := storage.Attrs{ContentType: "application/pdf", Meta: map[string]string{"pages": "7", "job": printedFor}}

		_, err := s.store.Put(
			t.Context(),
			storage.ArtifactKeyOf(id, ""),
			bytes.NewReader(stored),
			int64(len(stored)),
			attrs,
		)
		if err != nil {
			t.Fatal(err)
		}
		s.submit(id, document)

		rec := s.waitForEnd(id)
		if rec.Status != presswork.Completed || rec.Artifact.Pages != 7 || rec.Artifact.Size != int64(len(stored)) ||
			rec.Cached != cached {
			t.Errorf("got %+v with %+v; want completed with the stored artifact, cached %v", rec.Job, rec.Artifact,
				cached)
		}
	}
}

func TestALongPrintReportsProgressOnItsJob(t *testing.T) {
	t.Parallel()
	s := setup(t, time.Minute)
	const id = "01JD0000000000000000000009"
	s.printer.before = func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, wait.Patience)
		defer cancel()

		watch, err := s.client.Watch(ctx, id, -1)
		if err != nil {
			return err
		}
		defer watch.Close()

		for event := range watch.Events {
			if event.Stage == presswork.StagePrinting && event.Progress > 50 &&
				strings.HasPrefix(event.Message, "printing") {
				return nil
			}
		}

		return errors.New("the job reported no progress while it was printed")
	}
	s.submit(id, tasks.Convert{Content: "# Long", Theme: "light"})

	if rec := s.waitForEnd(id); rec.Status != presswork.Completed {
		t.Errorf("got %s with %v, want completed", rec.Status, rec.Error)
	}
}

// The worker dies after it has copied the artifact to or from the render cache.
func TestAnAdoptedResultKeepsItsWarnings(t *testing.T) {
	t.Parallel()
	s := setup(t, time.Minute)
	var copies atomic.Int64
	s.store.afterCopy = func(string) {
		if copies.Add(1)%2 == 1 { // in the middle of the first attempt at each job
			panic("the worker dies")
		}
	}

	for _, cached := range []bool{false, true} {
		copies.Store(0)
		id := tasks.NewID()
		s.submit(id, tasks.Convert{Content: "# Once\n\n### Three\n", Theme: "light"})

		rec := s.waitForEnd(id)
		if rec.Status != presswork.Completed || rec.Attempts != 2 || rec.Cached != cached || len(rec.Warnings) != 1 {
			t.Errorf("got %+v; want completed in the second attempt, cached %v, with one warning", rec.Job, cached)
		}
	}

	if n := s.printer.prints.Load(); n != 1 {
		t.Errorf("%d prints for two jobs, want 1", n)
	}
}

// A print with warnings of its own is not in the render cache, because the cache has no warnings.
func TestSameDocumentHasTheSameWarningsAgain(t *testing.T) {
	t.Parallel()
	s := setup(t, time.Minute)

	for range 2 {
		id := tasks.NewID()
		s.submit(id, tasks.Convert{
			Content: "# Once\n\n### Three\n", Theme: "light", Options: presswork.Options{PDFUA: new(true)},
		})

		if rec := s.waitForEnd(id); rec.Status != presswork.Completed || len(rec.Warnings) != 2 {
			t.Errorf("got %+v; want completed with a warning of the composition and one of the print", rec.Job)
		}
	}
}

func TestSourcesAreReadFromTheStoreAndDeleted(t *testing.T) {
	t.Parallel()
	s := setup(t, time.Minute)
	id := tasks.NewID()
	put := func(key, text string) {
		_, err := s.store.Put(t.Context(), key, strings.NewReader(text), int64(len(text)), storage.Attrs{})
		if err != nil {
			t.Fatal(err)
		}
	}
	put(storage.SourceKey(id, id), "# Stored elsewhere\n\n![a square](img/a.svg)\n")
	put(
		storage.AssetKey(id, id, "0"),
		`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>`,
	)
	s.submit(id, tasks.Convert{
		ContentKey: storage.SourceKey(id, id),
		Theme:      "light",
		Assets:     []tasks.Asset{{Name: "img/a.svg", Key: storage.AssetKey(id, id, "0")}},
	})

	rec := s.waitForEnd(id)
	if rec.Status != presswork.Completed || len(rec.Warnings) != 0 || rec.Artifact.Filename != "stored-elsewhere.pdf" {
		t.Errorf("got %+v with %+v; want completed without warnings, named after the heading", rec.Job, rec.Artifact)
	}
	wait.Until(t, "the sources of a completed job are gone", func() bool {
		return !s.isStored(storage.SourceKey(id, id)) && !s.isStored(storage.AssetKey(id, id, "0"))
	})
}

// Redis lost the completion of these jobs: their sources are deleted, and their records are open.
func TestAJobWhoseCompletionWasLostCompletesWithItsArtifact(t *testing.T) {
	t.Parallel()

	s := setup(t, time.Minute)
	for name, newTask := range map[string]func(tasks.Convert) (tasks.Task, error){
		"at its conversion": tasks.ConvertPDF.Task,
		"at the choice of its theme": func(convert tasks.Convert) (tasks.Task, error) {
			return tasks.ChooseTheme.Task(tasks.Choice{Convert: convert, Queue: tasks.Render})
		},
	} {
		t.Run(name, func(t *testing.T) {
			id := tasks.NewID()
			stored := []byte("%PDF-1.4 of the run that completed the job")

			attrs := storage.Attrs{ContentType: "application/pdf", Meta: map[string]string{"pages": "7", "job": id}}

			_, err := s.store.Put(
				t.Context(),
				storage.ArtifactKeyOf(id, ""),
				bytes.NewReader(stored),
				int64(len(stored)),
				attrs,
			)
			if err != nil {
				t.Fatal(err)
			}

			task, err := newTask(
				tasks.Convert{ContentKey: storage.SourceKey(id, id), Theme: "light", Filename: "report.pdf"},
			)
			if err != nil {
				t.Fatal(err)
			}

			_, _, err = s.client.Submit(
				t.Context(),
				tasks.Submission{ID: id, Kind: presswork.KindConversion, Task: task},
			)
			if err != nil {
				t.Fatal(err)
			}

			rec := s.waitForEnd(id)
			if rec.Status != presswork.Completed || rec.Cached {
				t.Fatalf("got %+v with %v, want completed", rec.Job, rec.Error)
			}

			if rec.Artifact.Pages != 7 || rec.Artifact.Size != int64(len(stored)) ||
				rec.Artifact.Filename != "report.pdf" {
				t.Errorf("got %+v, want the stored artifact as report.pdf", rec.Artifact)
			}

			if !s.isStored(storage.ArtifactKeyOf(id, "")) {
				t.Error("the artifact was deleted")
			}
		})
	}
}

func TestAMissingSourceFailsTheJobWithoutARetry(t *testing.T) {
	t.Parallel()
	s := setup(t, time.Minute)
	id := tasks.NewID()
	s.submit(id, tasks.Convert{ContentKey: storage.SourceKey(id, id), Theme: "light"})

	rec := s.waitForEnd(id)
	if rec.Status != presswork.Failed || rec.Error.Code != fault.RenderFailed || rec.Attempts != 1 {
		t.Errorf("got %+v with %v, want render_failed after one attempt", rec.Job, rec.Error)
	}
}

// The deadline of a print includes time to wait for a slot, in addition to the timeout of the document.
func TestAWaitForTheBrowserDoesNotCountAgainstTheDocument(t *testing.T) {
	t.Parallel()
	s := setup(t, wait.Patience)
	s.printer.before = func(ctx context.Context) error {
		deadline, ok := ctx.Deadline()
		if !ok {
			return errors.New("the print has no deadline")
		}

		if left := time.Until(deadline); left < wait.Patience {
			return fmt.Errorf("the print has %s, want at least %s", left, wait.Patience)
		}

		return nil
	}
	id := tasks.NewID()
	s.submit(id, tasks.Convert{Content: "# Patient", Theme: "light"})

	if rec := s.waitForEnd(id); rec.Status != presswork.Completed {
		t.Errorf("got %+v with %v, want completed", rec.Job, rec.Error)
	}
}

func TestDeadlineBeforePrintingIsNotAnOutage(t *testing.T) {
	t.Parallel()
	s := setup(t, 300*time.Millisecond)
	s.store.beforeGet = func(ctx context.Context) { <-ctx.Done() }
	id := tasks.NewID()
	s.submit(id, tasks.Convert{ContentKey: storage.SourceKey(id, id), Theme: "light"})

	rec := s.waitForEnd(id)
	if rec.Status != presswork.Failed || rec.Error.Code != fault.RenderTimeout || rec.Attempts != 1 {
		t.Errorf("got %+v with %v, want render_timeout after one attempt", rec.Job, rec.Error)
	}
}

func TestStrictFindingsAreOnTheFailedJobAsWarnings(t *testing.T) {
	t.Parallel()
	s := setup(t, time.Minute)
	id := tasks.NewID()
	s.submit(
		id,
		tasks.Convert{Content: "# One\n\n### Three\n", Theme: "light", Options: presswork.Options{Strict: new(true)}},
	)

	rec := s.waitForEnd(id)
	if rec.Status != presswork.Failed || rec.Error.Code != fault.StrictFindings || len(rec.Warnings) != 1 ||
		rec.Warnings[0].Code != fault.HeadingSkipped {
		t.Errorf("got %+v with %v, want strict_findings and the warning", rec.Job, rec.Error)
	}
}
