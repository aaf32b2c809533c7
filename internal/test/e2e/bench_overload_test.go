package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"presswork/internal/test/e2e"
	"presswork/tasks/redisdial"
)

// BenchmarkOverload submits three times as many jobs as a worker can print, to a queue of 100. It measures the prints,
// the latency of a job's status, and the rejected submissions.
func BenchmarkOverload(b *testing.B) {
	const length, rounds = 8 * time.Second, 4
	fleet, url := benchFleet(b)
	_, c := fleet.API(map[string]string{"API_KEY": "hush", "QUEUE_MAX_JOBS": "100"})
	fleet.Worker(nil)

	rdb, err := redisdial.Dial(url, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer rdb.Close()
	printed := func() int {
		n, err := rdb.Get(b.Context(), "asynq:{render}:processed").Int()
		if err != nil {
			b.Fatal(err)
		}

		return n
	}
	var n, refused, retryAfter atomic.Int64
	var last atomic.Value
	submit := func() error {
		body, err := json.Marshal(e2e.Submission{Content: smallDocument(int(n.Add(1))), Theme: "nord"})
		if err != nil {
			return err
		}

		status, head, answer, err := c.Try("POST", "/api/conversion", "application/json", body)
		switch status {
		case http.StatusAccepted:
			var a e2e.Accepted
			if err := json.Unmarshal(answer, &a); err != nil {
				return err
			}
			last.Store(a.JobID)
		case http.StatusTooManyRequests:
			refused.Add(1)
			seconds, err := time.ParseDuration(head.Get("Retry-After") + "s")
			retryAfter.Add(int64(seconds))

			return err
		default:
			return fmt.Errorf("submission: status %d, %s (%w); want 202 or 429", status, answer, err)
		}

		return nil
	}

	for b.Loop() {
		throughput(b, c, 16, new(int), smallDocument) // starts the browsers and composes the first pages
		// The two loads alternate, so that other work of the machine affects both.
		var peak, rate float64           // prints per second without overload, submissions per second under overload
		var overPrints, overTime float64 // prints and seconds under overload
		var latencies []string

		for range rounds {
			// Submit as many jobs as the queue accepts.
			before, began := printed(), time.Now()
			for time.Since(began) < length {
				full := refused.Load()

				if err := submit(); err != nil {
					b.Fatal(err)
				}

				if refused.Load() > full {
					time.Sleep(50 * time.Millisecond) // the load of this measurement
				}
			}
			speed := float64(printed()-before) / time.Since(began).Seconds()
			peak += speed / rounds
			rate = 3 * speed

			refused.Store(0)
			retryAfter.Store(0)
			before, began = printed(), time.Now()

			statuses := make(chan string)
			go func() {
				statuses <- openLoop(b, 20, length, func() error {
					id, _ := last.Load().(string)

					status, _, body, err := c.Try("GET", "/api/conversion/"+id, "", nil)
					if err == nil && status != http.StatusOK {
						err = fmt.Errorf("state of a job: status %d, %s; want 200", status, body)
					}

					return err
				})
			}()
			openLoop(b, int(rate), length, submit)
			overPrints += float64(printed() - before)
			overTime += time.Since(began).Seconds()
			latencies = append(latencies, <-statuses)
		}
		under := overPrints / overTime
		report(b, fmt.Sprintf("documents printed while 3 × %.0f/s are submitted", peak),
			fmt.Sprintf("%.0f/s, %.0f %%", under, 100*under/peak), "≥ 90 %")
		report(b, "status of a job meanwhile", strings.Join(latencies, "; "), "p99 < 50 ms")
		report(
			b,
			"submissions beyond the bound",
			fmt.Sprintf("%d of the last %.0f refused with 429, retry-after %s on average", refused.Load(),
				rate*length.Seconds(),
				(time.Duration(retryAfter.Load())/time.Duration(max(1, refused.Load()))).Round(100*time.Millisecond)),
			"429 with retry-after",
		)
	}
}
