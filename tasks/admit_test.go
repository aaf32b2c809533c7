package tasks

import (
	"context"
	"strings"
	"testing"
	"time"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/test/redistest"
	"presswork/tasks/asynqext"
)

// filled returns a client of a queue in which an owner's tasks wait already.
func filled(t *testing.T, o Options, owner string, n int) (c *Client, submit func(owner string) error) {
	t.Helper()
	address := redistest.Start(t)
	open := func(o Options) (*Client, func(string) error) {
		c, err := NewClient(address, o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Stop(context.Background()) })

		return c, func(owner string) error {
			task, err := ConvertPDF.Task(Convert{Content: "x"})
			if err == nil {
				_, _, err = c.Submit(
					t.Context(),
					Submission{ID: NewID(), Kind: presswork.KindConversion, Owner: owner, Task: task},
				)
			}

			return err
		}
	}

	_, fill := open(Options{MaxPending: -1})
	for range n {
		if err := fill(owner); err != nil {
			t.Fatal(err)
		}
	}

	return open(o)
}

func TestAnOwnerLeavesRoomInAQueueForOthers(t *testing.T) {
	t.Parallel()

	_, submit := filled(t, Options{MaxPending: 10}, "ann", 9)
	if err := submit(
		"ann",
	); fault.CodeOf(err) != fault.QueueFull ||
		!strings.Contains(err.Error(), "9 of them of this key") {
		t.Errorf("the tenth of ten jobs of one owner: %v", err)
	}

	if err := submit("bob"); err != nil {
		t.Errorf("another's first: %v", err)
	}
}

func TestAFullQueueSaysHowManyWait(t *testing.T) {
	t.Parallel()

	_, submit := filled(t, Options{MaxPending: 1}, "ann", 1)
	if err := submit(
		"bob",
	); fault.CodeOf(err) != fault.QueueFull ||
		!strings.Contains(err.Error(), "full, with 1 waiting;") {
		t.Errorf("the second of one job: %v", err)
	}
}

func TestLateQueueRefusesTheOwnersOfItsTasks(t *testing.T) {
	t.Parallel()
	c, submit := filled(t, Options{MaxPending: -1, MaxWait: time.Minute}, "ann", 2)

	ctx := t.Context()
	for _, id := range c.rdb.LRange(ctx, AsynqPending(Render), 0, -1).Val() {
		c.rdb.HSet(ctx, AsynqTask(Render, id), "pending_since", time.Now().Add(-2*time.Minute).UnixNano())
	}

	if err := submit("ann"); fault.CodeOf(err) != fault.QueueFull {
		t.Errorf("behind two minutes of one's own: %v", err)
	}

	if err := submit("bob"); err != nil {
		t.Errorf("another's first: %v", err)
	}

	_, patient := filled(t, Options{MaxPending: -1, MaxWait: time.Minute}, "ann", 2)
	if err := patient("ann"); err != nil {
		t.Errorf("behind less than a minute: %v", err)
	}
}

// The Retry-After of a refusal is the time until there is room.
func TestARefusalAdvisesWhenToRetry(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		line backlog
		o    Options
		want time.Duration
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
			client, submit := filled(t, c.o, "ann", 1)
			ctx := t.Context()
			id := client.rdb.LIndex(ctx, AsynqPending(Render), 0).Val()
			client.rdb.HSet(ctx, AsynqTask(Render, id), "pending_since", time.Now().Add(-2*time.Minute).UnixNano())
			client.backlogs[Render] = &cachedValue[backlog]{maxAge: time.Hour, value: c.line, at: time.Now()}

			err := submit("ann")
			if e := fault.AsError(err); e == nil || e.Code != fault.QueueFull || e.After != c.want {
				t.Errorf("%v, after %v; want %s", err, e, c.want)
			}
		})
	}
}

func TestThePaceIsThatOfTheLastSeconds(t *testing.T) {
	t.Parallel()
	at := time.Now()
	var p pace
	look := func(after time.Duration, done int64, want float64) {
		t.Helper()

		at = at.Add(after)
		if p = p.measured(done, at); p.perSecond != want {
			t.Errorf("%.2f tries a second after %d, want %.2f", p.perSecond, done, want)
		}
	}
	look(0, 1000, 0)                    // one measurement gives no pace
	look(100*time.Millisecond, 1001, 0) // nor does one so short after it
	look(1900*time.Millisecond, 1020, 10)
	look(8*time.Second, 1100, 10)
	look(10*time.Second, 1200, 10)
	look(10*time.Second, 1600, 25) // over the last 20 seconds
	look(10*time.Second, 2000, 40) // earlier measurements no longer count
	look(time.Minute, 9000, 0)     // paceGap has passed
	look(2*time.Second, 9010, 5)
	look(2*time.Second, 3, 0) // the queue was recreated
}
