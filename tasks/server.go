package tasks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"presswork/tasks/asynqext"
	"presswork/tasks/clock"
	"presswork/tasks/record"
	"presswork/tasks/redisdial"
	"presswork/tasks/slots"
	"presswork/tasks/stream"
)

const (
	// pollInterval is the pause Asynq makes after a dequeue that found nothing;
	// the dequeuer does the waiting.
	pollInterval = 2 * time.Millisecond
	// delayedInterval is how often due retries are put on their queue.
	delayedInterval = 1500 * time.Millisecond
	janitorInterval = time.Minute
	// overlap is how many jobs are worked at beyond those being printed.
	overlap = 2
	// stopGrace is what handlers get to return in once their contexts ended.
	stopGrace = 5 * time.Second
	// writeTimeout bounds what a run writes after its context has ended.
	writeTimeout = 2 * redisdial.IOTimeout
	// settleTimeout bounds what follows a job's end.
	settleTimeout = 5 * time.Second
)

// Server runs tasks. It has one Asynq server per queue, the dequeuer that waits for work, and sweeps that recover
// the tasks of dead workers.
type Server struct {
	options    Options
	rdb        redis.UniversalClient
	clock      *clock.Clock
	blocking   redis.UniversalClient
	records    *record.Records
	outbox     *outbox
	slots      slots.Slots
	dequeuer   *asynqext.Dequeuer
	completion *asynqext.Completion
	active     *active
	calls      *stream.Server
	handlers   map[string]handler
	// begun holds by job what its dequeue has answered for record.DequeueLua.
	begun sync.Map
	// offers is what this worker tells of the built-in tools; see HandleTools.
	offers func() Offer
	// vitals is what this worker reports besides its runs; see Report.
	vitals func() Vitals
	log    *slog.Logger
	// name is which worker of a fleet this is, for the log.
	name string

	// taking ends when no more tasks shall be taken.
	taking     context.Context
	stopTaking context.CancelFunc
	// work is the parent of every handler's context.
	work     context.Context
	stopWork context.CancelCauseFunc

	metrics *Metrics

	mu      sync.Mutex
	started bool
	stopped bool
	servers []*asynq.Server
	keepers sync.WaitGroup

	// settling is held while settleEnded settles jobs.
	settling sync.Mutex
}

// NewServer makes a server for a Redis address (see Dial). It does not connect.
func NewServer(address string, o Options) (*Server, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	share := slots.New(
		slots.Group{Queues: []Queue{Render, Export, Bulk}, Total: o.printing(), LastMost: o.bulkSlots()},
		slots.Group{
			Queues: []Queue{Infer}, Total: o.InferConcurrency, LastMost: o.InferConcurrency, Resumes: true,
		},
	)

	rdb, err := redisdial.Dial(address, o.connections())
	if err != nil {
		return nil, err
	}

	blocking, err := redisdial.DialBlocking(address, 2*len(Queues()), 2*asynqext.DequeueWait)
	if err != nil {
		return nil, err
	}
	// A process has a client as well, which warns.
	now := clock.New(rdb, slog.New(slog.DiscardHandler))
	recs := record.New(rdb, now, o.Records, o.Metrics.countEnd)
	s := &Server{
		options:    o,
		rdb:        rdb,
		clock:      now,
		blocking:   blocking,
		records:    recs,
		outbox:     newOutbox(rdb, recs, now, o),
		slots:      share,
		completion: asynqext.NewCompletion(o.Log),
		active:     &active{runs: map[*activeRun]struct{}{}},
		calls:      stream.NewServer(rdb, o.Log),
		handlers:   map[string]handler{},
		log:        o.Log,
		name:       workerName(),
		metrics:    o.Metrics,
	}
	s.taking, s.stopTaking = context.WithCancel(context.Background())
	s.work, s.stopWork = context.WithCancelCause(context.Background())

	var begin *asynqext.Begin
	if _, cluster := rdb.(*redis.ClusterClient); !cluster {
		begin = &asynqext.Begin{Lua: record.DequeueLua, Argv: s.beginArgv}
	}
	s.dequeuer = asynqext.NewDequeuer(s.taking, asynqext.DequeueOptions{
		Redis: rdb, Blocking: blocking, Slots: share, SetAside: s.setAside, Begin: begin,
		Announced: announced(), Log: o.Log,
	})
	rdb.AddHook(s.dequeuer.Hook())
	rdb.AddHook(asynqext.Turns(rdb))
	rdb.AddHook(s.completion.Hook())
	rdb.AddHook(QueueHook())
	// Last, so that it sees what is sent.
	o.Metrics.Watch(rdb)
	blocking.AddHook(redisHook{o.Metrics, false})

	return s, nil
}

// workerName is the machine's name and the process's id.
func workerName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}

	return fmt.Sprintf("%s:%d", host, os.Getpid())
}

// queues are those of Options.Queues that some handled kind uses. Bulk carries
// what is also printed interactively.
func (s *Server) queues() []Queue {
	used := map[Queue]bool{}
	for _, h := range s.handlers {
		used[h.queue] = true
		if h.job != nil && (h.queue == Render || h.queue == Export) {
			used[Bulk] = true
		}
	}

	return slices.DeleteFunc(slices.Clone(s.options.Queues), func(q Queue) bool { return !used[q] })
}

// Start begins to take tasks. It fails when Redis does not answer before ctx
// ends; later outages are lived through. Starting twice is harmless.
func (s *Server) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.started || s.stopped {
		return nil
	}

	queues := s.queues()
	if len(queues) == 0 {
		return errors.New("tasks: no handled kind uses any of the queues to serve")
	}

	if err := s.rdb.Ping(ctx).Err(); err != nil {
		return record.Unavailable(err)
	}
	s.clock.Measure(ctx)

	for _, q := range queues {
		srv := asynq.NewServerFromRedisClient(s.rdb, s.config(q))
		if err := srv.Start(asynq.HandlerFunc(s.process)); err != nil {
			return fmt.Errorf("asynq server of queue %s: %w", q, err)
		}
		s.servers = append(s.servers, srv)
	}

	for _, q := range queues {
		s.dequeuer.Looked(q)
	}
	s.started = true
	s.calls.Start(s.work)
	// Cancellations also reach the handlers while they drain.
	s.keepers.Go(func() { s.clock.Run(s.work) })
	s.keepers.Go(func() { s.watchCancels(s.work) })

	for _, q := range queues {
		if hasOnlyCalls(q) {
			s.keepers.Go(func() { s.dequeuer.Listen(s.taking, q) })
		}
	}

	if slices.Contains(queues, Tools) {
		s.keepers.Go(func() { s.offer(s.taking) })
	}
	s.keepers.Go(func() { s.tell(s.taking, workersKey, "report", s.reporter(queues)) })
	s.keepers.Go(func() { s.reap(s.taking, queues) })
	s.keepers.Go(func() { s.sweep(s.taking, queues) })
	s.log.Info("worker started", "queues", queues, "render_slots", s.options.RenderSlots)

	return nil
}

// concurrency is how many tasks of a queue run at a time, or are idle.
func (s *Server) concurrency(q Queue) int {
	switch q {
	case Text:
		return s.options.TextConcurrency
	case Audio:
		return s.options.AudioConcurrency
	case Infer:
		return 2 * s.options.InferConcurrency // half of them idle
	case Tools:
		return s.options.ToolConcurrency
	}

	return s.options.printing()
}

func (s *Server) config(q Queue) asynq.Config {
	return asynq.Config{
		// One queue per server, because the dequeuer waits on one list.
		Queues:                   map[string]int{string(q): 1},
		Concurrency:              s.concurrency(q),
		TaskCheckInterval:        pollInterval,
		DelayedTaskCheckInterval: delayedInterval,
		JanitorInterval:          janitorInterval,
		RetryDelayFunc:           retryDelay,
		IsFailure:                isFailure,
		// Stop ends the handlers before this; it is for those that do not heed
		// their context.
		ShutdownTimeout: s.options.DrainTimeout + stopGrace,
		Logger:          asynqLog{s.log},
		LogLevel:        asynq.WarnLevel,
	}
}

// Stop takes no more tasks and lets the running ones go on until DrainTimeout
// or ctx ends. Those that remain have their context ended and go back on their
// queue, with no try counted. Stopping twice is harmless.
func (s *Server) Stop(ctx context.Context) error {
	s.mu.Lock()
	if s.stopped {
		s.mu.Unlock()
		return nil
	}
	s.stopped = true
	servers := s.servers
	s.mu.Unlock()

	s.stopTaking()
	// Ends the waits of the dequeuer at once.
	closeErr := s.blocking.Close()
	drained := make(chan struct{})

	go func() {
		var all sync.WaitGroup
		for _, srv := range servers {
			all.Go(srv.Shutdown)
		}
		all.Wait()
		close(drained)
	}()

	drain := time.NewTimer(s.options.DrainTimeout)
	defer drain.Stop()

	select {
	case <-drained:
	case <-ctx.Done():
	case <-drain.C:
	}
	s.stopWork(errDraining)
	s.keepers.Wait()

	select {
	case <-drained:
		s.calls.Stop()
	case <-time.After(stopGrace):
		// Asynq still works on their behalf, so its connections stay open.
		return errors.Join(
			closeErr,
			fmt.Errorf("tasks: %d handlers do not heed their context's end", len(s.active.all())),
		)
	}

	return errors.Join(closeErr, s.rdb.Close())
}

// settle is outbox.settle for the runs of this server, whose contexts have
// ended with them.
func (s *Server) settle(rec *record.Stored) {
	ctx, cancel := context.WithTimeout(context.Background(), settleTimeout)
	defer cancel()
	s.outbox.settleSoon(ctx, rec)
}
