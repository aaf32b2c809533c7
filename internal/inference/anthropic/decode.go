package anthropic

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"presswork/internal/inference"
	"presswork/internal/inference/upstream"
)

// event is an event of a stream. A whole answer has the fields of its message.
type event struct {
	Type    string          `json:"type"`
	Index   float64         `json:"index"`
	Message answer          `json:"message"`
	Block   contentBlock    `json:"content_block"`
	Delta   delta           `json:"delta"`
	Usage   usage           `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

// answer is a message: the whole answer, or its beginning in the event message_start.
type answer struct {
	Type    string          `json:"type"`
	Content []contentBlock  `json:"content"`
	Usage   usage           `json:"usage"`
	Stop    string          `json:"stop_reason"`
	StopSeq string          `json:"stop_sequence"`
	Error   json.RawMessage `json:"error"`
}

// contentBlock is a block of an answer. Its Type tells which of the other fields it has.
type contentBlock struct {
	Type      string            `json:"type"`
	Text      string            `json:"text"`
	Thinking  string            `json:"thinking"`
	Signature string            `json:"signature"`
	Data      string            `json:"data"`
	ID        string            `json:"id"`
	Name      string            `json:"name"`
	Input     json.RawMessage   `json:"input"`
	Citations []json.RawMessage `json:"citations"`
}

// delta is a piece of a block, or the reason for the end in the event message_delta.
type delta struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Partial   string          `json:"partial_json"`
	Citation  json.RawMessage `json:"citation"`
	Stop      string          `json:"stop_reason"`
	StopSeq   string          `json:"stop_sequence"`
}

// usage holds counts. Those of a later event replace the earlier ones.
type usage struct {
	Input   *float64 `json:"input_tokens"`
	Written *float64 `json:"cache_creation_input_tokens"`
	Read    *float64 `json:"cache_read_input_tokens"`
	Output  *float64 `json:"output_tokens"`
	Details struct {
		Thinking *float64 `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// statusOf has the HTTP statuses of errors in a stream by their type.
var statusOf = map[string]int{
	"invalid_request_error": http.StatusBadRequest,
	"authentication_error":  http.StatusUnauthorized,
	"billing_error":         http.StatusPaymentRequired,
	"permission_error":      http.StatusForbidden,
	"not_found_error":       http.StatusNotFound,
	"request_too_large":     http.StatusRequestEntityTooLarge,
	"rate_limit_error":      http.StatusTooManyRequests,
	"overloaded_error":      http.StatusServiceUnavailable,
	"timeout_error":         http.StatusGatewayTimeout,
}

// failure returns the error for an event or a body with an error.
func failure(e json.RawMessage) error {
	var kind struct {
		Type string `json:"type"`
	}
	_ = upstream.DecodeLenient(e, &kind) // it is valid JSON

	status, known := statusOf[kind.Type]
	if !known {
		status = http.StatusInternalServerError
	}
	body, _ := json.Marshal(map[string]json.RawMessage{"error": e}) // it is valid JSON

	return upstream.ErrorOf(status, body)
}

// decoder turns events into deltas.
type decoder struct {
	emit func(*inference.Delta) error
	// open are the blocks by their index. calls counts those with a call.
	open  map[int]*openBlock
	calls int
	usage usage
	// finished means that the answer has its reason to stop.
	finished bool
}

// openBlock is a block that has begun.
type openBlock struct {
	contentBlock
	// call is the index of a call among the calls, thought the text of a thought.
	call    int
	thought strings.Builder
	// hasInput means that the arguments arrived in pieces.
	hasInput bool
}

func newDecoder(emit func(*inference.Delta) error) *decoder {
	return &decoder{emit: emit, open: map[int]*openBlock{}}
}

// readStream reads the events of an answer until message_stop.
func readStream(ctx context.Context, r io.ReadCloser, emit func(*inference.Delta) error) error {
	events, d := upstream.NewEventReader(r), newDecoder(emit)

	for {
		data, err := events.Next()
		switch {
		case err == nil:
		case d.finished: // only message_stop is missing
			return nil
		default:
			return upstream.ReadError(ctx, err)
		}

		if data = bytes.TrimSpace(data); len(data) == 0 {
			// A ping or a comment shows that the upstream is alive.
			if err := emit(&inference.Delta{}); err != nil {
				return err
			}

			continue
		}
		var e event

		if upstream.DecodeLenient(data, &e) != nil || data[0] != '{' {
			return upstream.Unreadable("it sent what is not JSON")
		}

		if e.Type == "message_stop" {
			if !d.finished {
				return upstream.CutOff()
			}
			upstream.Drain(r)

			return nil
		}

		if err := d.push(&e); err != nil {
			return err
		}
	}
}

// readWhole reads an answer that is not a stream.
func readWhole(ctx context.Context, r io.Reader, emit func(*inference.Delta) error) error {
	b, err := upstream.ReadWhole(ctx, r, upstream.MaxWhole)
	if err != nil {
		return err
	}
	var a answer

	switch err := upstream.DecodeLenient(b, &a); {
	case err != nil:
		return upstream.Unreadable("it sent what is not JSON")
	case upstream.IsSet(a.Error):
		return failure(a.Error)
	case a.Type != "message":
		return upstream.Unreadable("its answer is not a message")
	}
	d := newDecoder(emit)

	for i, block := range a.Content {
		if err := d.begin(i, block); err != nil {
			return err
		}

		if err := d.end(i); err != nil {
			return err
		}
	}

	return d.finish(a.Stop, a.StopSeq, a.Usage)
}

// push emits the deltas of an event. Unknown events and blocks are left out.
func (d *decoder) push(e *event) error {
	i := upstream.Count(e.Index)

	switch e.Type {
	case "message_start":
		d.usage.replace(e.Message.Usage)
	case "content_block_start":
		return d.begin(i, e.Block)
	case "content_block_delta":
		if b := d.open[i]; b != nil {
			return d.extend(b, &e.Delta)
		}
	case "content_block_stop":
		return d.end(i)
	case "message_delta":
		return d.finish(e.Delta.Stop, e.Delta.StopSeq, e.Usage)
	case "error":
		return failure(e.Error)
	}

	// A delta without content, as for a ping, shows the gateway that the upstream is alive.
	return d.emit(&inference.Delta{})
}
