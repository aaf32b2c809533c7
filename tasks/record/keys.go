package record

import "strings"

// Keys of Redis that span jobs.
const (
	// LedgerKey is a sorted set of the open jobs: those that are not terminal, and terminal ones
	// whose webhook is not yet on its queue. The score is when the sweeper next checks the job, in
	// Unix milliseconds.
	LedgerKey = "pw:open"
	// SettledKey is a sorted set of the ended and settled jobs. The score is when their records
	// are packed, in Unix milliseconds.
	SettledKey = "pw:settled"
	// OwnersKey is the set of the owners who have submitted a job.
	OwnersKey = "pw:owners"
	// EventsChannel carries every event of every job.
	EventsChannel = "pw:events"
	// CancelChannel carries the ids of cancelled jobs.
	CancelChannel = "pw:cancel"
)

// TaskPrefix begins the type of tasks whose payload is in the record of their job, so that Redis holds it once. A
// worker of a release without this form leaves the task to other workers.
const TaskPrefix = "job:"

// HasRecord reports whether the payload of a task of this type is at PayloadKey.
func HasRecord(kind string) bool { return strings.HasPrefix(kind, TaskPrefix) }

// A job's keys share the hash tag {id}, so that one script may touch all of them on a Redis
// Cluster. Hash, log and payload are separate keys, because one long value makes Redis keep a whole
// hash in a form three times as large. A list takes a tenth of the memory of a short stream.

// JobKey is the hash of a job.
func JobKey(id string) string { return "pw:{" + id + "}:job" }

// LogKey is the list of a job's events.
func LogKey(id string) string { return "pw:{" + id + "}:log" }

// PayloadKey is the payload of a job's task, until the job has ended.
func PayloadKey(id string) string { return "pw:{" + id + "}:task" }

// PackedKey is the value that replaces the other keys of an ended job: see Pack.
func PackedKey(id string) string { return "pw:{" + id + "}:done" }

// OwnerKey is the sorted set of an owner's jobs, in the order of their ids.
func OwnerKey(owner string) string { return "pw:owner:" + owner }

// keysOf returns the keys of a job in the order of the scripts.
func keysOf(id string) []string {
	return []string{JobKey(id), LogKey(id), PayloadKey(id), PackedKey(id)}
}
