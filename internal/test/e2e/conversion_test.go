package e2e_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fasthttp/websocket"

	"presswork"
	"presswork/internal/test/e2e"
	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
	"presswork/storage/storagetest"
)

const quarterly = `---
author: Ada Lovelace
---
# Quarterly report

Revenue rose by **12 %** in the third quarter.[^1]

| region | revenue |
|--------|--------:|
| North  | 120     |
| South  | 95      |

` + "```go\nfunc main() { println(\"hello\") }\n```" + `

- [x] figures checked
- [ ] approved

[^1]: Unaudited.
`

// quarterlyText is the whole text of the printed document with folded white space. It ends with the footnote, the
// title in the footer and the page number.
const quarterlyText = "Quarterly report Revenue rose by 12 % in the third quarter.1 region revenue North 120 South 95 " +
	`func main() { println("hello") } figures checked approved 1 Unaudited. Quarterly report 1`

func TestServerConvertsMarkdown(t *testing.T) {
	t.Parallel()
	_, c := e2e.Serve(t, nil)
	convertAndCheck(t, c)
}

func TestFleetConvertsMarkdown(t *testing.T) {
	t.Parallel()
	fleet := newFleet(t)
	_, c := fleet.API(map[string]string{"API_KEY": "hush"})
	fleet.Worker(nil)
	convertAndCheck(t, c)
}

// newFleet returns a fleet with a new Redis and MinIO, without nodes.
func newFleet(t testing.TB) *e2e.Fleet {
	t.Helper()
	return fleetOn(t, redistest.Start(t))
}

// fleetOn returns a fleet with a Redis and a new MinIO, without nodes.
func fleetOn(t testing.TB, redisURL string) *e2e.Fleet {
	t.Helper()
	s3 := storagetest.StartMinIO(t)

	return e2e.NewFleet(t, redisURL, map[string]string{
		"S3_ENDPOINT":   s3.Address,
		"S3_BUCKET":     "presswork",
		"S3_ACCESS_KEY": s3.AccessKey,
		"S3_SECRET_KEY": s3.SecretKey,
	})
}

// convertAndCheck converts quarterly, follows the job by WebSocket, and checks the PDF, the cache and the deletion.
func convertAndCheck(t *testing.T, c *e2e.Client) {
	t.Helper()
	accepted := c.Submit(e2e.Submission{Content: quarterly, Theme: "nord", Filename: "Q3.pdf"})
	events := watch(t, c, accepted.WSURL)
	checkLog(t, events)

	job := c.Completed(accepted.JobID)
	if job.Theme != "nord" || job.Cached || job.Attempts != 1 || job.Progress != 100 ||
		job.Stage != presswork.StageDone {
		t.Errorf("job %+v, want one attempt with the theme nord, not cached", job)
	}
	pdf := c.Download(job)
	checkReport(t, job, pdf)

	again := c.Completed(c.Submit(e2e.Submission{Content: quarterly, Theme: "nord"}).JobID)
	if !again.Cached || again.Artifact.SHA256 != job.Artifact.SHA256 {
		t.Errorf("the same document again: cached %v, SHA-256 %s; want true, %s", again.Cached, again.Artifact.SHA256,
			job.Artifact.SHA256)
	}

	if status, _, _ := c.Do("DELETE", "/api/artifacts/"+job.Artifact.ID, "", nil); status != http.StatusNoContent {
		t.Errorf("deleting an artifact: status %d, want 204", status)
	}

	if status, _, _ := c.Do("GET", job.Artifact.URL, "", nil); status != http.StatusGone {
		t.Errorf("deleted artifact: status %d, want 410", status)
	}

	if got := c.Download(again); !bytes.Equal(got, pdf) {
		t.Errorf("the cached artifact has %d bytes after the other was deleted, want the same %d", len(got), len(pdf))
	}
}

// checkReport compares the text and the metadata of a PDF with quarterly and with its job.
func checkReport(t *testing.T, job presswork.Job, pdf []byte) {
	t.Helper()

	if got := e2e.PDFText(t, pdf); got != quarterlyText {
		t.Errorf("text of the PDF\n%q, want\n%q", got, quarterlyText)
	}

	info := e2e.PDFInfo(t, pdf)
	if info["Title"] != "Quarterly report" || info["Author"] != "Ada Lovelace" || info["Tagged"] != "yes" ||
		!strings.Contains(info["Page size"], "A4") {
		t.Errorf("pdfinfo %v, want title, author, tags and A4", info)
	}

	if got := e2e.PDFPages(t, pdf); got != 1 || job.Artifact.Pages != got {
		t.Errorf("%d pages in the PDF and %d in the job, want one in both", got, job.Artifact.Pages)
	}

	if job.Artifact.Size != int64(len(pdf)) || job.Artifact.Filename != "Q3.pdf" {
		t.Errorf("the PDF has %d bytes, the artifact is %+v; want the same size and Q3.pdf", len(pdf), job.Artifact)
	}
}

// watch reads the events of a job from its WebSocket until the server closes it.
func watch(t *testing.T, c *e2e.Client, path string) []presswork.Event {
	t.Helper()
	url := "ws" + strings.TrimPrefix(c.Base, "http") + path

	conn, res, err := websocket.DefaultDialer.Dial(url, nil)
	if err != nil {
		t.Fatalf("WebSocket %s: %v (response %v)", path, err, res)
	}
	defer conn.Close()
	var events []presswork.Event

	for {
		if err := conn.SetReadDeadline(time.Now().Add(wait.Patience)); err != nil {
			t.Fatal(err)
		}

		_, data, err := conn.ReadMessage()
		if websocket.IsCloseError(err, websocket.CloseNormalClosure) {
			return events
		}

		if err != nil {
			t.Fatalf("after the events %+v: %v, want a normal closure", events, err)
		}

		var e presswork.Event
		if err := json.Unmarshal(data, &e); err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
}

// checkLog checks the order of a job's events. A snapshot comes first, then events without a gap in their seqs and
// with rising progress, and one terminal event at the end.
func checkLog(t *testing.T, events []presswork.Event) {
	t.Helper()

	if len(events) < 2 || events[0].Type != presswork.EventSnapshot {
		t.Fatalf("events %+v, want a snapshot and at least one more", events)
	}

	for i, e := range events[1:] {
		before := events[i]
		if e.Progress < before.Progress {
			t.Errorf("progress fell from %d to %d, want it to rise", before.Progress, e.Progress)
		}

		// The last event follows a snapshot that already has its seq.
		if e.Seq != before.Seq+1 && !(i == 0 && before.Status.Terminal() && e.Seq == before.Seq) {
			t.Errorf("seq %d follows %d, want %d", e.Seq, before.Seq, before.Seq+1)
		}

		if last := i == len(events)-2; e.Status.Terminal() != last {
			t.Errorf("event %d of %d has the status %s, want a terminal one only at the end", i+2, len(events),
				e.Status)
		}
	}

	last := events[len(events)-1]
	if last.Type != presswork.EventCompleted || last.Artifact == nil || !strings.Contains(last.Artifact.URL, "token=") {
		t.Errorf("last event %+v, want completed with a signed URL", last)
	}
}
