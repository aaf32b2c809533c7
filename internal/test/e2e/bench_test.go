package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/valyala/fasthttp"

	"presswork"
	"presswork/internal/chromium/printable"
	"presswork/internal/test/e2e"
	"presswork/internal/test/redistest"
)

// smallDocument returns the nth of many distinct small documents.
func smallDocument(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Document %d\n\nA paragraph with **bold** and [a link](https://example.com/%d).\n\n", n, n)

	for i := range 6 {
		fmt.Fprintf(&b, "## Section %d\n\n%s\n\n- one\n- two\n\n", i, strings.Repeat("Some words to set. ", 30))
	}
	b.WriteString("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\n```go\nfunc main() { println(1) }\n```\n")

	return b.String()
}

// convert submits a document, reads its server-sent events to the end, and downloads the result.
func convert(b *testing.B, c *e2e.Client, content string) []byte {
	b.Helper()
	_, _, log := c.Do("GET", c.Submit(e2e.Submission{Content: content}).EventsURL, "", nil)
	_, last, _ := bytes.Cut(log, []byte(`data: {"type":"completed"`))

	var e presswork.Event
	if err := json.Unmarshal(append([]byte(`{"type":"completed"`), bytes.TrimSpace(last)...), &e); err != nil {
		b.Errorf("events %s: %v, want a completed event at the end", log, err)
		return nil
	}

	return c.Download(presswork.Job{Artifact: e.Artifact})
}

// throughput converts count documents, eight at a time, and returns the number per second. It counts *next up, so that
// each document is new.
func throughput(b *testing.B, c *e2e.Client, count int, next *int, document func(n int) string) float64 {
	b.Helper()

	todo := make(chan int, count)
	for range count {
		*next++
		todo <- *next
	}
	close(todo)
	began := time.Now()

	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for n := range todo {
				convert(b, c, document(n))
			}
		})
	}
	wg.Wait()

	return float64(count) / time.Since(began).Seconds()
}

// BenchmarkEndToEndAgainstTheRawBrowser compares the conversion of small documents with the print of the same pages. Then
// it measures the memory after 2 000 documents.
func BenchmarkEndToEndAgainstTheRawBrowser(b *testing.B) {
	const blocks, size = 6, 200
	node, c := e2e.Serve(b, nil)
	raw := startRaw(b)

	pages := make([]printable.Page, size)
	for i := range pages {
		pages[i] = compose(b, smallDocument(1_000_000+i))
	}
	next := 0

	ours := func() float64 { return throughput(b, c, size, &next, smallDocument) }
	for b.Loop() {
		report(b, "distinct small documents, REST to downloaded PDF, against the raw browser",
			compareSpeeds(blocks, func() float64 { return raw.block(b, pages) }, ours), "≥ 0.8 ×")

		for next < 2000 {
			ours()
		}
		report(b, fmt.Sprintf("memory of the whole process tree after %d distinct small documents (PSS)", next),
			fmt.Sprintf("%.0f MiB", treeMemory(b, node.PID())), "≤ 330 MiB")
	}
}

// BenchmarkIdenticalDocument prints a document again: with one request that returns the PDF,
// and with three requests that submit, watch and download it.
func BenchmarkIdenticalDocument(b *testing.B) {
	_, c := e2e.Serve(b, nil)
	convert(b, c, smallDocument(1))

	body, err := json.Marshal(e2e.Submission{Content: smallDocument(1)})
	if err != nil {
		b.Fatal(err)
	}

	for b.Loop() {
		var one, three []time.Duration

		for range 200 {
			began := time.Now()

			_, _, got := c.Do("POST", "/api/conversion", "application/json", body, "Accept", "application/pdf")
			if !bytes.HasPrefix(got, []byte("%PDF")) {
				b.Fatalf("got %.200s, want a PDF", got)
			}
			one = append(one, time.Since(began))
			began = time.Now()
			convert(b, c, smallDocument(1))
			three = append(three, time.Since(began))
		}
		report(b, "an identical document again, one request for the PDF",
			percentiles(one, 10*time.Microsecond), "p50 ≤ 3 ms")
		report(b, "an identical document again, submitted, watched, downloaded",
			percentiles(three, 10*time.Microsecond), "stated")
	}
}

// BenchmarkCostAgainstSize compares the time for a page of long documents with that of a document of 15 sections.
func BenchmarkCostAgainstSize(b *testing.B) {
	_, c := e2e.Serve(b, map[string]string{"WORKERS": "1"})
	// One section of longDocument is about a page. measure returns the exact number of pages.
	measure := func(seed string, sections int) (pages int, took time.Duration) {
		doc := longDocument(seed, sections)
		began := time.Now()
		job := c.Completed(c.Submit(e2e.Submission{Content: doc}).JobID)
		took = time.Since(began)

		return job.Artifact.Pages, took
	}
	for b.Loop() {
		measure("warm", 2)
		var line []string
		var perPage float64

		for _, sections := range []int{1, 15, 150, 1060} {
			var best time.Duration
			var pages int

			for try := range 3 {
				n, took := measure(fmt.Sprint(b.N, sections, try), sections)
				if pages = n; best == 0 || took < best {
					best = took
				}
			}
			line = append(line, fmt.Sprintf("%d pages %s", pages, best.Round(time.Millisecond)))
			// Documents of fewer pages are not compared, because the fixed cost dominates.
			if each := best.Seconds() / float64(pages); sections == 15 {
				perPage = each
			} else if sections > 15 {
				line[len(line)-1] += fmt.Sprintf(" (%.2f × linear)", each/perPage)
			}
		}
		report(b, "cost against size", strings.Join(line, ", "), "≤ 1.6 × linear")
	}
}

// BenchmarkBigSources converts sources of up to 10 MB. After each of them a small document must convert.
func BenchmarkBigSources(b *testing.B) {
	node, c := e2e.Serve(b, nil)
	// Each section begins a page.
	chapters := "# Book\n\n" +
		strings.ReplaceAll(longDocument("chapters", 1120), "## Section", "\\newpage\n\n## Section")

	source := func(size int) string {
		doc := longDocument(fmt.Sprint(size), 1)
		return strings.Repeat(doc, size/len(doc))
	}
	for b.Loop() {
		for _, big := range []struct {
			what    string
			doc     string
			options presswork.Options
			target  string
		}{
			{"", source(100 << 10), presswork.Options{}, "printed, or render_timeout"},
			{"", source(1 << 20), presswork.Options{}, "printed, or render_timeout"},
			{"", source(10<<20 - 4096), presswork.Options{}, "printed, or render_timeout"},
			{
				" with all headings in its contents", source(10<<20 - 4096),
				presswork.Options{TOC: new(presswork.Depth(6))},
				"printed",
			},
			{" in chapters that begin pages", chapters, presswork.Options{}, "1000 pages ≤ 4 s"},
		} {
			began := time.Now()
			job := c.Wait(c.Submit(e2e.Submission{Content: big.doc, Options: big.options}).JobID)

			outcome := fmt.Sprintf("%s in %s", job.Status, time.Since(began).Round(10*time.Millisecond))
			switch {
			case job.Artifact != nil:
				outcome += fmt.Sprintf(", %d pages, %.1f MB", job.Artifact.Pages, float64(job.Artifact.Size)/1e6)
			case job.Error != nil:
				outcome += ", " + string(job.Error.Code)
			}
			report(b, fmt.Sprintf("%d KB of Markdown%s", len(big.doc)>>10, big.what), outcome, big.target)
			convert(b, c, smallDocument(len(big.doc)))
		}
		report(b, "memory of the whole process tree after those (PSS)",
			fmt.Sprintf("%.0f MiB", treeMemory(b, node.PID())), "stated")
	}
}

// benchFleet returns a fleet without nodes, and the address of its Redis, which syncs every write.
func benchFleet(b *testing.B) (fleet *e2e.Fleet, redisURL string) {
	b.Helper()
	redisURL = redistest.StartDurable(b).Address

	return fleetOn(b, redisURL), redisURL
}

// BenchmarkSubmission measures submissions to an API node without workers.
func BenchmarkSubmission(b *testing.B) {
	fleet, _ := benchFleet(b)
	_, c := fleet.API(map[string]string{"API_KEY": "hush"})
	host := strings.TrimPrefix(c.Base, "http://")
	client := &fasthttp.HostClient{Addr: host, MaxConns: 256}
	var n atomic.Int64
	submit := func() error {
		req, res := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
		defer fasthttp.ReleaseRequest(req)
		defer fasthttp.ReleaseResponse(res)
		req.SetRequestURI(c.Base + "/api/conversion")
		req.Header.SetMethod("POST")
		req.Header.SetContentType("application/json")
		req.Header.Set("X-API-Key", "hush")

		body, err := json.Marshal(
			e2e.Submission{Content: fmt.Sprintf("# Document %d\n\nSome text.\n", n.Add(1)), Theme: "nord"},
		)
		if err != nil {
			return err
		}
		req.SetBody(body)

		if err := client.Do(req, res); err != nil {
			return err
		}

		if res.StatusCode() != http.StatusAccepted {
			return fmt.Errorf("status %d, %s; want 202", res.StatusCode(), res.Body())
		}

		return nil
	}

	for b.Loop() {
		const total = 20_000
		var wg sync.WaitGroup
		began := time.Now()

		for range 16 {
			wg.Go(func() {
				for range total / 16 {
					if err := submit(); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		report(b, "submission alone, 16 clients", fmt.Sprintf("%.0f/s", total/time.Since(began).Seconds()), "≥ 2000/s")
		report(b, "submission at 500/s", openLoop(b, 500, 10*time.Second, submit), "p99 < 25 ms")
	}
}

// openLoop calls do at a fixed rate, whether or not earlier calls have ended. It measures
// each call from its scheduled time.
func openLoop(b *testing.B, rate int, length time.Duration, do func() error) string {
	b.Helper()
	var mu sync.Mutex
	var took []time.Duration
	var wg sync.WaitGroup

	began := time.Now()
	for i := range int(length.Seconds()) * rate {
		due := began.Add(time.Duration(i) * time.Second / time.Duration(rate))
		time.Sleep(time.Until(due)) // the schedule of the load
		wg.Go(func() {
			if err := do(); err != nil {
				b.Error(err)
			}
			d := time.Since(due)
			mu.Lock()
			took = append(took, d)
			mu.Unlock()
		})
	}
	wg.Wait()

	return percentiles(took, 10*time.Microsecond)
}

// BenchmarkIdleWorker counts the Redis commands of a worker without jobs.
func BenchmarkIdleWorker(b *testing.B) {
	fleet, url := benchFleet(b)
	fleet.Worker(nil)

	opt, err := redis.ParseURL(url)
	if err != nil {
		b.Fatal(err)
	}

	client := redis.NewClient(opt)
	defer client.Close()
	processed := func() (n int64) {
		info, err := client.Info(b.Context(), "stats").Result()
		if err != nil {
			b.Fatal(err)
		}

		for line := range strings.Lines(info) {
			if rest, ok := strings.CutPrefix(line, "total_commands_processed:"); ok {
				fmt.Sscan(rest, &n)
			}
		}

		return n
	}

	for b.Loop() {
		const window = 20 * time.Second
		before := processed()
		time.Sleep(window) // the window of the measurement
		report(b, "Redis commands of an idle worker",
			fmt.Sprintf("%.0f/s", float64(processed()-before-1)/window.Seconds()), "≤ 20/s")
	}
}
