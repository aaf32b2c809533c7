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

// The payloads in testdata were in a queue of an earlier release. They must decode forever, and to the same
// values.
func TestOldPayloadsDecode(t *testing.T) {
	t.Parallel()
	decodes(t, "testdata/convert_v1.json", tasks.Convert{
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
	decodes(t, "testdata/convert_v1_folder.json", tasks.Convert{
		Content: "# Hi\n",
		Theme:   "nord",
		Path:    "book/README.md",
		Parts:   []string{"book/usage.md"},
		Assets: []tasks.Asset{
			{Name: "book/usage.md", Key: "sources/01JD4X2Z8Q0000000000000000/0", Size: 12, SHA256: "ab12"},
		},
	})
	decodes(
		t,
		"testdata/choose_v1.json",
		tasks.Choice{Convert: tasks.Convert{Content: "# Hi\n", Theme: "auto"}, Queue: tasks.Bulk},
	)
	decodes(t, "testdata/preview_v2.json", tasks.Preview{Theme: "nord", Format: "png", Key: "renders/preview-ab12.png"})
	decodes(t, "testdata/draw_v2.json", tasks.Drawing{
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
	decodes(t, "testdata/export_v1.json", tasks.PageExport{
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
	decodes(t, "testdata/pdf_v1.json", tasks.PDFEdit{
		Operation: "stamp",
		Options: pdfops.Options{
			Password: "in", Pages: "1-3", Text: "Draft", Position: "top", Scale: new(0.5), Under: true,
		},
		Files: []tasks.Asset{{Name: "a.pdf", Key: "sources/01JD4X2Z8Q0000000000000000/0", Size: 12, SHA256: "ab12"}},
		Mark:  &tasks.Asset{Name: "b.png", Key: "sources/01JD4X2Z8Q0000000000000000/1", Size: 3, SHA256: "cd34"},
		Keep:  600,
	})
	decodes(t, "testdata/transcribe_v1.json", tasks.Transcription{
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
	decodes(t, "testdata/call_v2.json", tasks.CallTask{ID: "01JD4X2Z8Q0000000000000000.01JD4X2Z8Q0000000000000001"})
	decodes(t, "testdata/tool_v2.json", tasks.CallTask{ID: "01JD4X2Z8Q0000000000000000.01JD4X2Z8Q0000000000000001"})
	decodes(t, "testdata/webhook_v1.json", tasks.Webhook{
		MessageID: "msg_01JD4X2Z8Q0000000000000000", URL: "https://example.com/hook", Body: `{"type":"job.completed"}`,
		CreatedAt: time.Date(2026, 11, 20, 10, 0, 0, 123e6, time.UTC),
	})
}

func decodes[P any](t *testing.T, file string, want P) {
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

	for i, task := range []tasks.Task{convert, webhook, preview, draw, convert.On(tasks.Bulk)} {
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			if task.Retries < 1 || task.Timeout < time.Second {
				t.Errorf("%s: %d retries, time-out %s", task.Kind, task.Retries, task.Timeout)
			}
		})
	}

	if len(tasks.DeliverWebhook.Backoff) != tasks.DeliverWebhook.Retries {
		t.Error("the webhook's retries and their delays differ")
	}

	if convert.Queue != tasks.Render || convert.On(tasks.Bulk).Queue != tasks.Bulk {
		t.Error("On changed the wrong task")
	}
}

func TestIDs(t *testing.T) {
	t.Parallel()
	last := tasks.NewID()

	var all sync.WaitGroup
	for range 8 { // which come between each other
		all.Go(func() {
			last := last

			for range 20_000 {
				id := tasks.NewID()
				if !tasks.ValidID(id) || id <= last {
					t.Errorf("%q after %q", id, last)
					return
				}
				last = id
			}
		})
	}
	all.Wait()

	for i, s := range []string{
		"", "x", "01jd4x2z8q0000000000000000", "01JD4X2Z8Q000000000000000I", "91JD4X2Z8Q0000000000000000",
		last + "0", "{}" + last[2:],
	} {
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			if tasks.ValidID(s) {
				t.Errorf("%q passes for an id", s)
			}
		})
	}
}
