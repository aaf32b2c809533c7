package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"presswork/api"
	"presswork/internal/fault"
	"presswork/internal/markdown/diagram"
	"presswork/internal/test/wait"
	"presswork/tasks"
)

// drawn answers a task as a worker does: each picture names its source.
func drawn(h *house, task tasks.Task) (d tasks.Drawing, pictures []diagram.Picture) {
	if err := json.Unmarshal(task.Payload, &d); err != nil || task.Kind != tasks.DrawDiagrams.Name {
		h.t.Errorf("task %s %s: %v", task.Kind, task.Payload, err)
		return d, nil
	}

	for _, source := range d.Sources {
		if strings.Contains(source, "wrong") {
			pictures = append(pictures, diagram.Picture{Problem: "it is wrong"})
			continue
		}
		pictures = append(
			pictures,
			diagram.Picture{
				SVG: fmt.Sprintf(`<svg width="1" height="1"><title>%s</title></svg>`, strings.TrimSpace(source)),
			},
		)
	}

	return d, pictures
}

func fence(source string) string { return "```mermaid\n" + source + "\n```\n\n" }

func (h *house) preview(markdown string) reply {
	h.t.Helper()
	return h.do(http.MethodPost, "/api/preview", strings.NewReader(markdown), "Content-Type: text/markdown")
}

func TestAWorkerDrawsTheDiagramsOfAPreview(t *testing.T) {
	t.Parallel()
	h := serve(t)
	h.queue.workers = 1
	seen := make(chan tasks.Drawing, 9)
	h.queue.answer = func(task tasks.Task) (any, error) {
		d, pictures := drawn(h, task)
		seen <- d

		return pictures, nil
	}
	// What was drawn is remembered, what was not is tried again.
	for _, want := range []string{"one\n|wrong\n|two\n", "wrong\n"} {
		res := h.preview(fence("one") + fence("wrong") + fence("one") + fence("two"))
		res.want(t, http.StatusOK, "")
		res.holds(t, "<svg", "<title>one</title>", "<title>two</title>", "<code", "wrong")

		if n := bytes.Count(res.body, []byte("<title>one</title>")); n != 2 {
			t.Errorf("a diagram that stands there twice is drawn %d times", n)
		}

		d := <-seen
		if got := strings.Join(d.Sources, "|"); got != want || d.Style.Page == "" {
			t.Errorf("a task with %q, %+v", got, d)
		}
	}
	large := strings.Repeat("x", diagram.MaxSource-10)
	res := h.preview(fence("three"+large) + fence("four"+large))
	res.holds(t, "<title>three", "four")

	if d := <-seen; len(d.Sources) != 1 || bytes.Contains(res.body, []byte("<title>four")) {
		t.Errorf("a task has %d large diagrams", len(d.Sources))
	}
}

func TestAPreviewDoesWithoutAWorker(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		change func(*fakeQueue)
		wait   time.Duration
		asks   int64
	}{
		"no worker":      {func(q *fakeQueue) { q.workers = 0 }, time.Hour, 0},
		"a full queue":   {func(q *fakeQueue) { q.refuse = fault.Errorf(fault.QueueFull, "full") }, time.Hour, 0},
		"a worker hangs": {func(*fakeQueue) {}, 200 * time.Millisecond, 1},
		"a worker fails": {func(q *fakeQueue) {
			q.answer = func(tasks.Task) (any, error) { return nil, fault.Errorf(fault.RenderFailed, "no worker can") }
		}, time.Hour, 1},
		"queue not there": {func(q *fakeQueue) { q.refuse = fault.Errorf(fault.QueueUnavailable, "down") }, time.Hour, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := serve(t, func(o *api.Options) { o.DrawWait = tc.wait })
			h.queue.workers = 1
			tc.change(h.queue)
			res := h.preview("# Hi\n\n" + fence("one"))
			res.want(t, http.StatusOK, "")
			res.holds(t, "<code", "one")

			if bytes.Contains(res.body, []byte("<svg")) || h.queue.asks.Load() != tc.asks {
				t.Errorf("%d tasks, %s", h.queue.asks.Load(), res.body)
			}

			strict := h.do(
				http.MethodPost,
				"/api/preview",
				strings.NewReader(`{"content":"`+"```mermaid\\none\\n```"+`","options":{"strict":true}}`),
				"Content-Type: application/json",
			)
			if strict.want(
				t,
				http.StatusUnprocessableEntity,
				fault.StrictFindings,
			); !bytes.Contains(
				strict.body,
				[]byte("no worker"),
			) {
				t.Errorf("strict: %s", strict.body)
			}
		})
	}
}

// Not in parallel: it waits for as many previews as the machine has processors.
func TestAPreviewThatWaitsForItsDiagramsKeepsNoneWaiting(t *testing.T) {
	h := serve(t, func(o *api.Options) { o.DrawWait = time.Hour })
	h.queue.workers = 1
	others := make(chan struct{})

	release := sync.OnceFunc(func() { close(others) })
	defer release()
	h.queue.answer = func(task tasks.Task) (any, error) {
		<-others
		_, pictures := drawn(h, task)

		return pictures, nil
	}

	var all sync.WaitGroup
	for i := range runtime.NumCPU() {
		all.Go(func() { h.preview(fence(fmt.Sprint("wait", i))).holds(t, "<svg") })
	}

	for deadline := time.Now().Add(wait.Patience); h.queue.asks.Load() < int64(runtime.NumCPU()); time.Sleep(time.Millisecond) { // polling a condition
		if time.Now().After(deadline) {
			t.Error("not every preview asks a worker")
			break
		}
	}
	h.preview("# Hi").want(t, http.StatusOK, "")
	release()
	all.Wait()
}
