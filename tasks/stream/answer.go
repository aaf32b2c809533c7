package stream

import (
	"bytes"
	"context"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"presswork/internal/fault"
)

// lookAgain is the pause before a second look for missed frames where Redis did
// not answer.
const lookAgain = 200 * time.Millisecond

// MaxUnread is how far a reader of an answer may lag behind what is published, in
// bytes.
const MaxUnread = 16 << 20

// missedAtOnce is how many entries of the stream are read at a time by a reader who
// has missed some, or who joins late. A run makes them of about sendAhead bytes at most.
const missedAtOnce = 16

// Answer is the answer of a call as its caller reads it. It is for one reader.
type Answer struct {
	// ID is the call's: another's, where an idempotency key joined it.
	ID string
	// Joined reports whether the call was there already.
	Joined bool

	client *Client
	call   Call // without its body
	waiter string
	linger bool
	limit  time.Duration // see Call.MaxWait

	mu sync.Mutex
	// received are frames in order, from seq next-len(received) on.
	received []piece
	// unread are the bytes in received that were published: what the reader has fetched
	// by itself is no lag.
	unread int
	next   int64
	// unsure: frames may have been missed.
	unsure bool
	// missed is how many renewals in a row found the call unknown to Redis; it is
	// the relay's.
	missed int
	// input is the last one, and inputs its number; it is nil once the run has
	// answered.
	input  []byte
	inputs int64
	ended  bool
	err    error
	news   chan struct{}
	once   sync.Once
}

// mark is what the field "l" of an entry says about the end of the answer.
type mark string

const (
	more      mark = "0"
	last      mark = "1"
	condemned mark = "2" // the data is the reason: see Server.Condemn
)

// piece is one entry of the stream of frames.
type piece struct {
	data []byte
	mark mark
}

// Next returns the frames that came since the last time, waiting for some: each
// as the run sent it. io.EOF follows the run's last frame. A short outage of
// Redis is waited out. Errors: ErrSlow, QueueUnavailable, Internal when the call
// killed too many workers, the cause of ctx.
func (a *Answer) Next(ctx context.Context) ([][]byte, error) {
	for {
		if frames, err := a.take(); len(frames) > 0 || err != nil {
			return frames, err
		}
		var again <-chan time.Time

		if a.isUnsure() {
			if err := a.catchUp(ctx); err == nil {
				continue
			}
			// The relay ends the answer when the outage lasts.
			again = time.After(lookAgain)
		}

		select {
		case <-a.news:
		case <-again:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Close ends the caller's waiting. The work ends, unless
// others wait too, or a retry may join it soon.
func (a *Answer) Close() {
	a.once.Do(func() { a.client.leave(a) })
}

func (a *Answer) take() ([][]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var frames [][]byte

	for _, p := range a.received {
		if p.mark == condemned {
			a.err = fault.Errorf(fault.Internal, "%s", p.data)
			break
		}

		frames = appendFrames(frames, p.data)
		a.ended = a.ended || p.mark == last
	}

	a.received, a.unread = nil, 0
	switch {
	case len(frames) > 0:
		return frames, nil
	case a.ended:
		return nil, io.EOF
	}

	return nil, a.err
}

// appendFrames appends the frames of an entry.
func appendFrames(frames [][]byte, data []byte) [][]byte {
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSuffix(line, []byte("\n")); len(line) > 0 {
			frames = append(frames, line)
		}
	}

	return frames
}

// receive takes a piece in that was published.
func (a *Answer) receive(seq int64, p piece) {
	a.mu.Lock()
	defer a.mu.Unlock()

	switch {
	case seq < a.next || a.err != nil:
		return
	case seq > a.next:
		a.unsure = true
	default:
		a.append(p)

		if a.unread += len(p.data); a.unread > MaxUnread {
			a.received, a.err = nil, ErrSlow
		}
	}
	a.notify()
}

// append takes the next piece in. It is called with the lock held.
func (a *Answer) append(p piece) {
	a.next++
	a.input = nil
	a.received = append(a.received, p)
}

// fail ends the answer for a reason.
func (a *Answer) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()

	if a.err == nil {
		a.err = err
	}
	a.notify()
}

// lookUp makes the reader look for frames that were missed.
func (a *Answer) lookUp() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.unsure = true
	a.notify()
}

func (a *Answer) notify() {
	select {
	case a.news <- struct{}{}:
	default:
	}
}

func (a *Answer) isUnsure() bool {
	a.mu.Lock()
	defer a.mu.Unlock()

	return a.unsure
}

// position is the seq of the next frame, and whether more are to come.
func (a *Answer) position() (next int64, open bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	over := a.ended || len(a.received) > 0 && a.received[len(a.received)-1].mark != more

	return a.next, !over && a.err == nil
}

// catchUp reads from the stream what was missed, or the first of it.
func (a *Answer) catchUp(ctx context.Context) error {
	a.mu.Lock()
	from := a.next
	a.unsure = false
	a.mu.Unlock()
	entries, err := a.client.rdb.XRangeN(ctx, framesKey(a.ID), strconv.FormatInt(from, 10), "+", missedAtOnce).Result()
	a.mu.Lock()
	defer a.mu.Unlock()

	a.unsure = a.unsure || err != nil || len(entries) == missedAtOnce
	for _, e := range entries {
		number, _, _ := strings.Cut(e.ID, "-")
		seq, err := strconv.ParseInt(number, 10, 64)
		data, _ := e.Values["d"].(string)
		end, _ := e.Values["l"].(string)

		switch {
		case a.err != nil:
			return nil
		case err != nil:
			a.err = fault.Errorf(fault.Internal, "a frame of call %s has no number", a.ID)
		case seq > a.next:
			a.err = fault.Errorf(
				fault.QueueUnavailable,
				"the queue has lost a part of this answer; send the request again",
			)
		case seq == a.next:
			a.append(piece{[]byte(data), mark(end)})
		}
	}

	return err
}
