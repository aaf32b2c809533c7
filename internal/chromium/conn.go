package chromium

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/cdp"
)

var (
	errConnClosed = errors.New("the browser's connection is closed")
	errTooLarge   = errors.New("the browser's answer is too large")
)

// writeTimeout is how long the browser may leave a message unread before it
// counts as dead.
const writeTimeout = 30 * time.Second

// pipeBytes is what a pipe takes without a reader. A longer message may have to
// wait for the browser.
const pipeBytes = 64 << 10

// conn speaks the DevTools protocol over a pair of pipes: JSON messages, each
// ended by a NUL. It is rod's transport (rod.CDPClient), and printing calls it
// directly: rod's own client scans every answer three times and escapes every
// "<" of a document into six bytes, and rod.Browser keeps the last parameters
// of each call, a whole document, for as long as the tab lives.
type conn struct {
	in      *os.File      // to the browser
	writing chan struct{} // a lock that a context can stop waiting for
	limit   int64         // bytes of one message

	// watch sees every event in order with the answers, before rod does: when a
	// print's answer is there, so is everything that happened before it.
	watch  func(*cdp.Event)
	events chan *cdp.Event

	mu      sync.Mutex
	lastID  int64
	pending map[int64]chan reply
	err     error
	done    chan struct{} // closed when err is set
}

type reply struct {
	result json.RawMessage
	err    error
}

var _ rod.CDPClient = (*conn)(nil)

// newConn starts reading from out. watch is called from the reading goroutine
// and must not block.
func newConn(in, out *os.File, limit int64, watch func(*cdp.Event)) *conn {
	c := &conn{
		in: in, limit: limit, watch: watch,
		writing: make(chan struct{}, 1),
		events:  make(chan *cdp.Event, 64),
		pending: map[int64]chan reply{},
		done:    make(chan struct{}),
	}
	go c.read(bufio.NewReaderSize(out, 256<<10))

	return c
}

// Event satisfies rod.CDPClient.
func (c *conn) Event() <-chan *cdp.Event { return c.events }

// Call sends one command and waits for its answer, the end of ctx or the end of
// the connection. The error is a *cdp.Error when the browser refused.
func (c *conn) Call(ctx context.Context, sessionID, method string, params any) ([]byte, error) {
	id, answer, err := c.expect()
	if err != nil {
		return nil, err
	}
	defer c.forget(id)

	if err := c.send(ctx, id, sessionID, method, params); err != nil {
		return nil, err
	}

	select {
	case r := <-answer:
		return r.result, r.err
	case <-c.done:
		return nil, c.cause()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (c *conn) expect() (int64, <-chan reply, error) {
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.err != nil {
		return 0, nil, c.err
	}
	c.lastID++
	answer := make(chan reply, 1)
	c.pending[c.lastID] = answer

	return c.lastID, answer, nil
}

func (c *conn) forget(id int64) {
	c.mu.Lock()
	delete(c.pending, id)
	c.mu.Unlock()
}

func (c *conn) send(ctx context.Context, id int64, sessionID, method string, params any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)

	err := enc.Encode(struct {
		ID        int64  `json:"id"`
		SessionID string `json:"sessionId,omitempty"`
		Method    string `json:"method"`
		Params    any    `json:"params,omitempty"`
	}{id, sessionID, method, params})
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	buf.WriteByte(0)

	if buf.Len() < pipeBytes {
		return c.write(ctx, buf.Bytes())
	}

	sent := make(chan error, 1)
	go func() { sent <- c.write(ctx, buf.Bytes()) }()

	select {
	case err := <-sent:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// write writes one message. It may outlast ctx: a half-written message cannot
// be taken back, so once begun it heeds a deadline of its own, and its failure
// ends the connection.
func (c *conn) write(ctx context.Context, msg []byte) error {
	select {
	case c.writing <- struct{}{}:
		defer func() { <-c.writing }()
	case <-c.done:
		return c.cause()
	case <-ctx.Done():
		return context.Cause(ctx)
	}

	_ = c.in.SetWriteDeadline(time.Now().Add(writeTimeout))
	if _, err := c.in.Write(msg); err != nil {
		c.close(fmt.Errorf("%w: %w", errConnClosed, err))
		return c.cause()
	}

	return nil
}

func (c *conn) read(r *bufio.Reader) {
	defer close(c.events)

	for {
		msg, whole, err := c.message(r)
		if err != nil {
			c.close(fmt.Errorf("%w: %w", errConnClosed, err))
			return
		}

		if id, result, ok := splitReply(msg); ok && whole {
			c.deliver(id, reply{result: result})
			continue
		}

		if !whole {
			if id, _, ok := replyID(msg); ok {
				c.deliver(id, reply{err: errTooLarge})
			}
			continue
		}

		var m struct {
			ID     int64           `json:"id"`
			Result json.RawMessage `json:"result"`
			Error  *cdp.Error      `json:"error"`
			cdp.Event
		}
		if err := json.Unmarshal(msg, &m); err != nil {
			c.close(fmt.Errorf("%w: the browser sent what is not JSON: %w", errConnClosed, err))
			return
		}

		switch {
		case m.ID != 0 && m.Error != nil:
			c.deliver(m.ID, reply{err: m.Error})
		case m.ID != 0:
			c.deliver(m.ID, reply{result: m.Result})
		default:
			c.watch(&m.Event)

			select {
			case c.events <- &m.Event:
			case <-c.done:
			}
		}
	}
}

// message reads up to the next NUL. Of a message over the limit only the start
// is kept, and whole is false.
func (c *conn) message(r *bufio.Reader) (msg []byte, whole bool, err error) {
	whole = true

	for {
		part, err := r.ReadSlice(0)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, false, err
		}

		if int64(len(msg)+len(part)) > c.limit {
			msg, whole = append(msg, part...)[:64:64], false
		}

		if whole {
			msg = append(msg, part...)
		}

		if err == nil {
			return bytes.TrimSuffix(msg, []byte{0}), whole, nil
		}
	}
}

func (c *conn) deliver(id int64, r reply) {
	c.mu.Lock()
	answer := c.pending[id]
	delete(c.pending, id)
	c.mu.Unlock()

	if answer != nil {
		answer <- r
	}
}

// close ends the connection with err; the first one counts.
func (c *conn) close(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.err != nil {
		return
	}
	c.err = err
	close(c.done)
	c.in.Close()
}

func (c *conn) cause() error {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.err
}

// replyID reads the id off the start of an answer.
func replyID(msg []byte) (id int64, rest []byte, ok bool) {
	rest, ok = bytes.CutPrefix(msg, []byte(`{"id":`))
	if !ok {
		return 0, nil, false
	}
	digits := rest[:max(bytes.IndexByte(rest, ','), 0)]
	id, err := strconv.ParseInt(string(digits), 10, 64)

	return id, rest[len(digits):], err == nil
}

// splitReply takes {"id":7,"result":{…},"sessionId":"…"} apart without looking
// into the result, which may be a whole PDF. It refuses any other form; the
// JSON decoder then has its turn.
func splitReply(msg []byte) (id int64, result json.RawMessage, ok bool) {
	id, rest, ok := replyID(msg)
	if !ok {
		return 0, nil, false
	}

	if rest, ok = bytes.CutPrefix(rest, []byte(`,"result":{`)); !ok {
		return 0, nil, false
	}

	result = msg[len(msg)-len(rest)-1:]
	if result, ok = bytes.CutSuffix(result, []byte(`}`)); !ok {
		return 0, nil, false
	}
	const session = `,"sessionId":"`

	end := result[max(0, len(result)-80):]
	if i := bytes.LastIndex(end, []byte(session)); i >= 0 && bytes.IndexByte(end[i:], '}') < 0 {
		result = result[:len(result)-len(end)+i]
	}

	if result[len(result)-1] != '}' {
		return 0, nil, false
	}

	return id, result, true
}
