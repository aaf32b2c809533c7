package asynqext

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// The owners of waiting tasks take turns: a thousand documents of one key delay another key by one document. Asynq's
// pending list remains the authority on waiting tasks. In the same hash slot, each owner with waiting tasks has a
// waitlist, which is a sorted set of task ids. The queue has a ring, which is a sorted set of owners with the one
// served longest ago first. Asynq's enqueue and dequeue scripts are replaced by scripts that do the same and update
// the waitlist and the ring in the same round trip. Asynq itself puts tasks back without a waitlist; they are taken
// when they reach the end of the list. The queues of calls have three rings, one for each tier. The owners of a tier
// are served when no task of a more urgent tier waits.
//
// The hash of a task names its owner. The running tasks of a queue are in one sorted set, by owner and id. A
// dequeue thus counts those of an owner without reading the active list. Reconcile compares the set with that
// list, which corrects it after a crash.

// waitlistPrefix begins the key of each owner's waitlist; the owner follows.
func waitlistPrefix(q Queue) string { return "pw:{" + string(q) + "}:line:" }

// ringKey is the ring of Normal, urgentRing that of Urgent, and flexRing that of Flex.
func ringKey(q Queue) string    { return "pw:{" + string(q) + "}:ring" }
func urgentRing(q Queue) string { return ringKey(q) + ":urgent" }
func flexRing(q Queue) string   { return ringKey(q) + ":flex" }

// runningKey is the sorted set of running tasks, each as owner, a zero byte, and id.
func runningKey(q Queue) string { return "pw:{" + string(q) + "}:running" }

// takenKey holds the last dequeue of one process from a queue. A dequeue that is repeated, because its response was
// lost, gets the same task.
func takenKey(q Queue, process string) string { return "pw:taken:{" + string(q) + "}:" + process }

// In Asynq's hash of a task, ownerField holds the owner. tierField holds the tier, unless that is Normal.
const (
	ownerField = "x_owner"
	tierField  = "x_tier"
)

// Tier is how urgent a task is.
type Tier string

// The tiers. Every queue has Normal; the queues of calls have all of them.
const (
	Urgent Tier = "urgent"
	Normal Tier = ""
	Flex   Tier = "flex"
)

// Turn is the position of a task in the turns of a queue.
type Turn struct {
	// Owner names the waitlist. Waitlists of different tiers need different names.
	Owner string
	Tier  Tier
	// Channel is where the arrival of the task is announced; "" for nowhere.
	Channel string
}

// joinRing defines join, which adds an owner at the end of a ring unless the ring has the owner. The script has the
// result of TIME in clock.
const joinRing = `
local function now() return string.format('%d%06d', clock[1], clock[2]) end
local function join(ring, owner) redis.call('ZADD', ring, 'NX', now(), owner) end
`

// EnqueueLua is a Lua function for scripts that write more than a task. enqueue(n, message, id, prefix of
// waitlists, owner, tier, channel) puts a task on its queue unless it exists. The keys task, pending and ring start at
// KEYS[n]. The script has the result of TIME in clock.
const EnqueueLua = joinRing + `
local function enqueue(n, message, id, prefix, owner, tier, channel)
  redis.call('HSET', KEYS[n], 'msg', message, 'state', 'pending', 'pending_since', now() .. '000',
    '` + ownerField + `', owner)
  if tier ~= '' then redis.call('HSET', KEYS[n], '` + tierField + `', tier) end
  redis.call('LPUSH', KEYS[n + 1], id)
  redis.call('ZADD', prefix .. owner, clock[1], id)
  join(KEYS[n + 2], owner)
  if channel ~= '' then redis.call('PUBLISH', channel, '') end
end
`

// enqueueScript queues one task. KEYS and ARGV are those of EnqueueLua. Like Asynq's script it answers 1, or 0
// when the task exists.
var enqueueScript = redis.NewScript(serverTime + EnqueueLua + `
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
enqueue(1, unpack(ARGV))
return 1
`)

// dequeueLua takes the next task. KEYS: pending, paused, active, lease, ring, running, taken, and on a queue with
// tiers the rings of Urgent and Flex. ARGV: lease score, task key prefix, waitlist prefix, nonce, then the
// arguments of Begin. It returns the id and message of the task and the result of Begin, or nil. The turn is that
// of the owner with the fewest running tasks; among equals, that of the owner served longest ago. A dequeue with
// the nonce of the previous one repeats it after a lost response: it gets the same task, unless that was reaped.
const dequeueLua = `
-- again returns the task of the previous dequeue if its answer was lost. If the task was reaped in the
-- meantime, its worker has not crashed, so that crash is not counted.
local function again()
  local nonce, lease, id = string.match(redis.call('GET', KEYS[7]) or '', '^(%S+) (%S+) (.+)$')
  if nonce ~= ARGV[4] then return nil end
  if tonumber(redis.call('ZSCORE', KEYS[4], id) or 0) == tonumber(lease) then return id end
  redis.call('DEL', KEYS[7])
  if tonumber(redis.call('HGET', ARGV[2] .. id, 'x_crashes') or 0) > 0 then
    redis.call('HINCRBY', ARGV[2] .. id, 'x_crashes', -1)
  end
end

-- answer leases a task that is active, and begins it.
local function answer(id)
  local task = ARGV[2] .. id
  redis.call('ZADD', KEYS[4], ARGV[1], id)
  redis.call('SET', KEYS[7], ARGV[4] .. ' ' .. ARGV[1] .. ' ' .. id, 'EX', 300)
  local message, begun = redis.call('HGET', task, 'msg'), nil
  -- The type is the first field of the message, and shorter than 128 bytes.
  if begin and message and message:byte(1) == 10 then
    -- If begin fails, the answer is sent all the same, because the task is taken.
    local ok, answer = pcall(begin, id, message:sub(3, 2 + message:byte(2)), {unpack(ARGV, 5)})
    begun = ok and answer or nil
  end
  return {id, message, begun}
end

local lost = again()
if lost then return answer(lost) end
if redis.call('EXISTS', KEYS[2]) == 1 then return false end
-- head returns the first pending task of an owner's waitlist. It drops an entry
-- that is not pending, but not before the time in its score: until then the task
-- is about to be retried, and so are all tasks after it.
local function head(ring, owner)
  local waitlist = ARGV[3] .. owner
  for _ = 1, 20 do
    local first = redis.call('ZRANGE', waitlist, 0, 0, 'WITHSCORES')
    if not first[1] then
      redis.call('ZREM', ring, owner)
      return nil
    end
    local state = redis.call('HGET', ARGV[2] .. first[1], 'state')
    if state == 'pending' then return first[1] end
    if state and tonumber(first[2]) > tonumber(redis.call('TIME')[1]) then return nil end
    redis.call('ZREM', waitlist, first[1])
  end
end

-- turnIn returns the id of the task whose turn it is among the owners of a ring, and its owner.
local function turnIn(ring)
  local best, fewest, bestOwner
  for _, owner in ipairs(redis.call('ZRANGE', ring, 0, 99)) do
    local n = redis.call('ZLEXCOUNT', KEYS[6], '[' .. owner .. '\0', '(' .. owner .. '\1')
    if not best or n < fewest then
      local id = head(ring, owner)
      if id then best, fewest, bestOwner = id, n, owner end
      if fewest == 0 then break end
    end
  end
  return best, bestOwner
end

-- turn is turnIn for the most urgent ring that has a task.
local function turn()
  if not KEYS[8] then return turnIn(KEYS[5]) end
  for _, ring in ipairs({KEYS[8], KEYS[5], KEYS[9]}) do
    local id, owner = turnIn(ring)
    if id then return id, owner end
  end
end

local id, owner
for _ = 1, 100 do
  id = redis.call('LINDEX', KEYS[1], -1)
  if not id then return false end
  owner = redis.call('HGET', ARGV[2] .. id, '` + ownerField + `')
  if owner or redis.call('EXISTS', ARGV[2] .. id) == 1 then break end
  -- A task without its hash: nothing is left to run.
  redis.call('RPOP', KEYS[1])
  id = nil
end
if not id then return false end
local from, waiting = -1, redis.call('LLEN', KEYS[1])
if waiting > 1 and owner and redis.call('ZSCORE', ARGV[3] .. owner, id) then
  local nextID, nextOwner = turn()
  if nextID then id, owner = nextID, nextOwner end
  -- Search from the nearer end: ids sort by time, and the list is almost sorted.
  if id > redis.call('LINDEX', KEYS[1], math.floor(waiting / 2)) then from = 1 end
end
local task = ARGV[2] .. id
redis.call('LPUSH', KEYS[3], id)
redis.call('LREM', KEYS[1], from, id)
redis.call('HSET', task, 'state', 'active')
redis.call('HDEL', task, 'pending_since')
if owner then
  redis.call('ZADD', KEYS[6], 0, owner .. '\0' .. id)
  redis.call('ZREM', ARGV[3] .. owner, id)
  local ring = KEYS[5]
  if KEYS[8] then
    local tier = redis.call('HGET', task, '` + tierField + `')
    ring = tier == '` + string(Urgent) + `' and KEYS[8] or tier == '` + string(Flex) + `' and KEYS[9] or ring
  end
  if redis.call('EXISTS', ARGV[3] .. owner) == 1 then
    local clock = redis.call('TIME')
    redis.call('ZADD', ring, string.format('%d%06d', clock[1], clock[2]), owner)
  else
    redis.call('ZREM', ring, owner)
  end
end
return answer(id)
`

// rejoinScript puts a task that is about to be retried at the end of its owner's waitlist. KEYS: task, ring, the
// rings of Urgent and Flex. ARGV: id, waitlist prefix, seconds. For that many seconds the task may be in the
// waitlist without being pending.
var rejoinScript = redis.NewScript(serverTime + joinRing + `
local owner, tier = unpack(redis.call('HMGET', KEYS[1], '` + ownerField + `', '` + tierField + `'))
if not owner then return 0 end
redis.call('ZADD', ARGV[2] .. owner, clock[1] + ARGV[3], ARGV[1])
join(tier == '` + string(Urgent) + `' and KEYS[3] or tier == '` + string(Flex) + `' and KEYS[4] or KEYS[2], owner)
return 1
`)

// withdrawScript deletes a waiting task. KEYS: task, pending. ARGV: id, waitlist prefix. It answers 0 when the
// task does not wait.
var withdrawScript = redis.NewScript(`
local state, owner = unpack(redis.call('HMGET', KEYS[1], 'state', '` + ownerField + `'))
if state ~= 'pending' then return 0 end
redis.call('LREM', KEYS[2], 0, ARGV[1])
if owner then redis.call('ZREM', ARGV[2] .. owner, ARGV[1]) end
redis.call('DEL', KEYS[1])
return 1
`)

// positionsScript returns the positions of tasks. KEYS: ring. ARGV: waitlist prefix, owner, then ids in the
// owner's waitlist. For each id it answers the number of tasks with an earlier turn, or -1 when the id is not in
// the waitlist.
var positionsScript = redis.NewScript(`
local before, after, seen = {}, {}, false
for _, owner in ipairs(redis.call('ZRANGE', KEYS[1], 0, 999)) do
  if owner == ARGV[2] then
    seen = true
  else
    local list = seen and after or before
    list[#list + 1] = redis.call('ZCARD', ARGV[1] .. owner)
  end
end
local positions = {}
for i = 3, #ARGV do
  local position = redis.call('ZRANK', ARGV[1] .. ARGV[2], ARGV[i])
  if position then
    local rank = position
    for _, n in ipairs(before) do position = position + math.min(n, rank + 1) end
    for _, n in ipairs(after) do position = position + math.min(n, rank) end
  end
  positions[#positions + 1] = position or -1
end
return positions
`)

// WithTurn returns a context in which Asynq's client enqueues a task with this turn. A context is the only
// thing that the client passes on to its hooks.
func WithTurn(ctx context.Context, turn Turn) context.Context {
	return context.WithValue(ctx, turnContextKey{}, turn)
}

// turnContextKey is the context key of WithTurn.
type turnContextKey struct{}

// Held is a task that another script puts on its queue, by EnqueueLua.
type Held struct {
	// keys and argv are those of enqueueScript.
	keys []string
	argv []any
}

// Hold returns a context in which enqueuing a task with an owner does not send it but stores it in h.
func (h *Held) Hold(ctx context.Context) context.Context {
	return context.WithValue(ctx, heldContextKey{}, h)
}

// heldContextKey is the context key of Hold.
type heldContextKey struct{}

// Args returns the keys and arguments of enqueue in EnqueueLua.
func (h *Held) Args() (keys []string, argv []any) { return h.keys, h.argv }

// Turns returns a go-redis hook that replaces Asynq's enqueue script by enqueueScript when the context has a turn.
// rdb is the client to which the hook is added.
func Turns(rdb redis.UniversalClient) redis.Hook {
	return hook(func(ctx context.Context, cmd redis.Cmder, next redis.ProcessHook) error {
		turn, owned := ctx.Value(turnContextKey{}).(Turn)
		result, ok := cmd.(*redis.Cmd)

		q, found := enqueueOf(cmd)
		if !owned || !ok || !found {
			return next(ctx, cmd)
		}
		keys, argv := scriptOf(cmd)
		ring := map[Tier]string{Urgent: urgentRing(q), Normal: ringKey(q), Flex: flexRing(q)}[turn.Tier]

		keys = append(keys, ring)

		argv = []any{
			argv[0], argv[1], waitlistPrefix(q), turn.Owner, string(turn.Tier), turn.Channel,
		}
		if held, holds := ctx.Value(heldContextKey{}).(*Held); holds {
			held.keys, held.argv = keys, argv
			result.SetVal(int64(1))

			return nil
		}
		n, err := enqueueScript.Run(ctx, rdb, keys, argv...).Int64()
		result.SetVal(n)
		result.SetErr(err)

		return err
	})
}

// enqueueOf returns the queue of a command that is Asynq's enqueue script. Its keys are task and pending, its
// arguments message, id and time.
func enqueueOf(cmd redis.Cmder) (Queue, bool) {
	keys, argv := scriptOf(cmd)
	if len(keys) != 2 || len(argv) != 3 {
		return "", false
	}
	q, ok := queueOf(keys[1], "pending")
	id, isText := argv[1].(string)

	return q, ok && isText && keys[0] == taskKey(q, id)
}

// RejoinTurns keeps a task in its owner's turns while it waits for a retry after delay. Otherwise the task runs
// when it reaches the end of the pending list.
func RejoinTurns(ctx context.Context, rdb redis.Scripter, q Queue, id string, delay time.Duration) error {
	seconds := int64((delay + rejoinSlack).Seconds())

	keys := []string{taskKey(q, id), ringKey(q), urgentRing(q), flexRing(q)}

	return rejoinScript.Run(ctx, rdb, keys, id, waitlistPrefix(q), seconds).Err()
}

// Withdraw deletes a waiting task from its queue. It does nothing when the task runs or does not exist.
func Withdraw(ctx context.Context, rdb redis.Scripter, q Queue, id string) error {
	return withdrawScript.Run(ctx, rdb, []string{taskKey(q, id), pendingKey(q)}, id, waitlistPrefix(q)).Err()
}

// LeaveTurns removes a task that will not run from its owner's waitlist. The task itself stays.
func LeaveTurns(ctx context.Context, rdb redis.Cmdable, q Queue, owner, id string) error {
	return rdb.ZRem(ctx, waitlistPrefix(q)+owner, id).Err()
}

// Positions returns for each task of an owner the number of tasks that run before it when all owners take turns. The
// position of a task that is not in its owner's waitlist is -1.
func Positions(ctx context.Context, rdb redis.Scripter, q Queue, owner string, ids []string) ([]int64, error) {
	args := []any{waitlistPrefix(q), owner}
	for _, id := range ids {
		args = append(args, id)
	}

	return positionsScript.Run(ctx, rdb, []string{ringKey(q)}, args...).Int64Slice()
}

// rejoinSlack is how long after its due time Asynq may put a retried task back on its queue.
const rejoinSlack = time.Minute
