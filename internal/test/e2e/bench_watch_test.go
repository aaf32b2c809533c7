package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fasthttp/websocket"

	"presswork"
	"presswork/internal/test/e2e"
	"presswork/tasks"
)

// BenchmarkWebSocketLatency measures the time from a worker's report of an event until a client has it. One API node has
// 500 sockets with running jobs, and in the second measurement 9 500 more with waiting jobs.
func BenchmarkWebSocketLatency(b *testing.B) {
	for b.Loop() {
		measureWatchers(b, 0)
		measureWatchers(b, 9500)
	}
}

// measureWatchers runs 500 jobs with a socket each. In addition, idle sockets wait for jobs that do not run. The worker
// is a task server in this process, so that the times of sending and receiving come from one clock.
func measureWatchers(b *testing.B, idle int) {
	b.Helper()
	const sockets, steps = 500, 40
	fleet, url := benchFleet(b)
	node, c := fleet.API(nil)
	dial := func(s e2e.Submission) *websocket.Conn {
		conn, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(c.Base, "http")+c.Submit(s).WSURL, nil)
		if err != nil {
			b.Fatal(err)
		}

		return conn
	}
	before := proportionalMemory(node.PID())

	for i := range idle {
		conn := dial(e2e.Submission{Content: fmt.Sprintf("# Waiting %d", i), Priority: "bulk"})
		defer conn.Close()
	}

	if idle > 0 {
		report(b, fmt.Sprintf("memory of an API node for each of %d sockets", idle),
			fmt.Sprintf("%.0f KiB", (proportionalMemory(node.PID())-before)*1024/float64(idle)), "stated")
	}
	var mu sync.Mutex
	sent := map[string]time.Time{}
	var took []time.Duration
	begin := make(chan struct{})

	server, err := tasks.NewServer(url, tasks.Options{RenderSlots: sockets, Queues: []tasks.Queue{tasks.Render}})
	if err != nil {
		b.Fatal(err)
	}
	var started atomic.Int64
	tasks.Handle(server, tasks.ConvertPDF, func(ctx context.Context, run *tasks.Run, _ tasks.Convert) error {
		<-begin
		// Each job begins one interval after the job before it, so that all jobs report 500 events a second.
		const interval = 2 * time.Millisecond

		start := time.Now().Add(time.Duration(started.Add(1)) * interval)
		for step := range steps {
			time.Sleep(time.Until(start.Add(time.Duration(step) * sockets * interval))) // the schedule of the load
			mu.Lock()
			sent[fmt.Sprint(run.ID, step)] = time.Now()
			mu.Unlock()

			if err := run.Progress(ctx, presswork.StageRendering, step+1, fmt.Sprint(step)); err != nil {
				return err
			}
		}

		return run.Complete(ctx, presswork.Artifact{ID: run.ID, ContentType: "application/pdf"}, false)
	})
	var wg sync.WaitGroup

	for i := range sockets {
		conn := dial(e2e.Submission{Content: fmt.Sprintf("# %d", i)})
		wg.Go(func() {
			defer conn.Close()

			for {
				_, data, err := conn.ReadMessage()
				now := time.Now()

				if err != nil {
					return
				}

				var e presswork.Event
				if err := json.Unmarshal(data, &e); err != nil {
					b.Error(err)
					return
				}
				mu.Lock()
				if at, ok := sent[e.JobID+e.Message]; ok && e.Type == presswork.EventProgress {
					took = append(took, now.Sub(at))
				}
				mu.Unlock()
			}
		})
	}

	if err := server.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	close(begin)
	wg.Wait()

	if err := server.Stop(context.WithoutCancel(b.Context())); err != nil {
		b.Error(err)
	}

	if want := sockets * steps; len(took) != want {
		b.Errorf("%d events arrived, want %d", len(took), want)
	}
	report(b, fmt.Sprintf("worker's event to client, %d sockets, 500 events/s", sockets+idle),
		percentiles(took, 10*time.Microsecond), "p99 < 10 ms")
}
