package tools

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/otel/propagation"

	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/storage"
	"presswork/storage/retention"
	"presswork/tasks"
	"presswork/tasks/stream"
)

const (
	// maxArguments is the limit of a call's arguments, in bytes: more than a model writes in one answer.
	maxArguments = 256 << 10
	// deleteTimeout bounds the deletion of a session's files.
	deleteTimeout = 3 * time.Second
)

// ToolboxOptions configure a Toolbox.
type ToolboxOptions struct {
	// Queue opens the sessions. Mandatory.
	Queue *tasks.Client
	// Store and Keeper hold files of a session that are too large for Redis.
	// Mandatory.
	Store  storage.Store
	Keeper *retention.Keeper
	// Wait is how long a session waits for a worker. Default inference.ToolWait.
	Wait time.Duration
	// Log receives files that could not be deleted. Default: discarded.
	Log *slog.Logger
}

// Toolbox opens sessions on the workers of the queue tasks.Tools. It is the side of the worker that runs
// the completion, and implements inference.Toolbox; Server is the other side.
type Toolbox struct{ ToolboxOptions }

// NewToolbox returns a Toolbox with defaults for unset options.
func NewToolbox(o ToolboxOptions) *Toolbox {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}

	if o.Wait == 0 {
		o.Wait = inference.ToolWait
	}

	return &Toolbox{o}
}

var _ inference.Toolbox = (*Toolbox)(nil)

// Open returns a session with tools of these types. The session takes a worker at its first call. Errors:
// ToolUnavailable when no living worker has a tool, QueueUnavailable.
func (b *Toolbox) Open(ctx context.Context, r *inference.Request, types []string) (inference.ToolSession, error) {
	offers, err := b.Queue.Offers(ctx)
	if err != nil {
		return nil, inference.Errorf(http.StatusServiceUnavailable, fault.QueueUnavailable,
			"the queue is not available; try again shortly").WithCause(err)
	}

	for _, tool := range types {
		reason, known := offers.Tools[tool]
		switch {
		case offers.Workers == 0:
			reason = "no worker with tools is running"
		case !known:
			reason = "no worker has it"
		}

		if reason != "" {
			return nil, inference.Errorf(http.StatusBadRequest, inference.ToolUnavailable,
				"the built-in tool `%s` is not available here: %s", tool, reason).WithParam("tools")
		}
	}

	return &toolSession{box: b, request: r, types: types}, nil
}

// toolSession is the caller's side of a session.
type toolSession struct {
	box *Toolbox
	// request has the owner and the files of the session.
	request *inference.Request
	types   []string

	// answer is nil until the first call.
	answer *stream.Answer
	// key is the store key of the opening; "" when the opening is in Redis.
	key string
	// endErr is why the session has ended; nil while it is open.
	endErr error
}

// toolOpening is the body of the stream.Call that carries a session.
type toolOpening struct {
	Types []string `json:"types"`
	Files []File   `json:"files,omitempty"`
}

// toolReply is a frame of a session: the result of a call, or why the session has ended.
type toolReply struct {
	Result *inference.ToolResult `json:"result,omitempty"`
	// Took is the duration of the call.
	Took time.Duration `json:"took,omitempty"`
	// Over is why the session has ended; "" with a result.
	Over string `json:"over,omitempty"`
}

// errSessionClosed is returned by Call after Close.
var errSessionClosed = errors.New("the session is closed")

// Call opens the session when necessary, and waits for the result of the call. An error ends the session, and every
// later call returns the same error. Errors: inference.ErrToolsBusy when no worker took the session within
// ToolboxOptions.Wait, those of stream.Answer.Next, the reason why the worker ended the session.
func (s *toolSession) Call(ctx context.Context, c inference.BuiltinCall) (inference.ToolResult, error) {
	if s.endErr != nil {
		return inference.ToolResult{}, s.endErr
	}

	if len(c.Arguments) > maxArguments {
		// A failed result, so that the model can try again with less.
		return inference.ToolResult{Failed: true, Output: fmt.Sprintf(
			"The arguments are too long: %d bytes; allowed are %d.", len(c.Arguments), maxArguments)}, nil
	}

	result, err := s.call(ctx, c)
	if err != nil {
		// The state of the worker is unknown after an error.
		s.endErr = err
		return inference.ToolResult{}, err
	}

	return *result, nil
}

// call sends a call and returns its result.
func (s *toolSession) call(ctx context.Context, c inference.BuiltinCall) (*inference.ToolResult, error) {
	if s.answer == nil {
		if err := s.open(ctx); err != nil {
			return nil, err
		}
	}

	input, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}

	if err := s.answer.Send(ctx, input); err != nil {
		return nil, err
	}

	frames, err := s.answer.Next(ctx)
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the worker ended the session")
	}

	if errors.Is(err, stream.ErrNotBegun) {
		return nil, fmt.Errorf("%w: %w", inference.ErrToolsBusy, err)
	}

	if err != nil {
		return nil, err
	}

	var reply toolReply
	if err := json.Unmarshal(frames[0], &reply); err != nil {
		return nil, fmt.Errorf("decode the reply of a tool: %w", err)
	}

	if reply.Result == nil {
		return nil, fmt.Errorf("the session has ended: %s", reply.Over)
	}
	reply.Result.Took = reply.Took

	return reply.Result, nil
}

// open puts the session on its queue.
func (s *toolSession) open(ctx context.Context) error {
	body, err := json.Marshal(toolOpening{Types: s.types, Files: filesOf(s.request)})
	if err != nil {
		return err
	}
	trace := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, trace)

	call := stream.Call{
		ID:          tasks.NewID(),
		Owner:       s.request.Owner,
		Tier:        stream.OnDemand,
		TraceParent: trace["traceparent"],
		MaxWait:     s.box.Wait,
	}

	_, hasNoStore := s.box.Store.(storage.None)
	if hasNoStore || len(body) <= tasks.InlineLimit {
		call.Body = body
	} else {
		if err := s.storeOpening(ctx, call.ID, body); err != nil {
			return err
		}
		call.BodyKey = s.key
	}
	s.answer, err = s.box.Queue.OpenTools(ctx, call)

	return err
}

// storeOpening stores an opening that is too large for Redis, and sets s.key. It counts the object first, so that a
// sweep finds it if this process dies.
func (s *toolSession) storeOpening(ctx context.Context, id string, body []byte) error {
	s.key = storage.RequestKey(id)
	if err := s.box.Keeper.Record(ctx, s.key, int64(len(body))); err != nil {
		return err
	}
	_, err := s.box.Store.Put(ctx, s.key, bytes.NewReader(body), int64(len(body)),
		storage.Attrs{ContentType: "application/json"})

	return err
}

// Close ends the session and deletes its files. It always returns nil: a failure to delete is logged, and a sweep
// repeats it.
func (s *toolSession) Close() error {
	s.endErr = errSessionClosed
	if s.answer != nil {
		s.answer.Close()
	}

	if s.key == "" {
		return nil
	}
	key := s.key
	s.key = ""

	ctx, cancel := context.WithTimeout(context.Background(), deleteTimeout)
	defer cancel()

	if err := s.box.Keeper.Delete(ctx, key); err != nil {
		s.box.Log.WarnContext(ctx, "the files of a session were not deleted; the next sweep does it", "key", key,
			"error", err)
	}

	return nil
}

// File is a file that a session's tools can read.
type File struct {
	// Name has no folder.
	Name string `json:"name"`
	// Data is the content.
	Data []byte `json:"data"`
}

// filesOf returns the images of the request that are data URLs, in their order, as image1.png, image2.jpeg.
func filesOf(r *inference.Request) (files []File) {
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if p.Image == nil {
				continue
			}
			head, data, _ := strings.Cut(p.Image.URL, ";base64,")
			kind, isImage := strings.CutPrefix(head, "data:image/")

			b, err := base64.StdEncoding.DecodeString(data)
			if !isImage || err != nil {
				continue
			}
			files = append(files, File{Name: fmt.Sprintf("image%d.%s", len(files)+1, kind), Data: b})
		}
	}

	return files
}
