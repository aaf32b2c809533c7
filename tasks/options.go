package tasks

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"time"
)

// Options configure a Client and a Server. Each ignores the fields of the other. The zero value of a field
// is its default.
type Options struct {
	// Log receives messages for the operator. Default: discarded.
	Log *slog.Logger
	// Metrics counts jobs and commands of Redis. All clients and servers of a process share it. Default:
	// the counts are not exported.
	Metrics *Metrics
	// Retention is how long results are kept. Default 30 days.
	Retention time.Duration
	// Records is how long the record of a job is kept after its end. Default: seven days longer than
	// Retention, so that an expired artifact can be told from an unknown job.
	Records time.Duration
	// WebhookData returns the "data" of a webhook's body: the job as its caller sees it, with public
	// addresses. Default: Record.Job.
	WebhookData func(Record) any

	// Discard deletes the objects that runs have stored for a job that failed or was cancelled: a run may have
	// died before it deleted them. It is called for each such job that has begun, and again after an error. There
	// may be nothing to delete. Default: nothing is deleted.
	Discard func(ctx context.Context, job Record) error
	// DiscardSources deletes the sources of a cancelled job, also of one that has not begun. It is called
	// again after an error. The worker deletes the sources of a completed job; a failed job keeps them,
	// because it may be tried again. Default: nothing is deleted.
	DiscardSources func(ctx context.Context, jobID string) error

	// MaxPending (Client) bounds the waiting tasks of a queue: more submissions to it are refused with QueueFull.
	// Default 100 000; negative for no limit. An owner may add a task while it has fewer than four times as
	// many waiting tasks as the queue can still take. So one owner alone fills at most four fifths of the
	// queue, and two owners four ninths each.
	MaxPending int64
	// MaxWait (Client) is how old the oldest waiting task of a queue may be before submissions to it are
	// refused with QueueFull. Owners whose own tasks have not waited as long are not refused. Default: no
	// limit.
	MaxWait time.Duration

	// Queues (Server) are the queues to serve. A queue without a handled kind is not served. Default: all.
	Queues []Queue
	// RenderSlots (Server) is how many jobs of Render, Export and Bulk together print at the same time in
	// this process. Two more jobs run, so that preparing and storing overlap printing. Default: the
	// number of CPUs.
	RenderSlots int
	// TextConcurrency (Server) is how many tasks of Text run at the same time. Default: twice the number
	// of CPUs.
	TextConcurrency int
	// AudioConcurrency (Server) is how many tasks of Audio run at the same time. Default 16.
	AudioConcurrency int
	// InferConcurrency (Server) is how many tasks of Infer run at the same time. As many again may be idle
	// while their tools run (see slots.Idle). Default 512.
	InferConcurrency int
	// ToolConcurrency (Server) is how many tasks of Tools run at the same time. They are sessions, which
	// wait for the model most of the time. Default 64.
	ToolConcurrency int
	// DrainTimeout (Server) is how long Stop waits for running handlers. Default 30 s.
	DrainTimeout time.Duration
}

// printing is how many tasks of Render, Export and Bulk together run at a time.
func (o *Options) printing() int { return o.RenderSlots + overlap }

// connections is how many connections to Redis a server may hold. It counts at most 64 handlers of each queue whose
// handlers mostly wait for a model.
func (o *Options) connections() int {
	calls := min(o.AudioConcurrency, 64) + min(o.InferConcurrency, 64) + min(o.ToolConcurrency, 64)
	return 3*o.printing() + o.TextConcurrency + calls + 16
}

// bulkSlots is how many slots Bulk may hold. In a process that also serves Render or Export, long
// documents leave one tab of the browser to the others, unless there is only one.
func (o *Options) bulkSlots() int {
	if slices.Contains(o.Queues, Render) || slices.Contains(o.Queues, Export) {
		return max(1, o.RenderSlots-1)
	}

	return o.printing()
}

const (
	defaultRetention  = 30 * 24 * time.Hour
	afterRetention    = 7 * 24 * time.Hour
	defaultMaxPending = 100_000
	defaultInfer      = 512
	defaultTool       = 64
	defaultAudio      = 16
	defaultDrain      = 30 * time.Second
)

// withDefaults returns the options with their defaults. Errors: an unknown queue, a negative value.
func (o Options) withDefaults() (Options, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}

	if o.Metrics == nil {
		o.Metrics = NewMetrics(nil)
	}
	o.Retention = cmp.Or(o.Retention, defaultRetention)
	o.Records = cmp.Or(o.Records, o.Retention+afterRetention)
	o.MaxPending = cmp.Or(o.MaxPending, defaultMaxPending)
	o.RenderSlots = cmp.Or(o.RenderSlots, runtime.NumCPU())
	o.TextConcurrency = cmp.Or(o.TextConcurrency, 2*runtime.NumCPU())
	o.AudioConcurrency = cmp.Or(o.AudioConcurrency, defaultAudio)
	o.InferConcurrency = cmp.Or(o.InferConcurrency, defaultInfer)
	o.ToolConcurrency = cmp.Or(o.ToolConcurrency, defaultTool)

	o.DrainTimeout = cmp.Or(o.DrainTimeout, defaultDrain)
	if o.Discard == nil {
		o.Discard = func(context.Context, Record) error { return nil }
	}

	if o.DiscardSources == nil {
		o.DiscardSources = func(context.Context, string) error { return nil }
	}

	if o.WebhookData == nil {
		o.WebhookData = func(r Record) any { return r.Job }
	}

	if len(o.Queues) == 0 {
		o.Queues = Queues()
	}

	for _, q := range o.Queues {
		if !slices.Contains(Queues(), q) {
			return o, fmt.Errorf("queue %q does not exist; the queues are %v", q, Queues())
		}
	}

	for name, n := range map[string]int64{
		"Retention":        int64(o.Retention),
		"Records":          int64(o.Records),
		"MaxWait":          int64(o.MaxWait),
		"RenderSlots":      int64(o.RenderSlots),
		"TextConcurrency":  int64(o.TextConcurrency),
		"AudioConcurrency": int64(o.AudioConcurrency),
		"InferConcurrency": int64(o.InferConcurrency),
		"ToolConcurrency":  int64(o.ToolConcurrency),
		"DrainTimeout":     int64(o.DrainTimeout),
	} {
		if n < 0 {
			return o, fmt.Errorf("tasks.Options.%s is negative", name)
		}
	}

	return o, nil
}
