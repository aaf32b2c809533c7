package tasks

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"presswork/internal/test/redistest"
	"presswork/tasks/record"
	"presswork/tasks/redisdial"
)

// Exported returns the value of a metric in a registry. labels are the values of its labels in the order of their
// names. For a histogram it is the number of observations.
func Exported(t testing.TB, reg prometheus.Gatherer, name string, labels ...string) float64 {
	t.Helper()

	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}

	for _, family := range families {
		for _, m := range family.GetMetric() {
			var values []string
			for _, l := range m.GetLabel() {
				values = append(values, l.GetValue())
			}

			if family.GetName() == name && fmt.Sprint(values) == fmt.Sprint(labels) {
				return m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
	}

	return 0
}

func TestAcceptedAndEndedJobsAreCountedOnce(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	c := newTestClient(t, redistest.Start(t), Options{Metrics: NewMetrics(reg)})
	dropper := &replyDropper{text: []byte(record.LedgerKey)}
	c.rdb.AddHook(dropper)
	ids := []string{}

	for i := range 3 {
		s := newSubmission(t, "ann")
		dropper.left.Store(int64(i % 2)) // the first submission loads the script

		for range 2 {
			if _, _, err := c.Submit(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		ids = append(ids, s.ID)
	}

	for range 2 {
		_, _ = c.Cancel(t.Context(), ids[0]) // the second fails, because the job has ended
	}

	accepted := Exported(t, reg, "presswork_jobs_accepted_total", "conversion")
	ended := Exported(t, reg, "presswork_jobs_ended_total", "conversion", "cancelled")

	if accepted != 3 || ended != 1 {
		t.Errorf("got %v accepted and %v cancelled jobs, want 3 and 1", accepted, ended)
	}
}

func TestRedisCallsAreCountedByResult(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()

	rdb, err := redisdial.Dial(redistest.Start(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rdb.Close() })
	NewMetrics(reg).ObserveClient(rdb)
	ctx := t.Context()
	rdb.Get(ctx, "nothing") // the first command follows a HELLO
	// Two calls: the first returns NOSCRIPT, the second sends the text of the script.
	if err := redis.NewScript("return 1").Run(ctx, rdb, nil).Err(); err != nil {
		t.Fatal(err)
	}
	rdb.Set(ctx, "text", "x", 0)
	rdb.LPush(ctx, "text", "x")
	rdb.ConfigSet(ctx, "maxmemory", "1")

	_, err = rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.Get(ctx, "nothing")
		p.Set(ctx, "more", "x", 0)

		return nil
	})
	if err == nil {
		t.Fatal("a full Redis accepted a write")
	}

	for _, want := range []struct {
		name, label string
		n           float64
	}{
		{"presswork_redis_seconds", "command", 5},
		{"presswork_redis_seconds", "script", 2},
		{"presswork_redis_seconds", "pipeline", 1},
		{"presswork_redis_errors_total", "answer", 1},
		{"presswork_redis_errors_total", "full", 1},
		{"presswork_redis_errors_total", "connection", 0},
	} {
		t.Run(want.name+" "+want.label, func(t *testing.T) {
			if got := Exported(t, reg, want.name, want.label); got != want.n {
				t.Errorf("got %v, want %v", got, want.n)
			}
		})
	}

	for want, err := range map[string]error{
		"timeout":    &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded},
		"connection": &net.OpError{Op: "dial", Err: errors.New("connection refused")},
		"":           fmt.Errorf("a caller left: %w", context.Canceled),
	} {
		t.Run(want, func(t *testing.T) {
			if got := reasonOf(err); got != want {
				t.Errorf("reasonOf(%v) = %q, want %q", err, got, want)
			}
		})
	}
}
