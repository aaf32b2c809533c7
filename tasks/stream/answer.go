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

// rereadPause is the pause before missed frames are read again after an error of Redis.
const rereadPause = 200 * time.Millisecond

// MaxUnread is how many published bytes the reader of an answer may lag behind. It bounds the memory of an answer
// whose client reads slowly.
const MaxUnread = 16 << 20

// catchUpEntries is the largest number of stream entries that one read of missed frames returns. An entry has about
// sendAhead bytes at most.
const catchUpEntries = 16

// Answer is the answer of a call for one caller. It has one reader.
type Answer struct {
	// ID is the id of the call. If an idempotency key joined an earlier call, it is the id of that call.
	ID string
	// Joined reports whether the call existed already.
	Joined bool

	client *Client
	call   Call   // without Body
	waiter string // identifies this caller in Redis
	// linger is set if a later caller may join the call: it then continues for lingerTTL without callers.
	linger  bool
	maxWait time.Duration // see Call.MaxWait

	// mu guards the fields below, except missed and closeOnce.
	mu sync.Mutex
	// received are entries in order, without gaps; the first has the sequence number next-len(received).
	received []streamEntry
	// unread counts the published bytes in received. It leaves out the bytes that the reader has fetched itself.
	unread int
	// next is the sequence number of the next entry.
	next int64
	// mayHaveMissed is set when frames may have been missed.
	mayHaveMissed bool
	// missed is the number of consecutive renewals for which Redis did not know the call. Only Client.renewAll uses
	// it.
	missed int
	// input is the last input; nil once the run has answered it. inputs is its number.
	input  []byte
	inputs int64
	// ended is set after the last frame. err is why no more frames follow, nil while they may.
	ended bool
	err   error
	// changed gets a message when Next may have something to return.
	changed   chan struct{}
	closeOnce sync.Once
}

// endMark is the value of the field "l" of an entry. It tells whether the answer goes on after the entry.
type endMark string

const (
	more      endMark = "0"
	last      endMark = "1"
	condemned endMark = "2" // the data is the reason: see Server.Condemn
)

// streamEntry is one entry of the stream of frames.
type streamEntry struct {
	// data has the frames of the entry, a line each.
	data []byte
	mark endMark
}

// Next waits until there are new frames and returns them, each as the run sent it. It returns io.EOF after the
// last frame. It waits through a short outage of Redis. Errors: ErrSlow, QueueUnavailable, Internal when the call
// killed too many workers, and the cause of ctx.
func (a *Answer) Next(ctx context.Context) ([][]byte, error) {
	for {
		if frames, err := a.takeFrames(); len(frames) > 0 || err != nil {
			return frames, err
		}
		var reread <-chan time.Time

		if a.needsCatchUp() {
			if err := a.catchUp(ctx); err == nil {
				continue
			}
			// Try again until it succeeds: Client.renewAll ends the answer when the outage lasts.
			reread = time.After(rereadPause)
		}

		select {
		case <-a.changed:
		case <-reread:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Close ends the wait of the caller. The call ends as well, unless other callers wait or a retry may join it soon.
func (a *Answer) Close() {
	a.closeOnce.Do(func() { a.client.leaveCall(a) })
}

// takeFrames returns the frames that Next returns, and removes them. Both results are nil when Next must wait.
func (a *Answer) takeFrames() ([][]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var frames [][]byte

	for _, entry := range a.received {
		if entry.mark == condemned {
			a.err = fault.Errorf(fault.Internal, "%s", entry.data)
			break
		}

		frames = appendFrames(frames, entry.data)
		a.ended = a.ended || entry.mark == last
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

// receive adds a published entry, or makes the reader fetch the entries before it that it has missed.
func (a *Answer) receive(seq int64, entry streamEntry) {
	a.mu.Lock()
	defer a.mu.Unlock()

	switch {
	case seq < a.next || a.err != nil:
		return
	case seq > a.next:
		a.mayHaveMissed = true
	default:
		a.append(entry)

		if a.unread += len(entry.data); a.unread > MaxUnread {
			a.received, a.err = nil, ErrSlow
		}
	}
	a.notify()
}

// append adds the next entry. The caller holds the lock.
func (a *Answer) append(entry streamEntry) {
	a.next++
	a.input = nil // the run has answered it
	a.received = append(a.received, entry)
}

// fail ends the answer with an error.
func (a *Answer) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()

	if a.err == nil {
		a.err = err
	}
	a.notify()
}

// checkStream makes the reader check the stream for missed frames.
func (a *Answer) checkStream() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mayHaveMissed = true
	a.notify()
}

// notify wakes Next. One message is enough: Next reads everything that is there.
func (a *Answer) notify() {
	select {
	case a.changed <- struct{}{}:
	default:
	}
}

// needsCatchUp reports whether the stream may have entries that were not received.
func (a *Answer) needsCatchUp() bool {
	a.mu.Lock()
	defer a.mu.Unlock()

	return a.mayHaveMissed
}

// position returns the sequence number of the next entry, and whether more entries are expected.
func (a *Answer) position() (next int64, open bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	hasEnd := len(a.received) > 0 && a.received[len(a.received)-1].mark != more

	return a.next, !a.ended && !hasEnd && a.err == nil
}

// catchUp reads missed entries from the stream, at most catchUpEntries of them. A gap in the stream itself ends the
// answer: Redis has lost entries that no run will write again.
func (a *Answer) catchUp(ctx context.Context) error {
	a.mu.Lock()
	from := a.next
	a.mayHaveMissed = false
	a.mu.Unlock()
	entries, err := a.client.rdb.XRangeN(ctx, framesKey(a.ID), strconv.FormatInt(from, 10), "+", catchUpEntries).
		Result()
	a.mu.Lock()
	defer a.mu.Unlock()

	a.mayHaveMissed = a.mayHaveMissed || err != nil || len(entries) == catchUpEntries
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
			a.append(streamEntry{[]byte(data), endMark(end)})
		}
	}

	return err
}
