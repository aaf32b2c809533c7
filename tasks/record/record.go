// Package record keeps the durable record of each job in Redis: a hash, an event log and the payload of the job's
// task. Some time after its end, a job is packed into one value.
//
// One Lua script makes each transition. It increments the job's sequence number, appends to the event log and
// publishes, so that a watcher sees each event exactly once. Each run gets a new fence. The scripts refuse a run when a
// later run has got the next fence.
//
// Unless a comment says otherwise, an error comes from Redis or names an unreadable field.
package record

import (
	"time"

	"presswork"
	"presswork/internal/fault"
	"presswork/tasks/asynqext"
)

// Queue is the name of an Asynq queue.
type Queue = asynqext.Queue

// Record is a job, including what callers do not see.
type Record struct {
	presswork.Job
	// Owner is the name of the key that submitted the job; "" when keys are off.
	Owner string
	// Filename is the name of the download; "" makes one from the title.
	Filename string
	// ContentType is the artifact's content type; "" means PDF.
	ContentType string
	// WebhookURL receives the terminal state; "" means no webhook.
	WebhookURL string
	// RequestID is the x-request-id of the submission.
	RequestID string
	// TraceParent is the W3C header of the submission.
	TraceParent string
	// Workers are the names of the workers that began an attempt, in order. Names beyond about 1 KiB are left out.
	Workers []string
	// Printed are the warnings of the last print. A later attempt that finds its result stored
	// reports them again.
	Printed []fault.Warning
}

// Task is one typed task, encoded and ready for its queue.
type Task struct {
	// Kind is the name of the task's kind.
	Kind    string
	Queue   Queue
	Payload []byte // JSON
	// Retries is how often the task may run again; Timeout bounds one run. Both are those of the task's kind.
	Retries int
	Timeout time.Duration
}

// On returns a copy of the task for the queue q.
func (t Task) On(q Queue) Task {
	t.Queue = q
	return t
}

// Stored is a Record with the fields that only the queue needs.
type Stored struct {
	Record
	// Queue is the queue of the job's task.
	Queue Queue
	// Settled is set when nothing remains to be done after the job's end.
	Settled bool
	// TaskEnded is set when the job's task has left its queue.
	TaskEnded bool

	// message and updated are those of the last event.
	message string
	updated time.Time
}

// EndedAt returns when the job ended, or when it was last updated.
func (s *Stored) EndedAt() time.Time {
	if s.FinishedAt != nil {
		return *s.FinishedAt
	}

	return s.updated
}

// Snapshot returns the current state as an event of type snapshot: the first message to a watcher.
func (s *Stored) Snapshot() presswork.Event {
	e := s.LastEvent()
	e.Type = presswork.EventSnapshot

	return e
}

// LastEvent returns the event that led to this state, made from the record alone.
func (s *Stored) LastEvent() presswork.Event {
	kind := presswork.EventProgress
	if s.Status.Terminal() {
		kind = presswork.EventType(s.Status)
	}

	return presswork.Event{
		Type: kind, JobID: s.ID, Seq: s.Seq, Status: s.Status, Stage: s.Stage, Progress: s.Progress,
		Message: s.message, At: s.updated, Artifact: s.Artifact, Error: s.Error,
	}
}
