package tasks

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/recent"
	"presswork/tasks/asynqext"
	"presswork/tasks/clock"
	"presswork/tasks/memory"
	"presswork/tasks/record"
	"presswork/tasks/redisdial"
	"presswork/tasks/stream"
	"presswork/tasks/watch"
)

// Client is the API's side of the queue (api.Queue). It is safe for concurrent use.
type Client struct {
	rdb   redis.UniversalClient
	clock *clock.Clock
	// records has the state of jobs, outbox their tasks and their settling.
	records *record.Records
	outbox  *outbox
	// inspector is Asynq's own access to tasks.
	inspector *asynq.Inspector
	// relay carries events to watchers, calls frames to callers.
	relay      *watch.Relay
	calls      *stream.Client
	maxPending int64         // waiting tasks of a queue; negative for no limit
	maxWait    time.Duration // age of the oldest waiting task above which submissions are refused
	// backlogs holds the last known figures of each queue.
	backlogs map[Queue]*recent.Value[backlog]
	memory   *memory.Guard
	log      *slog.Logger

	metrics *Metrics

	// running are the goroutines between Start and Stop. They end when ctx ends.
	running sync.WaitGroup
	ctx     context.Context
	cancel  context.CancelFunc
}

// QueueHook returns the hook for every Redis client that Asynq uses. It keeps the tasks of calls out of the
// append-only file, as the calls themselves are (see stream.Volatile).
func QueueHook() redis.Hook {
	return asynqext.Amend(stream.Volatile, slices.Collect(maps.Keys(callChannels()))...)
}

// NewClient returns a client for a Redis address (see redisdial.Dial). It does not connect. Errors: the
// address or the options are invalid.
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
	o.Metrics.ObserveClient(rdb)
	now := clock.New(rdb, o.Log)
	recs := record.New(rdb, now, o.Records, o.Metrics.countEnd)
	c := &Client{
		rdb:        rdb,
		clock:      now,
		records:    recs,
		outbox:     newOutbox(rdb, recs, now, o),
		inspector:  asynq.NewInspectorFromRedisClient(rdb),
		relay:      watch.NewRelay(recs, o.Log),
		maxPending: o.MaxPending,
		maxWait:    o.MaxWait,
		memory:     memory.NewGuard(o.Log),
		log:        o.Log,
		metrics:    o.Metrics,
		backlogs:   map[Queue]*recent.Value[backlog]{},
	}

	c.calls = stream.NewClient(rdb, stream.ClientOptions{
		Enqueue: c.enqueueCall,
		Drop:    c.dropCall,
		Left:    record.CancelChannel,
		Input:   inputChannel,
		Log:     o.Log,
	})
	for _, q := range Queues() {
		c.backlogs[q] = recent.NewValue[backlog](maxBacklogAge)
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())

	return c, nil
}

// Start begins to relay events to watchers and frames to callers, and to measure the clock of Redis. It does not
// wait for Redis and never fails.
func (c *Client) Start(context.Context) error {
	c.running.Go(func() { c.clock.Run(c.ctx) })
	c.relay.Start()
	c.calls.Start()

	return nil
}

// Stop ends every watch and every answer and closes the connections. A second call does nothing. The only error is
// that of closing a connection.
func (c *Client) Stop(context.Context) error {
	c.cancel()
	c.running.Wait()
	c.relay.Stop()
	c.calls.Stop()

	if err := c.rdb.Close(); err != nil && !errors.Is(err, redis.ErrClosed) {
		return err
	}

	return nil
}

// Now returns the time of Redis, which all machines agree on. Until Redis has answered after Start, it is
// this machine's time.
func (c *Client) Now() time.Time { return c.clock.Now() }

// Skew returns how far the clock of this machine is ahead of that of Redis. It is negative when this clock is
// behind.
func (c *Client) Skew() time.Duration { return c.clock.Skew() }

// Job returns a job with its queue position. Errors: NotFound, QueueUnavailable.
func (c *Client) Job(ctx context.Context, id string) (Record, error) {
	job, err := c.records.Find(ctx, id)
	if err != nil {
		return Record{}, err
	}

	if err := c.setPositions(ctx, []*record.Stored{job}); err != nil {
		return Record{}, err
	}

	return job.Record, nil
}

// Watch follows a job's events after the sequence number since; since < 0 means from now on. ctx
// bounds only the opening. The watch lasts until the job ends or until Close.
// Errors: NotFound, QueueUnavailable.
func (c *Client) Watch(ctx context.Context, id string, since int64) (*Watch, error) {
	return c.relay.Watch(ctx, id, since)
}

// Events returns what this process has relayed to its watchers. The counts start at zero with the process.
func (c *Client) Events() EventStats { return c.relay.Stats() }

// Cancel ends a job that has not ended. From then on, a worker that runs the job cannot complete it; its
// run ends within a second. Errors: NotFound, JobFinished, QueueUnavailable.
func (c *Client) Cancel(ctx context.Context, id string) (Record, error) {
	if !ValidID(id) {
		return Record{}, record.NotFound(id)
	}

	job, err := c.outbox.endJob(ctx, id, record.Ending{Status: presswork.Cancelled, Message: "cancelled by request"})
	if errors.Is(err, record.ErrGone) {
		return Record{}, record.NotFound(id)
	}

	if ended, ok := errors.AsType[record.EndedError](err); ok {
		return job.Record, fault.Errorf(fault.JobFinished, "the job is %s already", ended.Status)
	}

	if err != nil {
		return Record{}, err
	}
	// Ignore failures of the next two steps: a worker that takes the task finds the job cancelled.
	if err := c.inspector.DeleteTask(string(job.Queue), id); err != nil {
		c.log.Debug("the task of a cancelled job stays on the queue", "job_id", id, "err", err)
	}

	if err := asynqext.LeaveTurns(ctx, c.rdb, job.Queue, job.Owner, id); err != nil {
		c.log.Debug("a cancelled job stays in its owner's queue until its turn", "job_id", id, "err", err)
	}

	return job.Record, nil
}

// QueueStats is the state of one queue.
type QueueStats = asynqext.Stats

// Stats returns how full the queues are, in two round trips. Errors: QueueUnavailable.
func (c *Client) Stats(ctx context.Context) ([]QueueStats, error) {
	stats, err := asynqext.ReadStats(ctx, c.rdb, Queues(), c.clock.Exact())
	if err != nil {
		return nil, record.Unavailable(err)
	}

	return stats, nil
}

// healthScript writes a key that soon expires. It fails when Redis is full, read-only or cannot write its
// file.
var healthScript = redis.NewScript(stream.Volatile + `return redis.call('SET', KEYS[1], '1', 'PX', 10000)`)

// Health returns nil when the queue accepts writes. Errors: QueueUnavailable.
func (c *Client) Health(ctx context.Context) error {
	if err := healthScript.Run(ctx, c.rdb, []string{healthKey}).Err(); err != nil {
		return record.Unavailable(err)
	}

	return nil
}

// Workers returns the number of worker processes with a heartbeat in the last ten seconds. Errors: QueueUnavailable.
func (c *Client) Workers(ctx context.Context) (int, error) {
	n, err := asynqext.Processes(ctx, c.rdb)
	if err != nil {
		return 0, record.Unavailable(err)
	}

	return n, nil
}

// Secret returns 32 random bytes that all nodes share under this name. The first call creates them. Errors:
// QueueUnavailable, a stored secret of another length.
func (c *Client) Secret(ctx context.Context, name string) ([]byte, error) {
	fresh := make([]byte, 32)
	rand.Read(fresh)

	secret, _, err := c.setOnce(ctx, secretKey(name), fresh, 0)
	if err != nil {
		return nil, err
	}

	if len(secret) != len(fresh) {
		return nil, fmt.Errorf("secret %q in Redis has %d bytes instead of %d", name, len(secret), len(fresh))
	}

	return []byte(secret), nil
}
