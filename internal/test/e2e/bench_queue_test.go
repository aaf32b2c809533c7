package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/internal/test/e2e"
	"presswork/internal/test/wait"
	"presswork/tasks"
)

// listeningRedis starts a durable Redis on a free port of an IP address.
func listeningRedis(b *testing.B, address string) (url string, client *redis.Client) {
	b.Helper()

	l, err := net.Listen("tcp", address+":0")
	if err != nil {
		b.Fatal(err)
	}
	port := fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
	l.Close()

	cmd := exec.Command("redis-server", "--bind", address, "--port", port, "--protected-mode", "no", "--dir",
		b.TempDir(), "--save", "", "--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy",
		"noeviction", "--loglevel", "warning")
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	url = "redis://" + address + ":" + port
	client = redis.NewClient(&redis.Options{Addr: address + ":" + port})
	b.Cleanup(func() { client.Close() })

	wait.Until(b, "redis-server answers", func() bool { return client.Ping(b.Context()).Err() == nil })

	return url, client
}

// BenchmarkLongQueue measures polls without waiting jobs and with 99 000, and the submission of these jobs.
func BenchmarkLongQueue(b *testing.B) {
	const waiting, requests = 99_000, 2000
	fleet, url := benchFleet(b)
	_, c := fleet.API(map[string]string{"API_KEY": "hush"})

	opt, err := redis.ParseURL(url)
	if err != nil {
		b.Fatal(err)
	}

	client := redis.NewClient(opt)
	defer client.Close()

	// One key may use only a part of the queue.
	queue, err := tasks.NewClient(url, tasks.Options{MaxPending: 2 * waiting})
	if err != nil {
		b.Fatal(err)
	}
	defer queue.Stop(context.WithoutCancel(b.Context()))
	memory := func() (n int64) {
		info, err := client.Info(b.Context(), "memory").Result()
		if err != nil {
			b.Fatal(err)
		}

		for line := range strings.Lines(info) {
			if rest, ok := strings.CutPrefix(line, "used_memory:"); ok {
				fmt.Sscan(rest, &n)
			}
		}

		return n
	}
	latency := func(path func() string) string {
		var d []time.Duration

		for range requests {
			began := time.Now()

			if status, _, body := c.Do("GET", path(), "", nil, "X-API-Key", "hush"); status != http.StatusOK {
				b.Fatalf("status %d, %s; want 200", status, body)
			}
			d = append(d, time.Since(began))
		}

		return percentiles(d, 10*time.Microsecond)
	}

	for b.Loop() {
		var ids []string
		submit := func() {
			s := e2e.Submission{Content: fmt.Sprintf("# %d", len(ids))}
			ids = append(ids, c.Submit(s, "X-API-Key", "hush").JobID)
		}
		measure := func(n string) {
			for range 100 {
				submit()
			}
			report(b, "status of a job while "+n+" wait",
				latency(func() string { return "/api/conversion/" + ids[rand.IntN(len(ids))] }),
				"as short as without")
			report(b, "a list of 20 jobs while "+n+" wait",
				latency(func() string { return "/api/conversion?limit=20" }), "as short as without")
		}
		measure("none")
		before := memory()
		began := time.Now()
		submitAll(b, queue, waiting)
		report(b, "submissions to a queue that grows to 99 000",
			fmt.Sprintf("%.0f/s", waiting/time.Since(began).Seconds()), "stated")
		report(b, "Redis' memory for each of 99 000 waiting jobs",
			fmt.Sprintf("%.2f KB", float64(memory()-before)/waiting/1000), "≤ 2.5 KB")
		measure("99 000")
	}
}
