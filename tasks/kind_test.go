package tasks_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"presswork"
	"presswork/internal/export"
	"presswork/internal/pdfops"
	"presswork/tasks"
)

// The payloads in testdata are from a queue of an earlier release. They must decode to the same values forever.
func TestOldPayloadsDecode(t *testing.T) {
	t.Parallel()
	checkDecoding(t, "testdata/convert_v1.json", tasks.Convert{
		Content:    "# Hi\n",
		ContentKey: "sources/01JD4X2Z8Q0000000000000000",
		Theme:      "nord",
		Options: presswork.Options{
			PageSize: "A4",
			TOC:      new(presswork.Depth(3)),
			Keywords: presswork.Keywords{"a", "b"},
			Margins:  presswork.Margins{Top: "20mm"},
			Tagged:   new(false),
		},
		Assets: []tasks.Asset{
			{Name: "img/a.png", Key: "assets/01JD4X2Z8Q0000000000000000/0", Size: 12, SHA256: "ab12"},
		},
		Filename: "report.pdf",
	})
	checkDecoding(t, "testdata/convert_v1_folder.json", tasks.Convert{
		Content: "# Hi\n",
		Theme:   "nord",
		Path:    "book/README.md",
		Parts:   []string{"book/usage.md"},
		Assets: []tasks.Asset{
			{Name: "book/usage.md", Key: "sources/01JD4X2Z8Q0000000000000000/0", Size: 12, SHA256: "ab12"},
		},
	})
	checkDecoding(t, "testdata/choose_v1.json",
		tasks.Choice{Convert: tasks.Convert{Content: "# Hi\n", Theme: "auto"}, Queue: tasks.Bulk})
	checkDecoding(t, "testdata/preview_v2.json",
		tasks.Preview{Theme: "nord", Format: "png", Key: "renders/preview-ab12.png"})
	checkDecoding(t, "testdata/draw_v2.json", tasks.Drawing{
		Sources: []string{"graph TD\n A --> B"},
		Style: tasks.DrawingStyle{
			Dark:    true,
			Page:    "#101020",
			Text:    "#f0f0f0",
			Line:    "#404050",
			Accents: []string{"#4a2fd8"},
			Font:    "Inter",
			Size:    14,
		},
	})
	checkDecoding(t, "testdata/export_v1.json", tasks.PageExport{
		URL: "https://example.com/", Keep: 600,
		PDF: &export.PDFOptions{
			Format: "a4", Margin: export.Margin{Top: "10px"}, Scale: new(0.9),
			VisitOptions: export.VisitOptions{
				WaitUntil:             "networkidle0",
				Timeout:               new(5000),
				FailOnHTTPStatusCodes: []export.StatusRange{{From: 500, To: 599}},
				Cookies:               []export.Cookie{{Name: "a", Value: "b"}},
			},
		},
	})
	checkDecoding(t, "testdata/pdf_v1.json", tasks.PDFEdit{
		Operation: "stamp",
		Options: pdfops.Options{
			Password: "in", Pages: "1-3", Text: "Draft", Position: "top", Scale: new(0.5), Under: true,
		},
		Files: []tasks.Asset{{Name: "a.pdf", Key: "sources/01JD4X2Z8Q0000000000000000/0", Size: 12, SHA256: "ab12"}},
		Mark:  &tasks.Asset{Name: "b.png", Key: "sources/01JD4X2Z8Q0000000000000000/1", Size: 3, SHA256: "cd34"},
		Keep:  600,
	})
	checkDecoding(t, "testdata/transcribe_v1.json", tasks.Transcription{
		Model:       "whisper-large-v3",
		Key:         "sources/01JD4X2Z8Q0000000000000000/01JD4X2Z8Q0000000000000000/assets/recording",
		URL:         "https://example.com/a.mp3",
		Task:        "translate",
		Language:    "de",
		Prompt:      "Ada",
		Temperature: new(0.2),
		Format:      "verbose_json",
		Segments:    true,
		Words:       true,
		Vendor:      "presswork",
		Keep:        600,
	})
	checkDecoding(t, "testdata/call_v2.json",
		tasks.CallTask{ID: "01JD4X2Z8Q0000000000000000.01JD4X2Z8Q0000000000000001"})
	checkDecoding(t, "testdata/tool_v2.json",
		tasks.CallTask{ID: "01JD4X2Z8Q0000000000000000.01JD4X2Z8Q0000000000000001"})
	checkDecoding(t, "testdata/webhook_v1.json", tasks.Webhook{
		MessageID: "msg_01JD4X2Z8Q0000000000000000", URL: "https://example.com/hook", Body: `{"type":"job.completed"}`,
		CreatedAt: time.Date(2026, 11, 20, 10, 0, 0, 123e6, time.UTC),
	})
}

// checkDecoding decodes a payload strictly and compares it.
func checkDecoding[P any](t *testing.T, file string, want P) {
	t.Helper()

	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got P
	decoder := json.NewDecoder(bytes.NewReader(b))
	decoder.DisallowUnknownFields()

	if err := decoder.Decode(&got); err != nil {
		t.Fatalf("%s: %v", file, err)
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func TestKindsAreSafeForAsynq(t *testing.T) {
	t.Parallel()

	convert, err := tasks.ConvertPDF.Task(tasks.Convert{})
	if err != nil {
		t.Fatal(err)
	}

	webhook, err := tasks.DeliverWebhook.Task(tasks.Webhook{})
	if err != nil {
		t.Fatal(err)
	}

	preview, err := tasks.RenderPreview.Task(tasks.Preview{})
	if err != nil {
		t.Fatal(err)
	}

	draw, err := tasks.DrawDiagrams.Task(tasks.Drawing{})
	if err != nil {
		t.Fatal(err)
	}

	for _, task := range []tasks.Task{convert, webhook, preview, draw, convert.On(tasks.Bulk)} {
		t.Run(task.Kind+" on "+string(task.Queue), func(t *testing.T) {
			if task.Retries < 1 || task.Timeout < time.Second {
				t.Errorf("got %d retries and time-out %s, want at least 1 and 1s", task.Retries, task.Timeout)
			}
		})
	}

	if len(tasks.DeliverWebhook.Backoff) != tasks.DeliverWebhook.Retries {
		t.Error("the webhook does not have one delay per retry")
	}

	if convert.Queue != tasks.Render || convert.On(tasks.Bulk).Queue != tasks.Bulk {
		t.Error("On changed the wrong task")
	}
}

func TestIDsAreOrderedAndValidated(t *testing.T) {
	t.Parallel()
	last := tasks.NewID()

	var wg sync.WaitGroup
	for range 8 { // goroutines
		wg.Go(func() {
			last := last

			for range 20_000 {
				id := tasks.NewID()
				if !tasks.ValidID(id) || id <= last {
					t.Errorf("got id %q after %q, want a later one", id, last)
					return
				}
				last = id
			}
		})
	}
	wg.Wait()

	for _, s := range []string{
		"", "x", "01jd4x2z8q0000000000000000", "01JD4X2Z8Q000000000000000I", "91JD4X2Z8Q0000000000000000",
		last + "0", "{}" + last[2:],
	} {
		t.Run(fmt.Sprintf("%q", s), func(t *testing.T) {
			if tasks.ValidID(s) {
				t.Errorf("ValidID(%q) = true, want false", s)
			}
		})
	}
}
