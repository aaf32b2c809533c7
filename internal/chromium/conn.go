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

// writeTimeout is the time in which the browser must read a message. After it the browser
// counts as dead.
const writeTimeout = 30 * time.Second

// pipeBytes is the capacity of a pipe. A longer message may have to wait until the browser
// reads.
const pipeBytes = 64 << 10

// conn speaks the DevTools protocol over a pair of pipes: JSON messages, each ended by a
// NUL. It is rod's transport (rod.CDPClient).
//
// Printing calls it directly. rod's own client scans every answer three times and escapes
// every "<" of a document into six bytes. rod.Browser keeps the last parameters of each
// call, a whole document, as long as the tab lives.
type conn struct {
	in      *os.File      // commands for the browser
	writing chan struct{} // a lock; a channel, so that a context can end the wait
	limit   int64         // bytes of one message from the browser

	// watch gets every event before rod does, in order with the answers. When Call returns,
	// watch has seen all events that preceded the answer.
	watch  func(*cdp.Event)
	events chan *cdp.Event // for rod

	mu      sync.Mutex
	lastID  int64                // of a command
	pending map[int64]chan reply // commands without an answer, by id
	err     error                // why the connection is closed
	done    chan struct{}        // closed when err is set
}

// reply is the answer to a command: a result or an error.
type reply struct {
	result json.RawMessage
	err    error
}

var _ rod.CDPClient = (*conn)(nil)

// newConn returns a connection and starts to read from out. The reading goroutine calls
// watch, which must not block.
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

// Call sends one command and waits for its answer, which it returns as JSON. Errors: a
// *cdp.Error when the browser rejects the command, errTooLarge, errConnClosed, the cause of
// ctx.
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

// expect registers a command and returns its id and the channel for its answer.
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

// forget removes a command whose caller has stopped waiting.
func (c *conn) forget(id int64) {
	c.mu.Lock()
	delete(c.pending, id)
	c.mu.Unlock()
}

// send encodes a command and writes it. It returns when ctx ends, even if the browser does
// not read.
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

	if buf.Len() < pipeBytes { // usually fits into the pipe at once
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

// write writes one message. ctx ends only the wait for its turn: a half-written message
// cannot be taken back. A write that has begun ends after writeTimeout at the latest, and
// its failure closes the connection.
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

// read delivers answers and events until the connection ends.
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
			c.close(fmt.Errorf("%w: the browser sent invalid JSON: %w", errConnClosed, err))
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

// message reads up to the next NUL. For a message over the limit it returns only the first
// 64 bytes, and whole is false.
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

// deliver hands an answer to the Call that waits for it, if any.
func (c *conn) deliver(id int64, r reply) {
	c.mu.Lock()
	answer := c.pending[id]
	delete(c.pending, id)
	c.mu.Unlock()

	if answer != nil {
		answer <- r
	}
}

// close ends the connection. The first error becomes its cause, later ones are ignored.
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

// cause returns the error that closed the connection, or nil.
func (c *conn) cause() error {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.err
}

// replyID reads the id at the start of an answer.
func replyID(msg []byte) (id int64, rest []byte, ok bool) {
	rest, ok = bytes.CutPrefix(msg, []byte(`{"id":`))
	if !ok {
		return 0, nil, false
	}
	digits := rest[:max(bytes.IndexByte(rest, ','), 0)]
	id, err := strconv.ParseInt(string(digits), 10, 64)

	return id, rest[len(digits):], err == nil
}

// splitReply splits {"id":7,"result":{…},"sessionId":"…"} without parsing the result, which
// may be a whole PDF. It rejects any other form. The caller then uses the JSON decoder.
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
