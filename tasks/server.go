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
	// pollInterval is Asynq's pause after an empty dequeue. It is short, because the dequeuer already waits for a
	// task.
	pollInterval = 2 * time.Millisecond
	// delayedInterval is the time between two moves of due retries to their queue.
	delayedInterval = 1500 * time.Millisecond
	janitorInterval = time.Minute
	// overlap is the number of jobs that prepare or store while others print.
	overlap = 2
	// stopGrace is how long handlers may take to return after their contexts have ended.
	stopGrace = 5 * time.Second
	// writeTimeout bounds what a run writes after its context has ended.
	writeTimeout = 2 * redisdial.IOTimeout
	// settleTimeout bounds the work after a job's end; see outbox.settle.
	settleTimeout = 5 * time.Second
)

// Server runs tasks. It has one Asynq server per queue, the dequeuer that waits for work, and sweeps that recover
// the tasks of dead workers.
type Server struct {
	options Options
	rdb     redis.UniversalClient
	clock   *clock.Clock
	// blocking is the client for commands that wait in Redis.
	blocking redis.UniversalClient
	records  *record.Records
	// outbox queues tasks and settles jobs that have ended.
	outbox *outbox
	// slots limits the tasks that run; dequeuer takes tasks within them.
	slots    slots.Slots
	dequeuer *asynqext.Dequeuer
	// completion makes sure that Redis receives the ends of tasks.
	completion *asynqext.Completion
	// active are the running handlers, calls the runs of calls among them.
	active *active
	calls  *stream.Server
	// handlers has the handler of each kind, by its name. It does not change after Start.
	handlers map[string]handler
	// begun maps the id of a job to the answer of record.DequeueLua, from its dequeue until its handler begins.
	begun sync.Map
	// offers returns the built-in tools of this worker; see HandleTools.
	offers func() Offer
	// vitals returns the vitals of this worker; see Report.
	vitals func() Vitals
	log    *slog.Logger
	// name is the name of this worker in reports and logs.
	name string

	// taking ends when the server must take no more tasks.
	taking     context.Context
	stopTaking context.CancelFunc
	// work is the parent of every handler's context.
	work     context.Context
	stopWork context.CancelCauseFunc

	metrics *Metrics

	// mu guards started, stopped and servers.
	mu      sync.Mutex
	started bool
	stopped bool
	servers []*asynq.Server
	// background are the goroutines of the server besides the handlers.
	background sync.WaitGroup

	// settling is held while settleEnded settles jobs.
	settling sync.Mutex
}

// NewServer returns a server for a Redis address (see redisdial.Dial). It does not connect. Register handlers
// before Start. Errors: the address or the options are invalid.
func NewServer(address string, o Options) (*Server, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	sharedSlots := slots.New(
		slots.Group{Queues: []Queue{Render, Export, Bulk}, Total: o.printing(), LastLimit: o.bulkSlots()},
		slots.Group{Queues: []Queue{Infer}, Total: o.InferConcurrency, LastLimit: o.InferConcurrency, Resumes: true},
	)

	rdb, err := redisdial.Dial(address, o.connections())
	if err != nil {
		return nil, err
	}

	blocking, err := redisdial.DialBlocking(address, 2*len(Queues()), 2*asynqext.DequeueWait)
	if err != nil {
		return nil, err
	}
	// The server's clock does not warn about skew: the client of the same process does.
	redisClock := clock.New(rdb, slog.New(slog.DiscardHandler))
	recs := record.New(rdb, redisClock, o.Records, o.Metrics.countEnd)
	s := &Server{
		options:    o,
		rdb:        rdb,
		clock:      redisClock,
		blocking:   blocking,
		records:    recs,
		outbox:     newOutbox(rdb, recs, redisClock, o),
		slots:      sharedSlots,
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

	// On a Cluster, the queue and the record are on different shards, which one script cannot change.
	var begin *asynqext.Begin
	if _, cluster := rdb.(*redis.ClusterClient); !cluster {
		begin = &asynqext.Begin{Lua: record.DequeueLua, Argv: s.beginArgv}
	}
	s.dequeuer = asynqext.NewDequeuer(s.taking, asynqext.DequeueOptions{
		Redis: rdb, Blocking: blocking, Slots: sharedSlots, SetAside: s.setAside, Begin: begin,
		Announced: callChannels(), Log: o.Log,
	})
	// go-redis calls hooks in the order in which they were added. The first three recognise scripts of Asynq by
	// their keys and arguments, so QueueHook, which changes scripts, follows them.
	rdb.AddHook(s.dequeuer.Hook())
	rdb.AddHook(asynqext.Turns(rdb))
	rdb.AddHook(s.completion.Hook())
	rdb.AddHook(QueueHook())
	// Add the metrics hook last, so that it sees the commands that are actually sent.
	o.Metrics.ObserveClient(rdb)
	blocking.AddHook(redisHook{o.Metrics, false})

	return s, nil
}

// workerName returns the host name and the process id.
func workerName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}

	return fmt.Sprintf("%s:%d", host, os.Getpid())
}

// queues returns the queues of Options.Queues that have a handler. Bulk carries the kinds that also print on
// Render or Export.
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

// Start begins to take tasks. It returns an error when Redis does not answer before ctx ends. Later outages do not
// stop the server. A second call does nothing.
func (s *Server) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.started || s.stopped {
		return nil
	}

	queues := s.queues()
	if len(queues) == 0 {
		return errors.New("tasks: no registered kind uses any of the queues to serve")
	}

	if err := s.rdb.Ping(ctx).Err(); err != nil {
		return record.Unavailable(err)
	}
	s.clock.Measure(ctx)

	for _, q := range queues {
		srv := asynq.NewServerFromRedisClient(s.rdb, s.asynqConfig(q))
		if err := srv.Start(asynq.HandlerFunc(s.process)); err != nil {
			return fmt.Errorf("asynq server of queue %s: %w", q, err)
		}
		s.servers = append(s.servers, srv)
	}

	for _, q := range queues {
		s.dequeuer.MarkPolled(q)
	}
	s.started = true
	s.calls.Start(s.work)
	// Cancellations must also reach handlers while they drain.
	s.background.Go(func() { s.clock.Run(s.work) })
	s.background.Go(func() { s.watchCancels(s.work) })

	for _, q := range queues {
		if hasOnlyCalls(q) {
			s.background.Go(func() { s.dequeuer.Listen(s.taking, q) })
		}
	}

	if slices.Contains(queues, Tools) {
		s.background.Go(func() { s.publishOffer(s.taking) })
	}
	s.background.Go(func() { s.publish(s.taking, workersKey, "report", s.reporter(queues)) })
	s.background.Go(func() { s.reap(s.taking, queues) })
	s.background.Go(func() { s.sweep(s.taking, queues) })
	s.log.Info("worker started", "queues", queues, "render_slots", s.options.RenderSlots)

	return nil
}

// concurrency returns how many handlers of a queue may run at the same time, including those that are idle.
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

// asynqConfig returns the settings of the Asynq server for a queue.
func (s *Server) asynqConfig(q Queue) asynq.Config {
	return asynq.Config{
		// One queue per server, because the dequeuer waits on one list.
		Queues:                   map[string]int{string(q): 1},
		Concurrency:              s.concurrency(q),
		TaskCheckInterval:        pollInterval,
		DelayedTaskCheckInterval: delayedInterval,
		JanitorInterval:          janitorInterval,
		RetryDelayFunc:           retryDelay,
		IsFailure:                isFailure,
		// Stop ends the handlers earlier. This limit is for handlers that ignore the end of their context.
		ShutdownTimeout: s.options.DrainTimeout + stopGrace,
		Logger:          asynqext.Logger{Log: s.log},
		LogLevel:        asynq.WarnLevel,
	}
}

// Stop takes no more tasks and lets running ones continue until DrainTimeout or ctx ends. Then it ends the
// contexts of the remaining handlers. Their tasks return to the queue, and the try does not count. A second call
// does nothing.
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
	// Closing the connection ends the dequeuer's waits at once.
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
	s.background.Wait()

	select {
	case <-drained:
		s.calls.Stop()
	case <-time.After(stopGrace):
		// Asynq still runs these handlers, so its connections stay open.
		return errors.Join(
			closeErr,
			fmt.Errorf("tasks: %d handlers ignore the end of their context", len(s.active.allRuns())),
		)
	}

	return errors.Join(closeErr, s.rdb.Close())
}

// settle settles the job of a run. The run's context has ended, so settle uses its own.
func (s *Server) settle(rec *record.Stored) {
	ctx, cancel := context.WithTimeout(context.Background(), settleTimeout)
	defer cancel()
	s.outbox.settleSoon(ctx, rec)
}
