package tasks

import (
	"crypto/sha256"
	"encoding/hex"
)

// Keys of our own. A job's two keys share the hash tag {id}, so that one script
// may touch both on a Redis Cluster.
const (
	// ledgerKey is a sorted set of the jobs that still need somebody: not
	// terminal, or terminal with a webhook not yet on the queue. The score is
	// the next time, in Unix milliseconds, at which the sweeper looks.
	ledgerKey = "pw:open"
	// healthKey is what readiness checks write.
	healthKey = "pw:health"
	// eventsChannel carries every event of every job.
	eventsChannel = "pw:events"
	// cancelChannel carries the ids of cancelled jobs.
	cancelChannel = "pw:cancel"
	// callChannel and toolChannel carry an empty message when a call of their lane has
	// been put in line, inputChannel the id of a call that has an input.
	callChannel  = "pw:call"
	toolChannel  = "pw:tool"
	inputChannel = "pw:input"
	// offersKey is a sorted set of what the workers of Tools offer, by when they have to
	// say so again.
	offersKey = "pw:offers"
)

func jobKey(id string) string       { return "pw:{" + id + "}:job" }
func logKey(id string) string       { return "pw:{" + id + "}:events" }
func ownerKey(owner string) string  { return "pw:owner:" + owner }
func secretKey(name string) string  { return "pw:secret:" + name }
func webhookTask(job string) string { return "webhook-" + job }

// idempotencyKey is hashed because both parts come from outside.
func idempotencyKey(owner, key string) string {
	sum := sha256.Sum256([]byte(owner + "\x00" + key))
	return "pw:idem:" + hex.EncodeToString(sum[:16])
}
