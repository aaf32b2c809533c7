package api_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/valyala/fasthttp"

	"presswork/api"
	"presswork/internal/fault"
	"presswork/internal/test/redistest"
	"presswork/tasks"
)

// realQueue returns a tasks.Client with its own Redis.
func realQueue(tb testing.TB) *tasks.Client {
	tb.Helper()

	client, err := tasks.NewClient(redistest.Start(tb), tasks.Options{MaxPending: -1})
	if err != nil {
		tb.Fatal(err)
	}

	if err := client.Start(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := client.Stop(context.Background()); err != nil {
			tb.Error(err)
		}
	})

	return client
}

func TestRealQueueBehavesLikeTheFake(t *testing.T) {
	t.Parallel()
	h := serve(t, func(o *api.Options) { o.Queue = realQueue(t) })
	job := h.submit()
	h.get(job.StatusURL).want(t, http.StatusOK, "")
	conn := h.mustDial(job.WSURL)
	got := h.readEvents(conn, 1)
	h.do(http.MethodDelete, job.StatusURL, nil).want(t, http.StatusOK, "")

	got = append(got, h.readEvents(conn, -1)...)
	if diff := cmp.Diff([]string{"snapshot/1", "cancelled/2", "close 1000"}, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}

	diff := cmp.Diff([]string{"- snapshot/2", "2 cancelled/2", "end"}, h.events(job.EventsURL+"&since=1").rest())
	if diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	h.do(http.MethodDelete, job.StatusURL, nil).want(t, http.StatusConflict, fault.JobFinished)
	h.post(`{"content":"a"}`, "Idempotency-Key: k").want(t, http.StatusAccepted, "")
	h.post(`{"content":"a"}`, "Idempotency-Key: k").want(t, http.StatusAccepted, "")
	h.post(`{"content":"b"}`, "Idempotency-Key: k").want(t, http.StatusConflict, fault.IdempotencyConflict)

	if body := string(h.get("/api/conversion?status=queued").body); strings.Count(body, `"job_id"`) != 1 {
		t.Errorf("the queued jobs are %s, want the first submission with the key k", body)
	}
}

// BenchmarkSubmit sends small documents from 16 clients to a server with a real queue and no worker.
func BenchmarkSubmit(b *testing.B) {
	const clients = 16
	o := options(b)
	queue := realQueue(b)
	o.Queue, o.Keys = queue, []string{testKey}

	server, err := api.New(o)
	if err != nil {
		b.Fatal(err)
	}

	if err := server.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { server.Stop(context.Background()) })
	client := &fasthttp.Client{MaxConnsPerHost: clients}
	body := []byte(`{"content":"# Hello\n\nA small *document*.","theme":"nord","options":{"page_size":"A4"}}`)
	work := make(chan struct{})
	var mu sync.Mutex
	took := make([]time.Duration, 0, b.N)
	var group sync.WaitGroup
	b.ResetTimer()

	for range clients {
		group.Go(func() {
			req, res := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
			req.SetRequestURI("http://" + server.Address() + "/api/conversion")
			req.Header.SetMethod(http.MethodPost)
			req.Header.SetContentType("application/json")
			req.Header.Set("X-API-Key", testKey)
			req.SetBody(body)

			for range work {
				began := time.Now()

				if err := client.Do(req, res); err != nil || res.StatusCode() != http.StatusAccepted {
					b.Errorf("%v: %d %s", err, res.StatusCode(), res.Body())
				}
				mu.Lock()
				took = append(took, time.Since(began))
				mu.Unlock()
			}
		})
	}

	for range b.N {
		work <- struct{}{}
	}
	close(work)
	group.Wait()
	b.StopTimer()

	stats, err := queue.Stats(b.Context())
	if err != nil {
		b.Fatal(err)
	}

	if waiting := stats[slices.Index(tasks.Queues(), tasks.Render)].Pending; waiting != int64(b.N) {
		b.Errorf("%d tasks wait, want %d", waiting, b.N)
	}
	slices.Sort(took)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}
