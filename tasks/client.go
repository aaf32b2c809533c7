package tasks

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/internal/fault"
	"presswork/tasks/asynqext"
	"presswork/tasks/clock"
	"presswork/tasks/redisdial"
	"presswork/tasks/stream"
)

// Client is the queue as the API sees it (api.Queue). All its methods may be
// used concurrently.
type Client struct {
	rdb        redis.UniversalClient
	clock      *clock.Clock
	records    *records
	outbox     *outbox
	inspector  *asynq.Inspector
	relay      *relay
	calls      *stream.Client
	maxPending int64
	maxWait    time.Duration
	// lines is how each queue stands.
	lines  map[Queue]*figure[line]
	memory memory
	log    *slog.Logger

	metrics *Metrics

	// running is what goes on between Start and Stop, until its context ends.
	running sync.WaitGroup
	life    context.Context
	end     context.CancelFunc

	mu        sync.Mutex
	submitted int
	// owners holds when ownerIsNew last reported true for each.
	owners map[string]time.Time
}

// QueueHook is the hook of every client that Asynq uses: the tasks of calls are as volatile
// as the calls.
func QueueHook() redis.Hook {
	return asynqext.Amend(stream.Volatile, slices.Collect(maps.Keys(announced()))...)
}

// NewClient makes a client for a Redis address (see Dial). It does not connect.
func NewClient(address string, o Options) (*Client, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}

	rdb, err := redisdial.Dial(address, 0)
	if err != nil {
		return nil, err
	}
	rdb.AddHook(asynqext.Turns(rdb))
	rdb.AddHook(QueueHook())
	o.Metrics.Watch(rdb)
	now := clock.New(rdb, o.Log)
	recs := &records{rdb: rdb, clock: now, ttl: o.Records, metrics: o.Metrics}
	c := &Client{
		rdb:        rdb,
		clock:      now,
		records:    recs,
		outbox:     newOutbox(rdb, now, o),
		inspector:  asynq.NewInspectorFromRedisClient(rdb),
		relay:      newRelay(recs, o.Log),
		maxPending: o.MaxPending,
		maxWait:    o.MaxWait,
		memory:     memory{log: o.Log, full: figure[bool]{maxAge: memoryAge}},
		log:        o.Log,
		metrics:    o.Metrics,
		owners:     map[string]time.Time{},
		lines:      map[Queue]*figure[line]{},
	}

	c.calls = stream.NewClient(
		rdb,
		stream.ClientOptions{
			Enqueue: c.enqueueCall,
			Drop:    c.dropCall,
			Left:    cancelChannel,
			Input:   inputChannel,
			Log:     o.Log,
		},
	)
	for _, q := range Queues() {
		c.lines[q] = &figure[line]{maxAge: lineAge}
	}
	c.life, c.end = context.WithCancel(context.Background())

	return c, nil
}

// Start begins relaying events to watchers and frames to callers.
func (c *Client) Start(context.Context) error {
	c.running.Go(func() { c.clock.Run(c.life) })
	c.relay.start()
	c.calls.Start()

	return nil
}

// Stop ends every watch and every answer and closes the connections.
func (c *Client) Stop(context.Context) error {
	c.end()
	c.running.Wait()
	c.relay.stop()
	c.calls.Stop()

	if err := c.rdb.Close(); err != nil && !errors.Is(err, redis.ErrClosed) {
		return err
	}

	return nil
}

// Now is the time of Redis, which all machines agree on. Before Start, and until
// Redis has answered, it is this machine's.
func (c *Client) Now() time.Time { return c.clock.Now() }

// Skew is how far this machine's clock is ahead of Redis'.
func (c *Client) Skew() time.Duration { return c.clock.Skew() }

// Job returns a job, with its queue position.
func (c *Client) Job(ctx context.Context, id string) (Record, error) {
	job, err := c.find(ctx, id)
	if err != nil {
		return Record{}, err
	}

	if err := c.place(ctx, []*stored{job}); err != nil {
		return Record{}, err
	}

	return job.Record, nil
}

func (c *Client) find(ctx context.Context, id string) (*stored, error) {
	if !ValidID(id) {
		return nil, notFound(id)
	}

	job, err := c.records.read(ctx, id)
	if err == nil && job == nil {
		err = notFound(id)
	}

	return job, err
}

func notFound(id string) error {
	return fault.Errorf(fault.NotFound, "there is no job %q", id)
}

// Cancel ends a job that is not terminal. A worker that runs it learns of it
// within a second, and can no longer complete it from this moment on.
func (c *Client) Cancel(ctx context.Context, id string) (Record, error) {
	if !ValidID(id) {
		return Record{}, notFound(id)
	}

	job, err := c.outbox.end(ctx, c.records, id, ending{status: presswork.Cancelled, message: "cancelled by request"})
	if errors.Is(err, errGone) {
		return Record{}, notFound(id)
	}

	if ended, ok := errors.AsType[endedError](err); ok {
		return job.Record, fault.Errorf(fault.JobFinished, "the job is %s already", ended.status)
	}

	if err != nil {
		return Record{}, err
	}
	// Best effort: a worker that takes the task anyway finds the job cancelled.
	if err := c.inspector.DeleteTask(string(job.queue), id); err != nil {
		c.log.Debug("the task of a cancelled job stays on the queue", "job_id", id, "err", err)
	}

	if err := asynqext.Leave(ctx, c.rdb, job.queue, job.Owner, id); err != nil {
		c.log.Debug("a cancelled job stays in its owner's line until its turn", "job_id", id, "err", err)
	}

	return job.Record, nil
}
