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

// Options configure a Client and a Server; each ignores what only the other
// reads. The zero value is the default of every field.
type Options struct {
	// Log receives what an operator should know. Default: discarded.
	Log *slog.Logger
	// Metrics counts what is done; all of a process share one. Default: the counts
	// are not exported.
	Metrics *Metrics
	// Retention is how long results are kept. Default 30 days.
	Retention time.Duration
	// Records is how long the record of a job is kept after its end. Default: seven
	// days longer than Retention, so that an expired artifact can be distinguished
	// from an unknown job.
	Records time.Duration
	// WebhookData makes the "data" of a webhook's body: the job as its caller
	// sees it, with addresses that work outside. Default: Record.Job.
	WebhookData func(Record) any

	// Discard deletes what a run may have stored for a job that has then failed or
	// was cancelled: the run may have died before it could. It is called for each
	// such job that a run began, again while it fails, and may find nothing.
	// Default: nothing is deleted.
	Discard func(ctx context.Context, job Record) error
	// DiscardSources deletes what a job that was cancelled was submitted with. It is called as Discard is, also for a
	// job that no run began. The sources of a completed job are its worker's to delete; a failed job, which may be
	// tried again, keeps them. Default: nothing is deleted.
	DiscardSources func(ctx context.Context, jobID string) error

	// MaxPending (Client) is how many tasks may wait in one queue before
	// submissions to it are refused with QueueFull. Default 100 000; negative
	// for no limit. An owner may have four times as many as are left free, so four
	// fifths of them alone, and each of two four ninths.
	MaxPending int64
	// MaxWait (Client) is how old the oldest waiting task of a queue may be before
	// submissions to it are refused with QueueFull, except those of owners none of
	// whose tasks has waited as long. Default: no limit.
	MaxWait time.Duration

	// Queues (Server) are the queues to serve, as far as a kind is handled that
	// uses them. Default: all.
	Queues []Queue
	// RenderSlots (Server) is how many jobs of Render, Export and Bulk together
	// are printed at a time in this process. Two more are taken, so that
	// preparing and storing overlap printing. Default: the number of CPUs.
	RenderSlots int
	// TextConcurrency (Server) is how many tasks of Text run at a time. Default:
	// twice the number of CPUs.
	TextConcurrency int
	// AudioConcurrency (Server) is how many tasks of Audio run at a time. Default 16.
	AudioConcurrency int
	// InferConcurrency (Server) is how many tasks of Infer run at a time. As many again
	// may be there whose tools run (see Idle). Default 512.
	InferConcurrency int
	// ToolConcurrency (Server) is how many tasks of Tools run at a time: sessions, which
	// wait for the model most of the time. Default 64.
	ToolConcurrency int
	// DrainTimeout (Server) is how long Stop lets running handlers go on.
	// Default 30 s.
	DrainTimeout time.Duration
}

// printing is how many tasks of Render, Export and Bulk together run at a time.
func (o *Options) printing() int { return o.RenderSlots + overlap }

// connections is how many connections to Redis a server may hold.
func (o *Options) connections() int {
	calls := min(o.AudioConcurrency, 64) + min(o.InferConcurrency, 64) + min(o.ToolConcurrency, 64)
	return 3*o.printing() + o.TextConcurrency + calls + 16
}

// bulkSlots is how many slots Bulk may hold: long documents must not have every
// tab of the browser where others need one, unless there is but one.
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
		"Retention": int64(o.Retention), "Records": int64(o.Records), "MaxWait": int64(o.MaxWait), "RenderSlots": int64(o.RenderSlots), "TextConcurrency": int64(o.TextConcurrency),
		"AudioConcurrency": int64(o.AudioConcurrency), "InferConcurrency": int64(o.InferConcurrency), "ToolConcurrency": int64(o.ToolConcurrency), "DrainTimeout": int64(o.DrainTimeout),
	} {
		if n < 0 {
			return o, fmt.Errorf("tasks.Options.%s is negative", name)
		}
	}

	return o, nil
}
