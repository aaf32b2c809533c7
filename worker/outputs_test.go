package worker_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"presswork"
	"presswork/storage"
	"presswork/tasks"
)

// The test converts one document twice to HTML, which needs no print, and once to a PDF.
func TestEachOutputIsStoredAndCachedWithItsType(t *testing.T) {
	t.Parallel()
	s := setup(t, time.Minute)

	for _, c := range []struct {
		output      presswork.Output
		name, media string
		cached      bool
		prints      int64
	}{
		{presswork.HTML, "report.html", "text/html; charset=utf-8", false, 0},
		{presswork.HTML, "report.html", "text/html; charset=utf-8", true, 0},
		{presswork.PDF, "report.pdf", "application/pdf", false, 1},
	} {
		t.Run(fmt.Sprintf("%s cached %t", c.name, c.cached), func(t *testing.T) {
			id := tasks.NewID()
			s.submit(id, tasks.Convert{Content: "# Report", Theme: "nord", Output: c.output, Filename: "report.pdf"})

			rec := s.waitForEnd(id)
			if rec.Status != presswork.Completed {
				t.Fatalf("got %s with %v, want completed", rec.Status, rec.Error)
			}

			a := rec.Artifact
			if a.ContentType != c.media || a.Filename != c.name || rec.Cached != c.cached ||
				s.printer.prints.Load() != c.prints {
				t.Errorf("got %+v, cached %v, %d prints; want %+v", a, rec.Cached, s.printer.prints.Load(), c)
			}

			r, _, err := s.store.Get(t.Context(), storage.ArtifactKeyOf(id, c.media), storage.Range{})
			if err != nil {
				t.Fatal(err)
			}

			data, err := io.ReadAll(r)
			if r.Close(); err != nil ||
				strings.HasPrefix(string(data), "<!DOCTYPE html>") != (c.output == presswork.HTML) {
				t.Errorf("got %.40s, %v; want %s", data, err, c.output)
			}
		})
	}
}

func TestANotebookIsConvertedWithItsOutputs(t *testing.T) {
	t.Parallel()
	s := setup(t, time.Minute)
	const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

	id := tasks.NewID()
	s.submit(id, tasks.Convert{Path: "notebook.ipynb", Output: presswork.HTML, Theme: "nord", Content: `{"nbformat":4,
		"cells":[{"cell_type":"code","source":"draw()","outputs":[{"output_type":"display_data",
		"data":{"image/png":"` + dot + `"}},{"output_type":"display_data","data":{"video/mp4":"AA"}}]}]}`})

	rec := s.waitForEnd(id)
	if rec.Status != presswork.Completed || len(rec.Warnings) != 1 ||
		!strings.HasPrefix(rec.Warnings[0].Message, "cell 1: an output is left out") {
		t.Fatalf("got %s with %v and warnings %v, want completed with one of cell 1", rec.Status, rec.Error,
			rec.Warnings)
	}

	r, _, err := s.store.Get(t.Context(), storage.ArtifactKeyOf(id, presswork.HTML.ContentType()), storage.Range{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()

	data, err := io.ReadAll(r)
	if err != nil || !strings.Contains(string(data), dot) {
		t.Errorf("the picture is not in %.200s, %v", data, err)
	}
}
