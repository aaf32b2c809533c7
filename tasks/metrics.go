package tasks

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/redis/go-redis/v9"

	"presswork"
)

// Metrics are the metrics that the Client and the Server of a process share.
type Metrics struct {
	// accepted and ended count jobs, broken runs. The labels are in NewMetrics.
	accepted, ended, broken *prometheus.CounterVec
	// requeued counts the jobs whose lost task the sweeper has queued again.
	requeued prometheus.Counter
	// calls measures round trips to Redis, and failures counts those that failed.
	calls    *prometheus.HistogramVec
	failures *prometheus.CounterVec
}

// The values of the label "how": the reasons why a run did not end its job.
const (
	reaped     = "reaped"     // its worker died, and another worker queued the task again
	condemned  = "condemned"  // its task killed asynqext.CrashCap workers
	superseded = "superseded" // another run took over the job
	returned   = "returned"   // a stopping worker gave the task back
	retried    = "retried"    // it failed and is retried
)

// NewMetrics registers the metrics with reg. If reg is nil, they are not exported. It panics if reg has metrics
// with these names already.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	with := promauto.With(reg)

	m := &Metrics{
		accepted: with.NewCounterVec(prometheus.CounterOpts{
			Name: "presswork_jobs_accepted_total", Help: "Jobs accepted by this process.",
		}, []string{"kind"}),
		ended: with.NewCounterVec(prometheus.CounterOpts{
			Name: "presswork_jobs_ended_total",
			Help: "Jobs whose end this process wrote, by status: completed, failed or cancelled.",
		}, []string{"kind", "status"}),
		broken: with.NewCounterVec(prometheus.CounterOpts{
			Name: "presswork_runs_broken_total", Help: "Runs that did not end their job, by why.",
		}, []string{"how"}),
		requeued: with.NewCounter(prometheus.CounterOpts{
			Name: "presswork_jobs_requeued_total",
			Help: "Accepted jobs without a task that the sweeper put on their queue again.",
		}),
		calls: with.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "presswork_redis_seconds",
			Help:    "Time of a round trip to Redis with its retries, by what was sent: a command, a script or a pipeline.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5},
		}, []string{"call"}),
		failures: with.NewCounterVec(prometheus.CounterOpts{
			Name: "presswork_redis_errors_total",
			Help: "Round trips to Redis that failed, by why: timeout, connection, full, readonly, loading or answer.",
		}, []string{"reason"}),
	}
	// Export every value from the start: an alert on the increase of a counter misses its first appearance.
	for _, how := range []string{reaped, condemned, superseded, returned, retried} {
		m.broken.WithLabelValues(how)
	}

	for _, reason := range []string{"timeout", "connection", "full", "readonly", "loading", "answer"} {
		m.failures.WithLabelValues(reason)
	}

	return m
}

// countEnd counts a job whose end this process has written.
func (m *Metrics) countEnd(kind presswork.Kind, status presswork.Status) {
	m.ended.WithLabelValues(string(kind), string(status)).Inc()
}

// ObserveClient counts and times the commands of the client from now on.
func (m *Metrics) ObserveClient(client redis.UniversalClient) { client.AddHook(redisHook{m, true}) }

// redisHook counts the failed calls of a client. With timed it also measures their latency, except for clients
// whose commands block.
type redisHook struct {
	*Metrics
	timed bool
}

// DialHook implements redis.Hook. It counts nothing: a failed dial fails the command that needs it.
func (h redisHook) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (h redisHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		call := "command"
		if name := cmd.Name(); name == "eval" || name == "evalsha" {
			call = "script"
		}
		began := time.Now()
		err := next(ctx, cmd)
		h.observe(call, began)
		h.countFailure(err)

		return err
	}
}

// ProcessPipelineHook implements redis.Hook.
func (h redisHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		began := time.Now()
		err := next(ctx, cmds)
		h.observe("pipeline", began)
		// The error of a pipeline is its first one, which may only mean that a value is absent.
		for _, cmd := range cmds {
			if h.countFailure(cmd.Err()) {
				break
			}
		}

		return err
	}
}

// observe records the latency of a call, for clients whose latency is measured.
func (h redisHook) observe(call string, began time.Time) {
	if h.timed {
		h.calls.WithLabelValues(call).Observe(time.Since(began).Seconds())
	}
}

// countFailure counts err if it is a failure of Redis, and reports whether it is one.
func (h redisHook) countFailure(err error) bool {
	reason := reasonOf(err)
	if reason != "" {
		h.failures.WithLabelValues(reason).Inc()
	}

	return reason != ""
}

// reasonOf returns the name of a Redis failure, or "" for other results: an absent value, a caller that left, an
// unknown script digest.
func reasonOf(err error) string {
	if err == nil || errors.Is(err, redis.Nil) || errors.Is(err, context.Canceled) || errors.Is(err, redis.ErrClosed) {
		return ""
	}

	if answer, ok := errors.AsType[redis.Error](err); ok {
		switch word, _, _ := strings.Cut(answer.Error(), " "); word {
		case "NOSCRIPT":
			return ""
		case "OOM":
			return "full"
		case "READONLY", "MISCONF", "NOREPLICAS":
			return "readonly"
		case "LOADING", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN":
			return "loading"
		}

		return "answer"
	}

	if timeout, ok := errors.AsType[net.Error](err); errors.Is(err, os.ErrDeadlineExceeded) || ok && timeout.Timeout() {
		return "timeout"
	}

	return "connection"
}
