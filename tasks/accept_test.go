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

// replyDropper is a go-redis hook that drops the replies to the next writes that contain text, and counts left down.
// The connection breaks after the server has executed the command.
type replyDropper struct {
	text []byte
	left atomic.Int64 // number of replies to drop
}

// DialHook wraps each connection.
func (d *replyDropper) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := next(ctx, network, addr)
		if err != nil {
			return nil, err
		}

		return &replyDroppingConn{Conn: conn, hook: d}, nil
	}
}

func (d *replyDropper) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (d *replyDropper) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// replyDroppingConn ends at the next read after a write whose reply is dropped.
type replyDroppingConn struct {
	net.Conn
	hook   *replyDropper
	broken atomic.Bool
}

// Write marks the connection as broken after it has sent the text, so that the reply is lost.
func (c *replyDroppingConn) Write(b []byte) (int, error) {
	n := c.hook.left.Load()
	if n > 0 && bytes.Contains(b, c.hook.text) && c.hook.left.CompareAndSwap(n, n-1) {
		c.broken.Store(true)
	}

	return c.Conn.Write(b)
}

// Read ends a broken connection instead of returning the reply.
func (c *replyDroppingConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err == nil && c.broken.Load() {
		return 0, io.EOF
	}

	return n, err
}

// newTestClient returns a client that is stopped at the end of the test.
func newTestClient(t *testing.T, address string, o Options) *Client {
	t.Helper()

	c, err := NewClient(address, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Stop(context.Background()) })

	return c
}

// newTestServer returns a server that is stopped at the end of the test.
func newTestServer(t *testing.T, address string, o Options) *Server {
	t.Helper()

	s, err := NewServer(address, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop(context.Background()) })

	return s
}

// newSubmission returns a small conversion of this owner.
func newSubmission(t *testing.T, owner string) Submission {
	t.Helper()

	task, err := ConvertPDF.Task(Convert{Content: "x"})
	if err != nil {
		t.Fatal(err)
	}

	return Submission{ID: NewID(), Kind: presswork.KindConversion, Owner: owner, Task: task}
}

// readJob returns the stored record of a job. It fails if there is none.
func readJob(t *testing.T, c *Client, id string) *record.Stored {
	t.Helper()

	job, err := c.records.Read(t.Context(), id)
	if err != nil || job == nil {
		t.Fatalf("Read(%s): got %v, error %v; want a record", id, job, err)
	}

	return job
}

func TestSubmissionWithALostResponseIsNotAReplay(t *testing.T) {
	t.Parallel()
	c := newTestClient(t, redistest.Start(t), Options{})
	ctx := t.Context()
	s := newSubmission(t, "ann")
	dropper := &replyDropper{text: []byte(record.JobKey(s.ID))}
	c.rdb.AddHook(dropper)
	// The first submission loads the script. After that, a submission is a single write.
	if _, _, err := c.Submit(ctx, newSubmission(t, "ann")); err != nil {
		t.Fatal(err)
	}
	dropper.left.Store(1)

	rec, replayed, err := c.Submit(ctx, s)
	if err != nil || replayed || rec.ID != s.ID {
		t.Fatalf("got job %s, replayed %v, %v; want the new job %s", rec.ID, replayed, err, s.ID)
	}

	if dropper.left.Load() > 0 {
		t.Fatal("no reply was dropped")
	}

	if n := c.rdb.Exists(ctx, AsynqTask(Render, s.ID)).Val(); n != 1 {
		t.Error("the task is not on the queue")
	}

	if job := readJob(t, c, s.ID); job.Seq != 1 {
		t.Errorf("the record was written more than once: seq is %d, want 1", job.Seq)
	}

	if _, replayed, err := c.Submit(ctx, s); err != nil || !replayed {
		t.Errorf("a second submission: got replayed %v, %v; want a replay", replayed, err)
	}
}

// roundTrips is a go-redis hook that counts the scripts sent alone, and the pipelines.
type roundTrips struct{ scripts, pipelines atomic.Int64 }

func (*roundTrips) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook counts scripts.
func (n *roundTrips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() == "evalsha" {
			n.scripts.Add(1)
		}

		return next(ctx, cmd)
	}
}

func (n *roundTrips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		n.pipelines.Add(1)
		return next(ctx, cmds)
	}
}

func TestANewJobAndItsTaskAreWrittenTogether(t *testing.T) {
	t.Parallel()
	c := newTestClient(t, redistest.Start(t), Options{})

	ctx := t.Context()
	if _, _, err := c.Submit(ctx, newSubmission(t, "ann")); err != nil { // loads the scripts into Redis
		t.Fatal(err)
	}
	count := new(roundTrips)
	c.rdb.AddHook(count)
	s := newSubmission(t, "ann")

	s.reserved = true // skips the check of the queue's length, which is another script
	if _, _, err := c.Submit(ctx, s); err != nil {
		t.Fatal(err)
	}

	if scripts, pipelines := count.scripts.Load(), count.pipelines.Load(); scripts != 0 || pipelines != 1 {
		t.Errorf("got %d single scripts and %d pipelines, want one pipeline", scripts, pipelines)
	}

	if n := c.rdb.Exists(ctx, AsynqTask(Render, s.ID)).Val(); n != 1 {
		t.Error("the task is not on the queue")
	}

	positions, err := asynqext.Positions(ctx, c.rdb, Render, "ann", []string{s.ID})
	if err != nil || positions[0] != 1 {
		t.Errorf("got positions %v (%v), want [1]", positions, err)
	}

	// The job is accepted although its queue rejects the task.
	if err := c.rdb.Rename(ctx, "asynq:{render}:pending", "kept").Err(); err != nil {
		t.Fatal(err)
	}
	c.rdb.Set(ctx, "asynq:{render}:pending", "not a list", 0)
	s = newSubmission(t, "ann")

	s.reserved = true
	if rec, replayed, err := c.Submit(ctx, s); err != nil || replayed || rec.ID != s.ID {
		t.Errorf("got job %s, replayed %v, %v; want the new job %s", rec.ID, replayed, err, s.ID)
	}

	if job := readJob(t, c, s.ID); job.Seq != 1 {
		t.Errorf("the record's seq is %d, want 1", job.Seq)
	}
}
