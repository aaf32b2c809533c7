package nemesis

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"presswork"
)

// load runs callers that send requests, and records the requests in the history.
type load struct {
	h       *history
	bases   []string
	site    string
	hooks   string
	seed    uint64
	maxJobs int          // 0 for no limit
	next    atomic.Int64 // the number of the last job
	// completions counts the completions. replays reports whether a watcher may use an API.
	completions atomic.Int64
	replays     func(api int) bool
	http        *http.Client
	// stopped is closed when callers must stop submitting.
	stopped chan struct{}
	// watched ends the watchers at the end of the run.
	watched context.Context
	wg      sync.WaitGroup
}

// kinds lists the kinds of work. A kind that the list has twice is submitted twice as often.
var kinds = []string{
	"small",
	"small",
	"small",
	"keyed",
	"keyed",
	"duplicates",
	"long",
	"assets",
	"asset duplicates",
	"files",
	"export",
	"transcription",
	"completion",
	"completion",
	"webhook",
	"cancelled",
	"cancelled",
	"cancelled",
}

// caller submits one job after the other.
func (l *load) caller(n int) {
	rng := rand.New(rand.NewPCG(l.seed, uint64(n)+2))

	for {
		select {
		case <-l.stopped:
			return
		default:
		}

		job := int(l.next.Add(1))
		if l.maxJobs > 0 && job > l.maxJobs {
			return
		}
		l.runJob(job, kinds[rng.IntN(len(kinds))], rng)
	}
}

// request is a submission, which may be sent several times.
type request struct {
	job               int
	kind, key         string
	path, contentType string
	body              []byte
	headers           []string
}

// runJob submits a job and follows it to its end.
func (l *load) runJob(job int, kind string, rng *rand.Rand) {
	if kind == "completion" {
		l.complete(job, rng)
		return
	}
	r := l.request(job, kind, rng)

	many := 1
	if strings.HasSuffix(kind, "duplicates") {
		many = 6
	}
	accepted := make(chan presswork.Job, many)
	var wg sync.WaitGroup

	for range many {
		at := rng.IntN(len(l.bases))
		wg.Go(func() { l.submit(r, at, accepted) })
	}
	wg.Wait()
	close(accepted)

	var id string
	for a := range accepted {
		id = a.ID
	}

	if id == "" {
		return
	}

	if rng.IntN(2) == 0 {
		at, since, hangUp := rng.IntN(len(l.bases)), int64(rng.IntN(2)), rng.IntN(4) == 0
		l.wg.Go(func() { l.watch(job, id, at, since, hangUp) })
	}

	if kind == "cancelled" {
		// Cancel early, or later while a fault may block the job.
		l.pause(time.Duration(rng.IntN([]int{1500, 8000}[rng.IntN(2)])) * time.Millisecond)

		for range 20 {
			if l.cancel(job, id, rng.IntN(len(l.bases))) {
				break
			}
			l.pause(200 * time.Millisecond)
		}
	}
	// The submitter waits for a while, so that the queue does not grow without bound.
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		status, _ := l.get(job, id, rng.IntN(len(l.bases)))
		if status.Terminal() {
			return
		}
		l.pause(time.Duration(100+rng.IntN(400)) * time.Millisecond)
	}
}

// pause waits between two requests of a caller.
func (l *load) pause(d time.Duration) { time.Sleep(d) }

// mark returns a word that only the document of this job contains.
func mark(seed uint64, job int) string { return fmt.Sprintf("nemesis%dx%d", seed%1e6, job) }

// request returns a submission of a kind. Its document contains the mark of the job.
func (l *load) request(job int, kind string, rng *rand.Rand) request {
	r := request{job: job, kind: kind, path: "/api/conversion", contentType: "application/json"}
	if kind != "small" && (kind == "keyed" || strings.HasSuffix(kind, "duplicates") || rng.IntN(2) == 0) {
		r.key = mark(l.seed, job)
		r.headers = append(r.headers, "Idempotency-Key", r.key)
	}
	text := fmt.Sprintf("# Job %d\n\n%s\n\n", job, mark(l.seed, job))
	body := map[string]any{"filename": fmt.Sprintf("job-%d.pdf", job)}

	switch kind {
	case "long", "duplicates":
		text += strings.Repeat("A document that does not fit on the queue lies in the store until it was read.\n\n",
			260)
	case "cancelled":
		text += strings.Repeat("| a | b |\n|---|---|\n| 1 | 2 |\n\n", 100+rng.IntN(300))
	case "webhook":
		body["webhook_url"] = fmt.Sprintf("%s/%d", l.hooks, job)
	case "export":
		r.path = "/export-pdf"
		r.headers = append(r.headers, "Prefer", "respond-async")
		body = map[string]any{
			"url":     fmt.Sprintf("%s/%s", l.site, mark(l.seed, job)),
			"options": map[string]any{"filename": fmt.Sprintf("job-%d.pdf", job), "save": true},
		}
		r.body, _ = json.Marshal(body)

		return r
	case "transcription":
		r.path = "/v1/audio/transcriptions"
		r.headers = append(r.headers, "Prefer", "respond-async")
		r.contentType, r.body = form(map[string]string{"model": listener, "response_format": "json"}, "file",
			fmt.Sprintf("job-%d.wav", job), tone(spoken))

		return r
	case "files": // two documents and an asset
		fields := map[string]string{
			"filename":      fmt.Sprintf("job-%d.pdf", job),
			"files[one.md]": text,
			"files[two.md]": "# Two\n\n[one](one.md)\n",
		}
		r.contentType, r.body = form(fields, "files[a.txt]", "a.txt", []byte(mark(l.seed, job)))

		return r
	case "assets", "asset duplicates":
		fields := map[string]string{"content": text + "![a](a.txt)", "filename": fmt.Sprintf("job-%d.pdf", job)}
		r.contentType, r.body = form(fields, "assets", "a.txt", []byte(strings.Repeat(mark(l.seed, job), 200)))

		return r
	}
	body["content"] = text
	r.body, _ = json.Marshal(body)

	return r
}

// form returns a form with fields and one file.
func form(fields map[string]string, file, name string, data []byte) (contentType string, body []byte) {
	var b bytes.Buffer

	w := multipart.NewWriter(&b)
	for k, v := range fields {
		w.WriteField(k, v)
	}
	part, _ := w.CreateFormFile(file, name)
	part.Write(data)
	w.Close()

	return w.FormDataContentType(), b.Bytes()
}

// tone returns a WAV file of a number of seconds, with 8 000 samples of two bytes a second.
func tone(seconds int) []byte {
	const rate = 8000
	size := uint32(seconds * rate * 2)
	b := binary.LittleEndian.AppendUint32([]byte("RIFF"), 36+size)
	b = append(b, "WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data"...)

	b = binary.LittleEndian.AppendUint32(b, size)
	for n := range seconds * rate {
		b = binary.LittleEndian.AppendUint16(b, uint16(int16(12000*math.Sin(2*math.Pi*440*float64(n)/rate))))
	}

	return b
}

// do sends one request and reads its answer.
func (l *load) do(method, url, contentType string, body []byte, headers ...string) (int, []byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()

	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}

	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}

	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}

	res, err := l.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()

	b, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, nil, err // an incomplete response counts as none
	}

	return res.StatusCode, b, nil
}
