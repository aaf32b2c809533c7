package asynqext

import (
	"strconv"
	"time"
)

// DoneLua is a Lua function for scripts that write more than the end of a task. done(id, n) removes an active task
// from its queue as Asynq does after a handler has succeeded. It returns 1, or 0 if the task is no longer active.
// DoneKeys start at KEYS[n]. It is for tasks without retention and without a unique key.
var DoneLua = `
local function done(id, n)
  if redis.call('LREM', KEYS[n], 0, id) == 0 then return 0 end
  redis.call('ZREM', KEYS[n + 1], id)
  local owner = redis.call('HGET', KEYS[n + 2], '` + ownerField + `')
  if owner then redis.call('ZREM', KEYS[n + 5], owner .. '\0' .. id) end
  redis.call('DEL', KEYS[n + 2])
  if redis.call('INCR', KEYS[n + 3]) == 1 then
    redis.call('EXPIRE', KEYS[n + 3], ` + strconv.Itoa(int(countsTTL.Seconds())) + `)
  end
  redis.call('INCR', KEYS[n + 4])
  return 1
end
`

// DoneKeys returns the keys of DoneLua for a task that ends now, in its order. All belong to the queue's hash slot,
// so on a Cluster they cannot be in a script with the keys of a job.
func DoneKeys(q Queue, id string, now time.Time) []string {
	return []string{
		activeKey(q), leaseKey(q), taskKey(q, id), countKey(q, "processed", now), keyOf(q, "processed"), runningKey(q),
	}
}
