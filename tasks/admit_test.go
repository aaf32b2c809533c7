package tasks

import (
	"strings"
	"testing"
	"time"

	"presswork/internal/fault"
	"presswork/internal/recent"
	"presswork/internal/test/redistest"
	"presswork/tasks/asynqext"
)

// clientWithWaitingJobs returns a client of a queue in which n jobs of an owner wait already. submit submits one more.
func clientWithWaitingJobs(
	t *testing.T,
	o Options,
	owner string,
	n int,
) (c *Client, submit func(owner string) error) {
	t.Helper()
	address := redistest.Start(t)

	unlimited := newTestClient(t, address, Options{MaxPending: -1})
	for range n {
		if _, _, err := unlimited.Submit(t.Context(), newSubmission(t, owner)); err != nil {
			t.Fatal(err)
		}
	}

	c = newTestClient(t, address, o)

	return c, func(owner string) error {
		_, _, err := c.Submit(t.Context(), newSubmission(t, owner))
		return err
	}
}

func TestAnOwnerLeavesRoomInAQueueForOthers(t *testing.T) {
	t.Parallel()

	_, submit := clientWithWaitingJobs(t, Options{MaxPending: 10}, "ann", 9)

	err := submit("ann")
	if fault.CodeOf(err) != fault.QueueFull || !strings.Contains(err.Error(), "9 of them of this key") {
		t.Errorf("the last place in the queue: got %v, want queue_full for the owner of the other nine", err)
	}

	if err := submit("bob"); err != nil {
		t.Errorf("the first job of another owner: got %v, want it accepted", err)
	}
}

func TestAFullQueueErrorCountsTheWaitingJobs(t *testing.T) {
	t.Parallel()

	_, submit := clientWithWaitingJobs(t, Options{MaxPending: 1}, "ann", 1)

	err := submit("bob")
	if fault.CodeOf(err) != fault.QueueFull || !strings.Contains(err.Error(), "full, with 1 waiting;") {
		t.Errorf("got %v, want queue_full with 1 waiting", err)
	}
}

func TestLateQueueRefusesTheOwnersOfItsTasks(t *testing.T) {
	t.Parallel()
	c, submit := clientWithWaitingJobs(t, Options{MaxPending: -1, MaxWait: time.Minute}, "ann", 2)

	ctx := t.Context()
	for _, id := range c.rdb.LRange(ctx, AsynqPending(Render), 0, -1).Val() {
		c.rdb.HSet(ctx, AsynqTask(Render, id), "pending_since", time.Now().Add(-2*time.Minute).UnixNano())
	}

	if err := submit("ann"); fault.CodeOf(err) != fault.QueueFull {
		t.Errorf("after two minutes of waiting: got %v, want queue_full", err)
	}

	if err := submit("bob"); err != nil {
		t.Errorf("the first job of another owner: got %v, want it accepted", err)
	}

	_, submit = clientWithWaitingJobs(t, Options{MaxPending: -1, MaxWait: time.Minute}, "ann", 2)
	if err := submit("ann"); err != nil {
		t.Errorf("after less than a minute of waiting: got %v, want it accepted", err)
	}
}

// The Retry-After of a refusal is the time until there is room.
func TestARefusalAdvisesWhenToRetry(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		queue backlog
		o     Options
		want  time.Duration
	}{
		"a tenth of the queue": {
			backlog{asynqext.Backlog{Waiting: 1000}, pace{perSecond: 5}}, Options{MaxPending: 1000}, 20 * time.Second,
		},
		"at least a second": {
			backlog{asynqext.Backlog{Waiting: 10}, pace{perSecond: 50}}, Options{MaxPending: 10}, time.Second,
		},
		"five minutes at most": {
			backlog{asynqext.Backlog{Waiting: 100_000}, pace{perSecond: 1}}, Options{MaxPending: 10}, 5 * time.Minute,
		},
		"unknown pace": {backlog{asynqext.Backlog{Waiting: 10}, pace{}}, Options{MaxPending: 10}, 0},
		"more than a minute": {
			backlog{asynqext.Backlog{Waiting: 600, Oldest: 2 * time.Minute}, pace{perSecond: 5}},
			Options{MaxPending: -1, MaxWait: time.Minute},
			time.Minute,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, submit := clientWithWaitingJobs(t, c.o, "ann", 1)
			ctx := t.Context()
			id := client.rdb.LIndex(ctx, AsynqPending(Render), 0).Val()
			client.rdb.HSet(ctx, AsynqTask(Render, id), "pending_since", time.Now().Add(-2*time.Minute).UnixNano())
			client.backlogs[Render] = recent.NewValue[backlog](time.Hour)
			client.backlogs[Render].Get(func(backlog) (backlog, error) { return c.queue, nil })

			err := submit("ann")
			if e := fault.AsError(err); e == nil || e.Code != fault.QueueFull || e.After != c.want {
				t.Errorf("got %v; want queue_full with a retry after %s", err, c.want)
			}
		})
	}
}

func TestPaceCountsOnlyRecentMeasurements(t *testing.T) {
	t.Parallel()
	at := time.Now()
	var p pace
	// measure adds a measurement of the number of done tasks and checks the pace, in tasks per second.
	measure := func(after time.Duration, done int64, want float64) {
		t.Helper()

		at = at.Add(after)
		if p = p.measured(done, at); p.perSecond != want {
			t.Errorf("got %.2f tasks per second after %d, want %.2f", p.perSecond, done, want)
		}
	}
	measure(0, 1000, 0)                    // one measurement gives no pace
	measure(100*time.Millisecond, 1001, 0) // the interval is too short to count
	measure(1900*time.Millisecond, 1020, 10)
	measure(8*time.Second, 1100, 10)
	measure(10*time.Second, 1200, 10)
	measure(10*time.Second, 1600, 25) // over the last 20 seconds
	measure(10*time.Second, 2000, 40) // earlier measurements no longer count
	measure(time.Minute, 9000, 0)     // paceGap has passed
	measure(2*time.Second, 9010, 5)
	measure(2*time.Second, 3, 0) // the queue was recreated
}
