package worker_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/pdffile/parse"
	"presswork/internal/pdfops"
	"presswork/internal/test/wait"
	"presswork/storage"
	"presswork/storage/retention"
	"presswork/tasks"
)

// submitPDF stores the files, submits an operation on them and returns the id of its job.
func (s *harness) submitPDF(payload tasks.PDFEdit, files ...[]byte) (id string) {
	s.t.Helper()
	return s.submitNamedPDF("", payload, files...)
}

// submitNamedPDF is submitPDF with a file name for the result.
func (s *harness) submitNamedPDF(name string, payload tasks.PDFEdit, files ...[]byte) (id string) {
	s.t.Helper()
	return s.submitPreparedPDF(func(string) {}, name, payload, files...)
}

// submitPreparedPDF is submitNamedPDF with a function that is called with the id before the job is submitted.
func (s *harness) submitPreparedPDF(
	prepare func(id string),
	name string,
	payload tasks.PDFEdit,
	files ...[]byte,
) (id string) {
	s.t.Helper()
	id = tasks.NewID()
	prepare(id)

	for i, data := range files {
		key := storage.AssetKey(id, id, string(rune('0'+i)))

		_, err := s.store.Put(s.t.Context(), key, bytes.NewReader(data), int64(len(data)), storage.Attrs{})
		if err != nil {
			s.t.Fatal(err)
		}
		payload.Files = append(payload.Files, tasks.Asset{Name: "essay.pdf", Key: key, Size: int64(len(data))})
	}

	task, err := tasks.EditPDF.Task(payload)
	if err != nil {
		s.t.Fatal(err)
	}

	_, _, err = s.client.Submit(s.t.Context(), tasks.Submission{
		ID: id, Kind: presswork.KindPDF, Filename: name, ContentType: payload.ContentType(), Task: task,
	})
	if err != nil {
		s.t.Fatal(err)
	}

	return id
}

func TestOperationsOnPDFFilesAreStoredAndNamed(t *testing.T) {
	t.Parallel()
	s := setup(t, time.Minute)

	source, err := os.ReadFile("../internal/pdfops/testdata/crazyones.pdf")
	if err != nil {
		t.Fatal(err)
	}

	for name, c := range map[string]struct {
		task        tasks.PDFEdit
		files       int
		named       string
		contentType string
		pages       int
	}{
		"merge": {tasks.PDFEdit{Operation: pdfops.Merge}, 2, "merged.pdf", "application/pdf", 2},
		"split": {tasks.PDFEdit{Operation: pdfops.Split}, 1, "essay.zip", "application/zip", 1},
		"info":  {tasks.PDFEdit{Operation: pdfops.Info}, 1, "essay.json", "application/json", 1},
		"text":  {tasks.PDFEdit{Operation: pdfops.Text}, 1, "essay.txt", "text/plain; charset=utf-8", 1},
	} {
		t.Run(name, func(t *testing.T) {
			var files [][]byte
			for range c.files {
				files = append(files, source)
			}
			id := s.submitPDF(c.task, files...)

			rec := s.waitForEnd(id)
			if rec.Status != presswork.Completed {
				t.Fatalf("got %s with %v, want completed", rec.Status, rec.Error)
			}

			if a := rec.Artifact; a.Filename != c.named || a.ContentType != c.contentType || a.Pages != c.pages {
				t.Errorf("got %+v, want %s of type %s with %d pages", a, c.named, c.contentType, c.pages)
			}

			r, _, err := s.store.Get(t.Context(), storage.ArtifactKeyOf(id, c.contentType), storage.Range{})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()

			data, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}

			switch name {
			case "merge":
				_, err = parse.Read(data, "")
			case "split":
				var archive *zip.Reader
				if archive, err = zip.NewReader(bytes.NewReader(data), int64(len(data))); err == nil &&
					(len(archive.File) != 1 || archive.File[0].Name != "essay-1.pdf") {
					t.Errorf("the archive has %d files, want essay-1.pdf alone", len(archive.File))
				}
			case "text":
				if !strings.Contains(string(data), "The Crazy Ones") {
					t.Errorf("the text is %.80q, want The Crazy Ones in it", data)
				}
			}

			if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestResultsOfPDFOperationsExpireAfterKeep(t *testing.T) {
	t.Parallel()
	s := setup(t, time.Minute)

	source, err := os.ReadFile("../internal/pdfops/testdata/crazyones.pdf")
	if err != nil {
		t.Fatal(err)
	}

	for name, c := range map[string]struct {
		keep int64
		kept time.Duration
	}{
		"sent at once":        {600, 10 * time.Minute},
		"fetched later":       {0, 30 * 24 * time.Hour},
		"longer than allowed": {1 << 30, 30 * 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			begun := time.Now()
			id := s.submitPDF(tasks.PDFEdit{Operation: pdfops.Text, Keep: c.keep}, source)

			rec := s.waitForEnd(id)
			if rec.Artifact == nil {
				t.Fatalf("got %s with %v, want a result", rec.Status, rec.Error)
			}

			at := rec.Artifact.ExpiresAt
			if at.Before(begun.Add(c.kept-time.Second)) || at.After(time.Now().Add(c.kept)) {
				t.Errorf("the result expires at %s, want %s after %s", at, c.kept, begun)
			}

			info, err := s.store.Stat(t.Context(), storage.ArtifactKeyOf(id, rec.Artifact.ContentType))
			if err != nil || (info.Meta[retention.MetaUntil] != "") != (c.keep > 0) {
				t.Errorf("got metadata %+v, %v; want an expiry only with Keep", info.Meta, err)
			}

			// The worker deletes the sources after the job has ended.
			wait.Until(t, "the source is deleted", func() bool { return !s.isStored(storage.AssetKey(id, id, "0")) })
		})
	}
}

// The caller must correct the password, so the job fails at once and keeps its files for a retry.
func TestAPDFWithoutItsPasswordFailsAtOnce(t *testing.T) {
	t.Parallel()
	s := setup(t, time.Minute)

	source, err := os.ReadFile("../internal/pdfops/testdata/r6-both-passwords.pdf")
	if err != nil {
		t.Fatal(err)
	}

	for name, password := range map[string]string{"none": "", "wrong": "baz"} {
		t.Run(name, func(t *testing.T) {
			id := s.submitPDF(
				tasks.PDFEdit{Operation: pdfops.Text, Options: pdfops.Options{Password: password}},
				source,
			)

			rec := s.waitForEnd(id)
			if rec.Status != presswork.Failed || rec.Error.Code != fault.PDFPassword || rec.Attempts != 1 ||
				!strings.Contains(rec.Error.Message, "essay.pdf is encrypted and the password is missing or wrong") {
				t.Errorf("got %s with %v after %d attempts, want the error of the password after one", rec.Status,
					rec.Error, rec.Attempts)
			}

			if !s.isStored(storage.AssetKey(id, id, "0")) {
				t.Error("the file of a failed job was deleted")
			}
		})
	}
}

func TestAPDFOperationOnAnotherFileTypeFails(t *testing.T) {
	t.Parallel()
	s := setup(t, time.Minute)

	rec := s.waitForEnd(s.submitPDF(tasks.PDFEdit{Operation: pdfops.Text}, []byte("hello")))
	if rec.Status != presswork.Failed || rec.Error.Code != fault.PDFInvalid ||
		!strings.Contains(rec.Error.Message, "essay.pdf: the file is not a PDF") ||
		rec.Attempts != 1 {
		t.Errorf("got %s with %v after %d attempts, want pdf_invalid after one", rec.Status, rec.Error, rec.Attempts)
	}
}

// A worker may die after it has stored the result. The next run completes the job with that result.
func TestTheResultOfADeadWorkersPDFOperationIsAdopted(t *testing.T) {
	t.Parallel()
	s := setup(t, time.Minute)
	stored := []byte("text of the run that died")
	s.store.beforeGet = func(context.Context) { t.Error("the job's files were read again") }
	task := tasks.PDFEdit{Operation: pdfops.Text, Keep: 600}

	id := s.submitPreparedPDF(func(id string) {
		key := storage.ArtifactKeyOf(id, task.ContentType())
		attrs := storage.Attrs{ContentType: task.ContentType(), Meta: map[string]string{"pages": "7"}}

		if _, err := s.store.Put(t.Context(), key, bytes.NewReader(stored), int64(len(stored)), attrs); err != nil {
			t.Fatal(err)
		}
	}, "", task, []byte("%PDF-"))

	rec := s.waitForEnd(id)
	if rec.Status != presswork.Completed || rec.Artifact.Pages != 7 || rec.Artifact.Size != int64(len(stored)) {
		t.Errorf("got %s with %v and %+v, want completed with the stored result", rec.Status, rec.Error, rec.Artifact)
	}

	wait.Until(t, "the source is deleted", func() bool { return !s.isStored(storage.AssetKey(id, id, "0")) })
}

func TestAPDFOperationSurvivesAnOutageOfTheStore(t *testing.T) {
	t.Parallel()
	s := setup(t, time.Minute)

	source, err := os.ReadFile("../internal/pdfops/testdata/crazyones.pdf")
	if err != nil {
		t.Fatal(err)
	}
	var failed atomic.Bool
	s.store.beforePut = func(key string) error {
		if strings.HasPrefix(key, storage.Artifacts) && !failed.Swap(true) {
			return errors.New("connection refused")
		}

		return nil
	}

	rec := s.waitForEnd(s.submitPDF(tasks.PDFEdit{Operation: pdfops.Merge}, source))
	if rec.Status != presswork.Completed || !failed.Load() {
		t.Errorf("got %s with %v, want completed after a failed write", rec.Status, rec.Error)
	}
}

func TestResultsOfPDFOperationsHaveOneExtension(t *testing.T) {
	t.Parallel()
	s := setup(t, time.Minute)

	source, err := os.ReadFile("../internal/pdfops/testdata/crazyones.pdf")
	if err != nil {
		t.Fatal(err)
	}

	for name, want := range map[string]string{
		"parts.zip": "parts.zip",
		"Parts.PDF": "Parts.zip",
		"parts":     "parts.zip",
		".pdf":      ".pdf.zip",
	} {
		t.Run(name, func(t *testing.T) {
			rec := s.waitForEnd(s.submitNamedPDF(name, tasks.PDFEdit{Operation: pdfops.Split}, source))
			if rec.Artifact == nil || rec.Artifact.Filename != want {
				t.Errorf("got %+v, want the file name %s", rec.Artifact, want)
			}
		})
	}
}
