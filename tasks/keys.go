package tasks

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Keys of Redis besides those of package record.
const (
	// deadKey is a sorted set of the failed jobs that may be tried again.
	deadKey = "pw:dead"
	// healthKey is written by readiness checks.
	healthKey = "pw:health"
	// callChannel and toolChannel carry an empty message when a call of their queue has been enqueued.
	// inputChannel carries the id of a call that has an input.
	callChannel  = "pw:call"
	toolChannel  = "pw:tool"
	inputChannel = "pw:input"
	// offersKey and workersKey are sorted sets of what workers offer and report, by the time when entries expire.
	offersKey  = "pw:offers"
	workersKey = "pw:workers"
)

// deadTaskKey returns the key of the task of a dead letter.
func deadTaskKey(id string) string { return "pw:{" + id + "}:dead" }

// retriedKey returns the key of the id of the job that was made of a dead letter.
func retriedKey(id string) string { return "pw:{" + id + "}:retried" }

// secretKey returns the key of the value of Client.Secret.
func secretKey(name string) string { return "pw:secret:" + name }

// isCall reports whether a task id is that of a call, which has a dot: see stream.TaskID.
func isCall(task string) bool { return strings.Contains(task, ".") }

// webhookTask is the id of the task that delivers a job's webhook.
func webhookTask(job string) string { return "webhook-" + job }

// idempotencyKey returns the key of the value that binds an idempotency key of an owner to an id. Clients choose the
// idempotency key, so it is hashed to bound its length.
func idempotencyKey(owner, key string) string {
	sum := sha256.Sum256([]byte(owner + "\x00" + key))
	return "pw:idem:" + hex.EncodeToString(sum[:16])
}
