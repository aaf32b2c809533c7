package asynqext

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// leaseLeft is the remaining time of a lease below which its worker counts as dead. That is 12 s after the
	// last renewal; Asynq itself waits 90 to 150 s.
	leaseLeft = 18 * time.Second
	// leaseLength is the length of a lease that Asynq gives.
	leaseLength = 30 * time.Second
	// CrashCap is how many workers a task may crash before Reap stops putting it back.
	CrashCap = 3
)

// reapScript puts the tasks of dead workers back at the head of the queue and drops entries whose task does not
// exist. KEYS: active, lease, pending. ARGV: the seconds that a lease may have left, the task key prefix, the
// crash cap, the prefix of the ids of harmless tasks. It returns the number of tasks that it put back, and the ids
// of tasks that have crashed too often, which stay in place.
var reapScript = redis.NewScript(`
if redis.call('EXISTS', KEYS[2]) == 0 then return {0, {}} end -- an idle queue costs only this command
` + serverTime + `
local back, condemned = 0, {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', clock[1] + ARGV[1], 'LIMIT', 0, 100)) do
  local task = ARGV[2] .. id
  if redis.call('EXISTS', task) == 0 then
    redis.call('LREM', KEYS[1], 0, id)
    redis.call('ZREM', KEYS[2], id)
  elseif redis.call('HINCRBY', task, 'x_crashes', 1) < tonumber(ARGV[3]) or id:sub(1, #ARGV[4]) == ARGV[4] then
    redis.call('LREM', KEYS[1], 0, id)
    redis.call('ZREM', KEYS[2], id)
    redis.call('RPUSH', KEYS[3], id)
    redis.call('HSET', task, 'state', 'pending', 'pending_since', nanos())
    back = back + 1
  else
    condemned[#condemned + 1] = id
  end
end
return {back, condemned}
`)

// HasLeases reports whether a queue may have leased tasks. Without them there is nothing to reap. It is one command
// for all queues, except on a Redis Cluster: a command there has the keys of one slot, so HasLeases returns true.
func HasLeases(ctx context.Context, rdb redis.UniversalClient, queues []Queue) (bool, error) {
	if _, cluster := rdb.(*redis.ClusterClient); cluster {
		return true, nil
	}

	var keys []string
	for _, q := range queues {
		keys = append(keys, leaseKey(q))
	}
	n, err := rdb.Exists(ctx, keys...).Result()

	return n > 0, err
}

// Reap puts the tasks of dead workers back at the head of their queue and returns their number. It also returns
// the ids of tasks that have ended CrashCap workers: these stay active until Remove. Tasks whose ids begin with
// harmless are always put back. The script is atomic, so that workers need no leader.
func Reap(
	ctx context.Context, rdb redis.Scripter, q Queue, harmless string,
) (back int64, condemned []string, err error) {
	keys := []string{activeKey(q), leaseKey(q), pendingKey(q)}

	answer, err := reapScript.Run(ctx, rdb, keys, leaseLeft.Seconds(), taskPrefix(q), CrashCap, harmless).Slice()
	if err != nil {
		return 0, nil, err
	}
	back, _ = answer[0].(int64)

	ids, _ := answer[1].([]any)
	for _, id := range ids {
		condemned = append(condemned, id.(string))
	}

	return back, condemned, nil
}

// Renew gives the leases of running tasks their full length again. Tasks without a lease get none.
func Renew(ctx context.Context, rdb redis.Scripter, q Queue, ids []string) error {
	args := []any{"1"}
	for _, id := range ids {
		args = append(args, leaseLength.Seconds(), id)
	}

	return rdb.Eval(ctx, extendScript, []string{leaseKey(q)}, args...).Err()
}

// removeScript deletes an active task. KEYS: active, lease, task. ARGV: id.
var removeScript = redis.NewScript(`
redis.call('LREM', KEYS[1], 0, ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('DEL', KEYS[3])
return 1
`)

// Remove deletes an active task with its message. It does nothing for a task that does not exist.
func Remove(ctx context.Context, rdb redis.Scripter, q Queue, id string) error {
	return removeScript.Run(ctx, rdb, []string{activeKey(q), leaseKey(q), taskKey(q, id)}, id).Err()
}

// archiveScript archives an active task. KEYS: active, lease, archived, task. ARGV: id, now in s.
var archiveScript = redis.NewScript(`
redis.call('LREM', KEYS[1], 0, ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZADD', KEYS[3], ARGV[2], ARGV[1])
redis.call('HSET', KEYS[4], 'state', 'archived')
return 1
`)

// Archive archives an active task, so that an operator sees it in the monitor. No worker runs it again.
func Archive(ctx context.Context, rdb redis.Scripter, q Queue, id string) error {
	return archiveScript.Run(ctx, rdb, []string{activeKey(q), leaseKey(q), keyOf(q, "archived"), taskKey(q, id)},
		id, time.Now().Unix()).Err()
}

// reconcileScript compares the lists of a queue. KEYS: active, lease, pending, running. ARGV: the task key prefix,
// then the suspects of the previous sweep. It drops active and leased ids without a task, and puts suspects that
// are still active without a lease back on the queue. It also makes the running tasks equal to the active ones. It
// returns the new suspects.
var reconcileScript = redis.NewScript(serverTime + `
local before, suspects, running = {}, {}, {}
for i = 2, #ARGV do before[ARGV[i]] = true end
for _, id in ipairs(redis.call('LRANGE', KEYS[1], 0, 9999)) do
  local task = ARGV[1] .. id
  if redis.call('EXISTS', task) == 0 then
    redis.call('LREM', KEYS[1], 0, id)
    redis.call('ZREM', KEYS[2], id)
  elseif not redis.call('ZSCORE', KEYS[2], id) then
    if before[id] then
      redis.call('LREM', KEYS[1], 0, id)
      redis.call('RPUSH', KEYS[3], id)
      redis.call('HSET', task, 'state', 'pending', 'pending_since', nanos())
    else
      suspects[#suspects + 1] = id
    end
  end
  local owner = redis.call('HGET', task, '` + ownerField + `')
  if owner and redis.call('HGET', task, 'state') == 'active' then
    running[owner .. '\0' .. id] = true
    redis.call('ZADD', KEYS[4], 0, owner .. '\0' .. id)
  end
end
for _, member in ipairs(redis.call('ZRANGE', KEYS[4], 0, 9999)) do
  if not running[member] then redis.call('ZREM', KEYS[4], member) end
end
for _, id in ipairs(redis.call('ZRANGE', KEYS[2], 0, 9999)) do
  if redis.call('EXISTS', ARGV[1] .. id) == 0 then redis.call('ZREM', KEYS[2], id) end
end
return suspects
`)

// Reconcile repairs the lists of a queue. It drops entries without a task and corrects the running tasks of each
// owner. Tasks that were active without a lease twice in a row go back on the queue. It returns the tasks that are
// active without a lease now; pass them to the next call as before.
func Reconcile(ctx context.Context, rdb redis.Cmdable, q Queue, before []string) (suspects []string, err error) {
	// Asynq lists a queue only once per process. After a FLUSHALL the monitor would not show the queue until every
	// process restarts.
	if err := rdb.SAdd(ctx, queuesKey, string(q)).Err(); err != nil {
		return before, err
	}

	args := []any{taskPrefix(q)}
	for _, id := range before {
		args = append(args, id)
	}

	return reconcileScript.Run(ctx, rdb, []string{activeKey(q), leaseKey(q), pendingKey(q), runningKey(q)}, args...).
		StringSlice()
}
