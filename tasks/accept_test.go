package tasks

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/internal/test/redistest"
	"presswork/tasks/asynqext"
	"presswork/tasks/record"
)

// swallower is a go-redis hook that drops the responses to the next writes that contain text. armed is the number
// of these writes. The connection breaks after the server has executed them.
type swallower struct {
	text  []byte
	armed atomic.Int64
}

func (s *swallower) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := next(ctx, network, addr)
		if err != nil {
			return nil, err
		}

		return &swallowedConn{Conn: conn, s: s}, nil
	}
}

func (s *swallower) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (s *swallower) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

type swallowedConn struct {
	net.Conn
	s    *swallower
	lose atomic.Bool
}

func (c *swallowedConn) Write(b []byte) (int, error) {
	if n := c.s.armed.Load(); n > 0 && bytes.Contains(b, c.s.text) && c.s.armed.CompareAndSwap(n, n-1) {
		c.lose.Store(true)
	}

	return c.Conn.Write(b)
}

func (c *swallowedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err == nil && c.lose.Load() {
		return 0, io.EOF
	}

	return n, err
}

// newSubmission is a small conversion of this owner.
func newSubmission(t *testing.T, owner string) Submission {
	t.Helper()

	task, err := ConvertPDF.Task(Convert{Content: "x"})
	if err != nil {
		t.Fatal(err)
	}

	return Submission{ID: NewID(), Kind: presswork.KindConversion, Owner: owner, Task: task}
}

func readJob(t *testing.T, c *Client, id string) *record.Stored {
	t.Helper()

	job, err := c.records.Read(t.Context(), id)
	if err != nil || job == nil {
		t.Fatal(job, err)
	}

	return job
}

func TestSubmissionWithALostResponseIsNotAReplay(t *testing.T) {
	t.Parallel()

	c, err := NewClient(redistest.Start(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Stop(context.Background()) })
	ctx := t.Context()
	s := newSubmission(t, "ann")
	lost := &swallower{text: []byte(record.JobKey(s.ID))}
	c.rdb.AddHook(lost)
	// Redis learns the script.
	if _, _, err := c.Submit(ctx, newSubmission(t, "ann")); err != nil {
		t.Fatal(err)
	}
	lost.armed.Store(1)

	rec, replayed, err := c.Submit(ctx, s)
	if err != nil || replayed || rec.ID != s.ID {
		t.Fatalf("%s, replayed %v, %v", rec.ID, replayed, err)
	}

	if lost.armed.Load() > 0 {
		t.Fatal("no answer was lost")
	}

	if n := c.rdb.Exists(ctx, AsynqTask(Render, s.ID)).Val(); n != 1 {
		t.Error("the task is not on the queue")
	}

	if job := readJob(t, c, s.ID); job.Seq != 1 {
		t.Errorf("the record was written twice: seq %d", job.Seq)
	}

	if _, replayed, err := c.Submit(ctx, s); err != nil || !replayed {
		t.Errorf("a second submission: replayed %v, %v", replayed, err)
	}
}

// trips is a go-redis hook that counts the scripts sent alone, and the pipelines.
type trips struct{ scripts, pipelines atomic.Int64 }

func (*trips) DialHook(next redis.DialHook) redis.DialHook { return next }

func (n *trips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() == "evalsha" {
			n.scripts.Add(1)
		}

		return next(ctx, cmd)
	}
}

func (n *trips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		n.pipelines.Add(1)
		return next(ctx, cmds)
	}
}

func TestANewJobAndItsTaskAreWrittenTogether(t *testing.T) {
	t.Parallel()

	c, err := NewClient(redistest.Start(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Stop(context.Background()) })

	ctx := t.Context()
	if _, _, err := c.Submit(ctx, newSubmission(t, "ann")); err != nil { // Redis learns the scripts
		t.Fatal(err)
	}
	count := new(trips)
	c.rdb.AddHook(count)
	s := newSubmission(t, "ann")

	s.reserved = true // how full the queue is, is asked for ten times a second
	if _, _, err := c.Submit(ctx, s); err != nil {
		t.Fatal(err)
	}

	if scripts, pipelines := count.scripts.Load(), count.pipelines.Load(); scripts != 0 || pipelines != 1 {
		t.Errorf("%d scripts alone and %d pipelines, want one pipeline", scripts, pipelines)
	}

	if n := c.rdb.Exists(ctx, AsynqTask(Render, s.ID)).Val(); n != 1 {
		t.Error("the task is not on the queue")
	}

	if positions, err := asynqext.Positions(
		ctx,
		c.rdb,
		Render,
		"ann",
		[]string{s.ID},
	); err != nil ||
		positions[0] != 1 {
		t.Errorf("its position is %d (%v), want 1", positions, err)
	}

	// A queue that refuses the task does not refuse the job.
	if err := c.rdb.Rename(ctx, "asynq:{render}:pending", "kept").Err(); err != nil {
		t.Fatal(err)
	}
	c.rdb.Set(ctx, "asynq:{render}:pending", "not a list", 0)
	s = newSubmission(t, "ann")

	s.reserved = true
	if rec, replayed, err := c.Submit(ctx, s); err != nil || replayed || rec.ID != s.ID {
		t.Errorf("%s, replayed %v, %v", rec.ID, replayed, err)
	}

	if job := readJob(t, c, s.ID); job.Seq != 1 {
		t.Errorf("the record's seq is %d", job.Seq)
	}
}
