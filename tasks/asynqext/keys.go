package asynqext

import "strings"

// Queue is the name of an Asynq queue.
type Queue string

// Asynq's own keys. Asynq's public API would need a round trip for each value that this package reads together.
const (
	queuesKey  = "asynq:queues"
	serversKey = "asynq:servers"
	workersKey = "asynq:workers"
)

// keyOf returns one of Asynq's keys of a queue. The braces are a hash tag: all keys of a queue share a slot.
func keyOf(q Queue, part string) string { return "asynq:{" + string(q) + "}:" + part }

func taskKey(q Queue, id string) string { return taskPrefix(q) + id }
func taskPrefix(q Queue) string         { return keyOf(q, "t:") }
func pendingKey(q Queue) string         { return keyOf(q, "pending") }
func pausedKey(q Queue) string          { return keyOf(q, "paused") }
func activeKey(q Queue) string          { return keyOf(q, "active") }
func leaseKey(q Queue) string           { return keyOf(q, "lease") }

// queueOf returns the queue of a key that ends in this part; ok is false for other keys.
func queueOf(key, part string) (q Queue, ok bool) {
	q, found := partOf(key)
	return q, found == part && q != ""
}

// partOf splits one of Asynq's keys: asynq:{queue}:part.
func partOf(key string) (q Queue, part string) {
	rest, ok := strings.CutPrefix(key, "asynq:{")

	name, part, found := strings.Cut(rest, "}:")
	if !ok || !found {
		return "", ""
	}

	return Queue(name), part
}
