// Package stream carries calls: work whose caller waits for the answer, a stream of frames that a worker writes
// and the API relays. A call has no job record. It ends when no caller waits any more, and Redis forgets it after
// a while. A caller may send inputs to a running call: Answer.Send and Run.Receive.
//
// A call is a task of its own on a queue, with the turns and the lease of every other task. This package does not
// know the queues. Client gets functions that put a call on its queue and take it off, and Server.Serve is called
// for each of its tasks. Package tasks connects both.
package stream

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"presswork/internal/fault"
)

// Tier is the urgency of a call. A tier is served when no call of a more urgent tier waits.
type Tier string

// The tiers, the most urgent first.
const (
	// Performance is served before all others.
	Performance Tier = "performance"
	// OnDemand is the default of the inference API.
	OnDemand Tier = "on_demand"
	// Flex is served when no call of another tier waits.
	Flex Tier = "flex"
)

// Call is a request for a call.
type Call struct {
	// Kind is the kind of the call's task; package tasks sets it.
	Kind string `json:"-"`
	// ID is a ULID, from tasks.NewID.
	ID string `json:"-"`
	// Shared lets callers with this ID share one answer until it is complete. A later caller starts a new call.
	// The call continues for a while after its callers have left.
	Shared bool `json:"-"`
	// Owner is the name of the caller's API key; "" when keys are off.
	Owner string `json:"owner,omitempty"`
	Tier  Tier   `json:"tier"`
	// Body is JSON for the worker's handler if it has at most tasks.InlineLimit bytes. A longer body is in the
	// store under BodyKey.
	Body    json.RawMessage `json:"body,omitempty"`
	BodyKey string          `json:"body_key,omitempty"`
	// RequestID is the x-request-id, TraceParent the W3C header of the request.
	RequestID   string `json:"request_id,omitempty"`
	TraceParent string `json:"trace_parent,omitempty"`
	// QueuedAt is when the call was created, by the clock of Redis; tasks.Client.Call sets it.
	QueuedAt time.Time `json:"queued_at"`
	// MaxWait is how long the caller waits for a worker to begin the call, rounded up to five seconds; 0 means no
	// limit.
	MaxWait time.Duration `json:"-"`

	// IdempotencyKey, when set, makes a second call with the same Owner and Fingerprint join the first one. The
	// second caller gets the ID and the complete answer of the first call. The first call continues for a while
	// after its caller has left, so that a retry finds it.
	IdempotencyKey string `json:"-"`
	Fingerprint    string `json:"-"`
}

const (
	// callTTL is the longest life of a call. finishedTTL is how long Redis keeps a finished call, and joinableTTL
	// the same for a call that a retry may join.
	callTTL     = 6 * time.Hour
	finishedTTL = time.Minute
	joinableTTL = 10 * time.Minute
	// waiterTTL is how long a waiter counts without a renewal; after that its process is considered dead.
	// lingerTTL is how long a call that a retry may join continues without callers.
	waiterTTL  = 15 * time.Second
	renewEvery = 5 * time.Second
	lingerTTL  = 30 * time.Second
	// outageLimit is how long calls survive an outage of Redis, even one in which Redis loses them. Meanwhile
	// workers continue to read their upstreams and callers continue to wait.
	outageLimit = 30 * time.Second
	// lostAfter is the number of consecutive renewals that do not find a call, after which the call counts as
	// lost. Until then its worker may write it again.
	lostAfter = 3
	// maxInput bounds an input, in bytes. Redis holds one for each call.
	maxInput = 1 << 20
	// retryAfter is the wait that a caller is advised when no worker has begun its call.
	retryAfter = 30 * time.Second
	// publishedBytes bounds the bytes of an answer in one message. Readers get the rest from the stream of frames.
	// Redis disconnects a subscriber that is too slow, and all answers of a process use one subscription.
	publishedBytes = 256 << 10
)

const (
	// redisTimeout bounds the writes that must not end with the context of their call. It is
	// two of the connection's time-outs.
	redisTimeout = 2 * time.Second
	// relayBuffer is how many messages go-redis may buffer while frames are routed. Routing never waits.
	relayBuffer = 4096
)

// ErrSlow is returned by Answer.Next when the reader is more than MaxUnread behind.
var ErrSlow = errors.New("the reader of an answer is too slow")

// ErrDraining ends the context of Server.Serve when the worker stops. Calls without a first frame go back to their
// queue.
var ErrDraining = errors.New("the worker is stopping")

// ErrLeft ends the context of a run when no caller waits for its call any more.
var ErrLeft = errors.New("no caller waits for this call any more")

// ErrAgain makes Server.Serve return the error of a handler that has not sent a frame, so that
// the task is served again.
var ErrAgain = errors.New("another run may answer the call")

// errCallLost ends a run that may not write any more. Another run has the call, the call has ended, or the outage
// of Redis lasted too long.
var errCallLost = errors.New("another run has the call, or the call has ended")

// unavailable returns the public error for an outage of Redis.
func unavailable(err error) error {
	return fault.Errorf(fault.QueueUnavailable, "the queue is not available; try again shortly").WithCause(err)
}

// newID returns an id of the form of tasks.NewID, for waiters and runs.
func newID() string { return ulid.Make().String() }

// callKey is the hash of a call, and framesKey the stream of its frames. waitersKey is a sorted set of the waiting
// callers, by the time until which each counts.
func callKey(id string) string    { return "pw:{" + id + "}:call" }
func framesKey(id string) string  { return "pw:{" + id + "}:frames" }
func waitersKey(id string) string { return "pw:{" + id + "}:waiters" }

// callKeys returns all keys of a call.
func callKeys(id string) []string { return []string{callKey(id), framesKey(id), waitersKey(id)} }

// TaskID returns the id of the task for a call. maker is the waiter that created the call. The call's id alone would
// not do, because a retry may create the call again while the task of the abandoned run is still active.
func TaskID(call, maker string) string { return call + "." + maker }

// callOf returns the call of a task, and the waiter that created the call.
func callOf(task string) (call, maker string) {
	call, maker, _ = strings.Cut(task, ".")
	return call, maker
}
