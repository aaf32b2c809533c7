package tasks

import (
	"context"
	"time"

	"presswork/internal/fault"
	"presswork/tasks/asynqext"
	"presswork/tasks/record"
)

const (
	// maxBacklogAge is the largest age of the backlog that decides about a submission.
	maxBacklogAge = 100 * time.Millisecond
	// pacePeriod is the length of a measuring period. The pace is the average since the start of the previous period.
	// Only submissions read the queue. After paceGap without one, the measurement starts again.
	pacePeriod = 10 * time.Second
	paceGap    = 30 * time.Second
	// ownerShare bounds the tasks of one owner in a queue, as a multiple of the tasks that the queue can still take. A
	// queue that fills up therefore keeps room for owners with few tasks.
	ownerShare = 4
	// maxRetryAfter is the longest wait that a refused caller is advised, because the pace may change.
	maxRetryAfter = 5 * time.Minute
)

// backlog has the length of a queue and its pace.
type backlog struct {
	asynqext.Backlog
	pace pace
}

// pace measures how many tries of a queue end per second.
type pace struct {
	// current and previous are the starts of the current and of the previous measuring period.
	current, previous paceMark
	perSecond         float64 // ended tries per second; 0 while it is not known
}

// paceMark is the number of tries that had ended at a time.
type paceMark struct {
	// done counts all tries since the queue was created, as of the time at.
	done int64
	at   time.Time
}

// measured returns the pace with one more measurement: done tries had ended at the time at.
func (p pace) measured(done int64, at time.Time) pace {
	now := paceMark{done, at}
	restarted := done < p.current.done // Redis has lost its counters

	if p.current.at.IsZero() || at.Sub(p.current.at) > paceGap || restarted {
		return pace{current: now, previous: now}
	}

	if took := at.Sub(p.previous.at); took >= time.Second {
		p.perSecond = float64(done-p.previous.done) / took.Seconds()
	}

	if at.Sub(p.current.at) >= pacePeriod {
		p.previous, p.current = p.current, now
	}

	return p
}

// timeFor returns how long this number of tries takes, between a second and maxRetryAfter. It returns 0 when the pace
// is not known.
func (p pace) timeFor(tries float64) time.Duration {
	if p.perSecond == 0 {
		return 0
	}
	seconds := min(max(tries/p.perSecond, 1), maxRetryAfter.Seconds())

	return time.Duration(seconds * float64(time.Second))
}

// admit refuses a submission when Redis is almost full or the queue is full. It also refuses an owner who has too
// large a share of a queue that fills up, or whose own tasks wait longer than Options.MaxWait. The numbers are at
// most maxBacklogAge old. Errors: QueueFull with the advised wait, QueueUnavailable.
func (c *Client) admit(ctx context.Context, q Queue, owner string) error {
	if err := c.memory.Admit(ctx, c.rdb); err != nil {
		return err
	}

	if hasLimits := c.maxPending >= 0 || c.maxWait > 0; !hasLimits {
		return nil
	}

	l, err := c.queueBacklog(ctx, q)
	if err != nil {
		return err
	}

	free := c.maxPending - l.Waiting
	if c.maxPending >= 0 && free <= 0 {
		// Advise a wait until a tenth of the queue is done, so that callers who return find space.
		return fault.Errorf(fault.QueueFull, "the queue is full, with %d waiting; try again later", l.Waiting).
			WithAfter(l.pace.timeFor(float64(l.Waiting) / 10))
	}
	// While the queue is not crowded, no owner can have more than ownerShare*free tasks in it.
	crowded := c.maxPending >= 0 && l.Waiting > ownerShare*free

	late := c.maxWait > 0 && l.Oldest > c.maxWait
	if hasOnlyCalls(q) || !crowded && !late {
		return nil
	}
	// Read the owner's share only when the queue is crowded or late: it costs another round trip.
	ownWaiting, ownOldest, err := asynqext.ReadOwnerBacklog(ctx, c.rdb, q, owner, c.clock.Exact())
	switch {
	case err != nil:
		return record.Unavailable(err)
	case crowded && ownWaiting > ownerShare*free:
		return fault.Errorf(fault.QueueFull,
			"%d jobs are waiting, %d of them of this key; the free places are reserved for other keys; try again later",
			l.Waiting, ownWaiting).WithAfter(l.pace.timeFor(float64(l.Waiting) / 10))
	case late && ownOldest > c.maxWait:
		// Advise the time until the queue has only as many tasks as workers finish within maxWait.
		excess := float64(l.Waiting) - l.pace.perSecond*c.maxWait.Seconds()

		return fault.Errorf(fault.QueueFull, "jobs have waited for %s already; try again later",
			ownOldest.Round(time.Second)).WithAfter(l.pace.timeFor(excess))
	}

	return nil
}

// queueBacklog returns the backlog of a queue, at most maxBacklogAge old.
func (c *Client) queueBacklog(ctx context.Context, q Queue) (backlog, error) {
	return c.backlogs[q].Get(func(old backlog) (backlog, error) {
		now, err := asynqext.ReadBacklog(ctx, c.rdb, q, c.clock.Exact())
		if err != nil {
			return backlog{}, record.Unavailable(err)
		}

		return backlog{now, old.pace.measured(now.Done, time.Now())}, nil
	})
}
