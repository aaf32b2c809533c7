package nemesis

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"presswork"
)

// submit sends a request until an API accepts it. It repeats a request without an idempotency key only if the API has
// certainly rejected it.
func (l *load) submit(r request, at int, accepted chan<- presswork.Job) {
	for try := 0; ; try++ {
		e := Entry{Op: opSubmit, Job: r.job, Kind: r.kind, Key: r.key, Call: l.h.now()}
		code, body, err := l.do("POST", l.bases[(at+try)%len(l.bases)]+r.path, r.contentType, r.body, r.headers...)

		e.Code, e.Return = code, l.h.now()
		if err != nil {
			e.Error = err.Error()
		}

		var answer struct {
			JobID  string           `json:"job_id"`
			Status presswork.Status `json:"status"`
		}
		if code == http.StatusAccepted && json.Unmarshal(body, &answer) == nil {
			e.ID, e.Status = answer.JobID, answer.Status
		} else if code != 0 {
			e.Error = string(body[:min(len(body), 300)])
		}
		l.h.add(e)

		if e.ID != "" {
			accepted <- presswork.Job{ID: e.ID}
			return
		}
		// Another error may hide an accepted job. Only a request with a key may then be repeated.
		if r.key == "" && code != http.StatusTooManyRequests || try > 100 {
			return
		}

		select {
		case <-l.stopped:
			if try > 20 {
				return
			}
		default:
		}
		l.pause(300 * time.Millisecond)
	}
}

// requestJob sends a request about a job and decodes the job in the response.
func (l *load) requestJob(op, method string, job int, id string, at int) Entry {
	e := Entry{Op: op, Job: job, ID: id, Call: l.h.now()}
	code, body, err := l.do(method, l.bases[at]+"/api/conversion/"+id, "", nil)

	e.Code, e.Return = code, l.h.now()
	if err != nil {
		e.Error = err.Error()
	}

	var answer presswork.Job
	if code == http.StatusOK && json.Unmarshal(body, &answer) == nil {
		e.Status, e.Seq = answer.Status, answer.Seq
	}
	l.h.add(e)

	return e
}

// get returns the status of a job. It returns false if the API has not answered.
func (l *load) get(job int, id string, at int) (presswork.Status, bool) {
	e := l.requestJob(opGet, "GET", job, id, at)
	return e.Status, e.Code == http.StatusOK
}

// cancel cancels the job and reports whether it has ended, now or earlier.
func (l *load) cancel(job int, id string, at int) bool {
	e := l.requestJob(opCancel, "DELETE", job, id, at)
	return e.Code == http.StatusOK || e.Code == http.StatusConflict
}

// watch reads the events of a job until its end and reconnects after failures. With hangUp it disconnects after each
// event.
func (l *load) watch(job int, id string, at int, since int64, hangUp bool) {
	e := Entry{Op: opWatch, Job: job, ID: id, Call: l.h.now(), Since: since}
	last := since

	for try := 0; e.End == "" && l.watched.Err() == nil; try++ {
		if !l.replays((at + try) % len(l.bases)) {
			continue // try the next API
		}
		ctx, cancel := context.WithTimeout(l.watched, 30*time.Second)
		path := fmt.Sprintf("%s/api/conversion/%s/events?since=%d", l.bases[(at+try)%len(l.bases)], id, last)
		l.stream(ctx, "GET", path, nil, func(data string) bool {
			var event presswork.Event
			if json.Unmarshal([]byte(data), &event) != nil || event.Type == presswork.EventSnapshot {
				return true
			}
			e.Seqs = append(e.Seqs, event.Seq)

			last = event.Seq
			if event.Status.Terminal() {
				e.End = string(event.Type)
			}

			return !hangUp
		})
		cancel()

		if e.End == "" {
			l.pause(200 * time.Millisecond)
		}
	}
	e.Return = l.h.now()
	l.h.add(e)
}

// stream reads server-sent events until on returns false or the connection ends. It returns the HTTP status, 0 without
// a response.
func (l *load) stream(ctx context.Context, method, url string, body []byte, on func(data string) bool) int {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return 0
	}
	req.Header.Set("Content-Type", "application/json")

	res, err := l.http.Do(req)
	if err != nil {
		return 0
	}
	defer res.Body.Close()

	if res.StatusCode != http.StatusOK {
		io.Copy(io.Discard, res.Body)
		return res.StatusCode
	}

	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && !on(data) {
			break
		}
	}

	return res.StatusCode
}

// complete requests a completion and reads its stream.
func (l *load) complete(job int, rng *rand.Rand) {
	e := Entry{Op: opCompletion, Job: job, Kind: modelOf(int(l.completions.Add(1))), Call: l.h.now()}
	body, _ := json.Marshal(
		map[string]any{
			"model":    e.Kind,
			"stream":   true,
			"messages": []any{map[string]any{"role": "user", "content": mark(l.seed, job)}},
		},
	)

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	e.Code = l.stream(
		ctx,
		"POST",
		l.bases[rng.IntN(len(l.bases))]+"/v1/chat/completions",
		body,
		func(data string) bool {
			if data == "[DONE]" {
				e.Whole = true
				return false
			}

			var chunk struct {
				Choices []struct{ Delta struct{ Content string } }
				Error   json.RawMessage
			}
			if json.Unmarshal([]byte(data), &chunk) != nil {
				e.Error = "not JSON: " + data
			}

			if chunk.Error != nil {
				e.End = "error"
			}

			for _, c := range chunk.Choices {
				// The server may join chunks.
				for word := range strings.FieldsSeq(c.Delta.Content) {
					if word != fmt.Sprintf("t%d", e.Tokens) {
						e.Error = fmt.Sprintf("token %d is %q", e.Tokens, word)
					}
					e.Tokens++
				}
			}

			return true
		},
	)
	e.Return = l.h.now()
	l.h.add(e)
}
