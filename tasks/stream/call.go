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

// Tier is how urgent a call is: a tier is served when the ones before it are
// empty.
type Tier string

// The tiers, the most urgent first.
const (
	// Performance goes before all others.
	Performance Tier = "performance"
	// OnDemand is the default of the inference API.
	OnDemand Tier = "on_demand"
	// Flex gets what the others leave.
	Flex Tier = "flex"
)

// Call is a call to make.
type Call struct {
	// Kind is the kind of its task; package tasks sets it.
	Kind string `json:"-"`
	// ID is a ULID, from tasks.NewID.
	ID string `json:"-"`
	// Shared lets callers with this ID share one answer until it is whole; a later caller
	// makes another call. It runs on for a while when its callers leave.
	Shared bool `json:"-"`
	// Owner is the name of the key that calls; "" when keys are off.
	Owner string `json:"owner,omitempty"`
	Tier  Tier   `json:"tier"`
	// Body is JSON for the worker's handler if it has at most tasks.InlineLimit bytes. A longer body is in the
	// store under BodyKey.
	Body    json.RawMessage `json:"body,omitempty"`
	BodyKey string          `json:"body_key,omitempty"`
	// RequestID is the x-request-id, TraceParent the W3C header of the request.
	RequestID   string `json:"request_id,omitempty"`
	TraceParent string `json:"trace_parent,omitempty"`
	// QueuedAt is when the call was made, by Redis' clock; tasks.Client.Call sets it.
	QueuedAt time.Time `json:"queued_at"`
	// MaxWait is how long the caller waits for a worker to begin the call, looked at every
	// five seconds; 0 is no limit.
	MaxWait time.Duration `json:"-"`

	// IdempotencyKey, when set, makes a second call with the same Owner and
	// Fingerprint get the first one's answer, from its beginning, and its
	// ID. The first runs on for a while when its caller leaves, so that
	// a retry finds it.
	IdempotencyKey string `json:"-"`
	Fingerprint    string `json:"-"`
}

const (
	// callTTL bounds a call's life; callMemory is how long a finished one can
	// still be read, joinMemory the same where a retry may join it.
	callTTL    = 6 * time.Hour
	callMemory = time.Minute
	joinMemory = 10 * time.Minute
	// waiterTTL is how long a waiter counts that has not been renewed: its
	// process died. lingerTTL is how long a call that a retry may join goes on
	// without anybody.
	waiterTTL  = 15 * time.Second
	renewEvery = 5 * time.Second
	lingerTTL  = 30 * time.Second
	// outageLimit is how long calls survive an outage of Redis or its restart, which loses their state. Meanwhile
	// workers continue to read their upstreams and callers continue to wait.
	outageLimit = 30 * time.Second
	// lostAfter is the number of consecutive renewals for which Redis may not know a call. Its worker can write
	// the call again until then; after that the call is lost.
	lostAfter = 3
	// maxInput bounds an input, in bytes. Redis holds one for each call.
	maxInput = 1 << 20
	// tryAgain is when a caller may whose call no worker has begun.
	tryAgain = 30 * time.Second
	// publishedBytes bounds the bytes of an answer in one message. Readers get the rest from the stream of frames.
	// Redis disconnects a subscriber that is too slow, and all answers of a process use one subscription.
	publishedBytes = 256 << 10
)

const (
	// redisTimeout bounds what a call's end writes, which the end of its own context
	// must not cut off: two of the connection's time-outs.
	redisTimeout = 2 * time.Second
	// relayBuffer is what go-redis may hold while frames are routed; routing never
	// waits.
	relayBuffer = 4096
	idLength    = 26
)

// ErrSlow ends an answer whose reader fell too far behind.
var ErrSlow = errors.New("the reader of an answer is too slow")

// ErrDraining is the cause with which the context of Server.Serve ends when the
// worker stops and gives back what it has not begun to answer.
var ErrDraining = errors.New("the worker is stopping")

// ErrLeft is the cause of the end of a call's context when no caller waits for it
// any more.
var ErrLeft = errors.New("no caller waits for this call any more")

// ErrAgain makes Server.Serve return the error of a handler that has not sent a frame, so that
// the task is served again.
var ErrAgain = errors.New("another run may answer the call")

// errCallLost: the call was given to another run, or is over, or Redis was away
// for too long.
var errCallLost = errors.New("the call is another run's, or over")

// unavailable returns the public error for an outage of Redis.
func unavailable(err error) error {
	return fault.Errorf(fault.QueueUnavailable, "the queue is not available; try again shortly").WithCause(err)
}

// newID returns an id of the form of tasks.NewID, for waiters and runs.
func newID() string { return ulid.Make().String() }

func callKey(id string) string    { return "pw:{" + id + "}:call" }
func framesKey(id string) string  { return "pw:{" + id + "}:frames" }
func waitersKey(id string) string { return "pw:{" + id + "}:waiters" }

// callKeys are all that there is of a call.
func callKeys(id string) []string { return []string{callKey(id), framesKey(id), waitersKey(id)} }

// TaskID returns the id of the task for the call that a waiter created. It has more than the call's id, because a
// retry may create a call again while the task of the abandoned run is still active.
func TaskID(call, maker string) string { return call + "." + maker }

// callOf returns the call of a task, and the waiter that made it.
func callOf(task string) (call, maker string) {
	call, maker, _ = strings.Cut(task, ".")
	return call, maker
}
