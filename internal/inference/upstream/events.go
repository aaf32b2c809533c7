package upstream

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"time"
)

// maxEvent is the largest server-sent event of an upstream, in bytes.
const maxEvent = 8 << 20

// errEventTooLarge is returned for an event of more than 8 MB.
var errEventTooLarge = errors.New("an event of the stream is too large")

// EventReader reads server-sent events as upstreams write them. Lines end with LF or CRLF, "data:" may lack its
// space, and comments, ids and names are allowed. The last event may lack its empty line.
type EventReader struct {
	r    *bufio.Reader
	line []byte
	data []byte
}

// NewEventReader returns a reader of the events in r.
func NewEventReader(r io.Reader) *EventReader {
	return &EventReader{r: bufio.NewReader(r)} // as large as the buffer of net/http
}

// Next returns the data of the next event with data, or no data for a comment between events. The data is valid
// until the next call. The error at the end is io.EOF.
func (e *EventReader) Next() ([]byte, error) {
	e.data = e.data[:0]
	hasData := false

	for {
		line, err := e.readLine()
		if len(line) == 0 && hasData && (err == nil || errors.Is(err, io.EOF)) {
			return e.data, nil
		}

		if len(line) > 0 && line[0] == ':' && !hasData {
			return nil, nil
		}

		if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			if hasData {
				e.data = append(e.data, '\n')
			}
			hasData = true

			e.data = append(e.data, bytes.TrimPrefix(value, []byte(" "))...)
			if len(e.data) > maxEvent {
				return nil, errEventTooLarge
			}
		}

		// The server closed the stream without an empty line after its last event.
		if errors.Is(err, io.EOF) && hasData {
			return e.data, nil
		}

		if err != nil {
			return nil, err
		}
	}
}

// afterEnd bounds the wait for the end of the body after the last event: a new connection is cheaper than a long wait.
const afterEnd = 500 * time.Millisecond

// Drain reads to the end of a body whose events have all been read, so that the connection can be used again.
func Drain(r io.ReadCloser) {
	defer time.AfterFunc(afterEnd, func() { r.Close() }).Stop()
	_, _ = io.CopyN(io.Discard, r, 4<<10)
}

// readLine returns the next line without its end.
func (e *EventReader) readLine() ([]byte, error) {
	e.line = e.line[:0]
	for {
		part, err := e.r.ReadSlice('\n')

		e.line = append(e.line, part...)
		if len(e.line) > maxEvent {
			return nil, errEventTooLarge
		}

		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		line := bytes.TrimSuffix(e.line, []byte("\n"))
		line = bytes.TrimSuffix(line, []byte("\r"))

		return bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")), err
	}
}
