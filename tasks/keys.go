package tasks

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Keys of our own. A job's keys share the hash tag {id}, so that one script may
// touch all of them on a Redis Cluster.
const (
	// ledgerKey is a sorted set of the open jobs: not
	// terminal, or terminal with a webhook not yet on the queue. The score is
	// the next time, in Unix milliseconds, at which the sweeper looks.
	ledgerKey = "pw:open"
	// settledKey is a sorted set of the jobs that have ended and are settled, by
	// when their records are packed, in Unix milliseconds.
	settledKey = "pw:settled"
	// deadKey is a sorted set of the failed jobs that may be tried again, ownersKey a
	// set of those who have submitted.
	deadKey   = "pw:dead"
	ownersKey = "pw:owners"
	// healthKey is what readiness checks write.
	healthKey = "pw:health"
	// eventsChannel carries every event of every job.
	eventsChannel = "pw:events"
	// cancelChannel carries the ids of cancelled jobs.
	cancelChannel = "pw:cancel"
	// callChannel and toolChannel carry an empty message when a call of their queue has
	// been enqueued, inputChannel the id of a call that has an input.
	callChannel  = "pw:call"
	toolChannel  = "pw:tool"
	inputChannel = "pw:input"
	// offersKey is a sorted set of what the workers of Tools offer, by when they have to
	// say so again.
	offersKey = "pw:offers"
	// workersKey is a sorted set of what the workers report of themselves, likewise.
	workersKey = "pw:workers"
)

// jobKey is the hash of a job, logKey the list of its events. They and PayloadKey are apart
// because one long value makes Redis keep a whole hash in a form of three times the size; a
// list takes a tenth of a short stream.
func jobKey(id string) string { return "pw:{" + id + "}:job" }
func logKey(id string) string { return "pw:{" + id + "}:log" }

// PayloadKey is the key of the payload of a job's task, until the job has ended.
func PayloadKey(id string) string { return "pw:{" + id + "}:task" }

// deadTaskKey is the task of a dead letter, retriedKey the job that was made of one.
func deadTaskKey(id string) string { return "pw:{" + id + "}:dead" }
func retriedKey(id string) string  { return "pw:{" + id + "}:retried" }

// packedKey is what becomes of all of them: see pack.
func packedKey(id string) string { return "pw:{" + id + "}:done" }

// keysOf are the keys of a job as its scripts name them.
func keysOf(id string) []string {
	return []string{jobKey(id), logKey(id), PayloadKey(id), packedKey(id)}
}

func ownerKey(owner string) string { return "pw:owner:" + owner }
func secretKey(name string) string { return "pw:secret:" + name }

// isCall reports whether a task is that of a call; see stream.TaskID.
func isCall(task string) bool { return strings.Contains(task, ".") }

func webhookTask(job string) string { return "webhook-" + job }

// idempotencyKey is hashed because both parts come from outside.
func idempotencyKey(owner, key string) string {
	sum := sha256.Sum256([]byte(owner + "\x00" + key))
	return "pw:idem:" + hex.EncodeToString(sum[:16])
}
