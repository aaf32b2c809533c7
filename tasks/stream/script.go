package stream

import (
	"context"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// Volatile begins every script of a call. It keeps the writes of the script out of the append-only file and from
// replicas. A call lives as long as its caller's connection: after a restart of Redis the caller gets an error, and
// nothing needs to be restored. With appendfsync always, the nine writes before a first token would cost as many
// syncs of the disk, and every token one more. The scripts use the keys of a call: see callKey. The hash has these
// fields:
//   - by: the waiter that created the call; "restored" after restoreScript
//   - call: the request as JSON, until the answer is complete
//   - made: when the call was created, in µs
//   - memory: how long the call is kept after its end, in ms
//   - to: the channels of the clients that wait, with spaces between them
//   - run, fence: the number of attempts, and the id of the only run that may write
//   - seq: the number of the last entry in the stream of frames
//   - state: "left" when no caller waits any more, "over" after the last frame
//   - inputs, input: the number and the content of the last input
//   - alive: when the run was last alive, in ms; only for a call that no other run can continue
const Volatile = "if redis.set_repl then redis.set_repl(redis.REPL_NONE) end\n"

// volatileNow begins the scripts that compare times. now is the time of Redis in ms, because the clocks of workers
// and nodes differ.
const volatileNow = Volatile + `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
`

// runAll runs a pipeline of one script by its digest, and again after NOSCRIPT. Sending hundreds of copies of the
// script would delay the frames of all calls.
func runAll(ctx context.Context, rdb redis.UniversalClient, s *redis.Script, fill func(redis.Pipeliner) error) error {
	_, err := rdb.Pipelined(ctx, fill)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		if err = s.Load(ctx, rdb).Err(); err == nil {
			_, err = rdb.Pipelined(ctx, fill)
		}
	}

	return err
}

// listening begins the scripts by which a client waits for a call. The frames of the call are published on the
// channels in "to".
const listening = `
local function listen(call, channel)
  local to = redis.call('HGET', call, 'to')
  if not string.find(to, channel, 1, true) then redis.call('HSET', call, 'to', to .. ' ' .. channel) end
end
`

// createCallScript writes a call unless it exists, and counts its waiter. KEYS: call, waiters, frames. ARGV:
//   - the waiter, and how long it counts in ms
//   - the call, and its time to live in ms
//   - how long callers can join it, in ms
//   - the waiter's channel
//   - "1" for a call that is shared until its answer is complete
//
// It returns 1 when this waiter created the call. A call whose run ends because all callers left is created again.
// Its new fence keeps the earlier run from writing.
var createCallScript = redis.NewScript(volatileNow + listening + `
local waiter, waiterTTL, content, callTTL, memory, channel, shared = unpack(ARGV)
local by, state = unpack(redis.call('HMGET', KEYS[1], 'by', 'state'))
local recreated = state == 'left' or state == 'over' and shared == '1'
if recreated then redis.call('DEL', unpack(KEYS)) end
redis.call('ZADD', KEYS[2], now + tonumber(waiterTTL), waiter)
if by and not recreated then
  -- This waiter's own earlier try: its response was lost.
  if by == waiter then return 1 end
  listen(KEYS[1], channel)
  return 0
end
redis.call('HSET', KEYS[1], 'by', waiter, 'call', content, 'memory', memory, 'to', channel,
  'made', string.format('%d%06d', t[1], t[2]))
if recreated then redis.call('HSET', KEYS[1], 'fence', waiter) end
redis.call('PEXPIRE', KEYS[1], callTTL)
redis.call('PEXPIRE', KEYS[2], callTTL)
return 1
`)

// leaving marks a running call as left when it has no callers and none can return. It answers the fence of its
// run.
const leaving = `
local function leaving(call)
  local run, state, fence = unpack(redis.call('HMGET', call, 'run', 'state', 'fence'))
  if not run or state == 'over' then return false end
  redis.call('HSET', call, 'state', 'left')
  return fence
end
`

// beginCallScript opens a run of a call. KEYS: call, waiters. ARGV: the run's fence, "1" when waiters may not have been
// renewed, the waiter for whom the task was created. A call that was created again has another task.
//
// It returns a reason not to run ("gone", "over", "left"), or "" and these values:
//   - the attempt, the number of frames, the call, its memory
//   - the channels of its waiters
//   - the time and the time of the call's creation, in µs
//
// A call that all its callers have left is forgotten, so that a retry creates it again.
var beginCallScript = redis.NewScript(volatileNow + `
local newFence, unrenewed, maker = unpack(ARGV)
local call, state, seq, fence, run, memory, alive, to, by, made = unpack(redis.call('HMGET', KEYS[1],
  'call', 'state', 'seq', 'fence', 'run', 'memory', 'alive', 'to', 'by', 'made'))
if not call or by ~= maker and by ~= 'restored' then return {'gone'} end
if state == 'over' then return {'over'} end
if state == 'left' or unrenewed ~= '1' and redis.call('ZCOUNT', KEYS[2], now, '+inf') == 0 then
  redis.call('DEL', KEYS[1], KEYS[2])
  return {'left'}
end
-- A repeat after a lost response has the same fence and must not count as another attempt.
if fence ~= newFence then
  run = redis.call('HINCRBY', KEYS[1], 'run', 1)
  redis.call('HSET', KEYS[1], 'fence', newFence)
end
if alive then redis.call('HSET', KEYS[1], 'alive', now) end
return {'', tostring(run), seq or '0', call, memory, to, string.format('%d%06d', t[1], t[2]), made or ''}
`)

// publishing begins the scripts that write to answers. tell collects the messages of a call for its waiters, and
// publish sends them. All calls with waiters in the same process share one message, because a message costs more
// than its content.
const publishing = `
local told = {}
local function tell(call, to, entry, data)
  local list = told[to]
  if not list then
    list = {}
    told[to] = list
  end
  list[#list + 1] = string.sub(call, 5, 30) .. ' ' .. entry
  list[#list + 1] = data or ''
end
local function publish()
  for to, list in pairs(told) do
    list[#list + 1] = ''
    local message = table.concat(list, '\n')
    for channel in string.gmatch(to, '%S+') do redis.call('PUBLISH', channel, message) end
  end
end
`

// frameScript appends to the answers of calls. KEYS: call, frames, waiters of each. ARGV: the bytes that may be
// published, then fence, seq, data and "1" for the last frame of each call. A repeat after a lost response changes
// nothing. It returns for each call:
//   - 1: written
//   - 0: the run may not write
//   - -1: Redis has lost the call or earlier frames, for example in a restart; call
//     restoreScript first
//   - an error of this call alone
var frameScript = redis.NewScript(Volatile + publishing + `
local most = tonumber(ARGV[1])
local function append(call, frames, waiters, fence, number, data, last)
  local holder, state, written, memory, to =
    unpack(redis.call('HMGET', call, 'fence', 'state', 'seq', 'memory', 'to'))
  if not holder then return -1 end
  if holder ~= fence then return 0 end
  local seq, before = tonumber(number), tonumber(written or '0')
  if before >= seq then return 1 end
  if state == 'over' then return 0 end
  if before ~= seq - 1 then return -1 end
  redis.call('XADD', frames, number .. '-0', 'd', data, 'l', last)
  redis.call('HSET', call, 'seq', number)
  if last == '1' then
    redis.call('HSET', call, 'state', 'over')
    redis.call('HDEL', call, 'call')
    for _, key in ipairs({call, frames, waiters}) do redis.call('PEXPIRE', key, memory) end
  elseif number == '1' then
    redis.call('PEXPIRE', frames, redis.call('PTTL', call))
  end
  if #data > most then tell(call, to, 'look')
  else tell(call, to, number .. ' ' .. last, data) end
  return 1
end
local answers = {}
for i = 1, #KEYS / 3 do
  local k, a = 3 * i, 4 * i
  local ok, answer = pcall(append, KEYS[k - 2], KEYS[k - 1], KEYS[k], ARGV[a - 2], ARGV[a - 1], ARGV[a], ARGV[a + 1])
  if not ok and type(answer) ~= 'table' then answer = {err = answer} end
  answers[i] = answer
end
publish()
return answers
`)

// restoreScript writes a call that Redis has lost during its run. KEYS: call, frames, waiters. ARGV:
//   - fence, attempt, memory
//   - ms to live, and ms until its waiters must have returned
//   - seq of the last frame, and the channels of the waiters
//   - the last frames, as far as the run still has them
//
// No other run may begin, because its frames would not continue these. This run therefore updates "alive". It
// returns 0 when a later run has the call.
var restoreScript = redis.NewScript(volatileNow + publishing + `
local fence, run = unpack(redis.call('HMGET', KEYS[1], 'fence', 'run'))
if fence and fence ~= ARGV[1] and tonumber(run) >= tonumber(ARGV[2]) then return 0 end
redis.call('HDEL', KEYS[1], 'state', 'call')
redis.call('HSET', KEYS[1], 'by', 'restored', 'fence', ARGV[1], 'run', ARGV[2], 'memory', ARGV[3], 'seq', ARGV[6],
  'alive', now, 'to', ARGV[7])
redis.call('ZADD', KEYS[3], now + tonumber(ARGV[5]), 'restored')
redis.call('DEL', KEYS[2])
local first = tonumber(ARGV[6]) - (#ARGV - 7) + 1
for i = 8, #ARGV do
  redis.call('XADD', KEYS[2], (first + i - 8) .. '-0', 'd', ARGV[i], 'l', '0')
end
for i = 1, 3 do redis.call('PEXPIRE', KEYS[i], ARGV[4]) end
tell(KEYS[1], ARGV[7], 'look')
publish()
return 1
`)

// checkScript is a run's check of its call, which also shows that the run is alive. KEYS: call, waiters. ARGV: fence,
// "1" when waiters may not have been renewed. It returns "lost" when another run has the call, "gone" when Redis
// does not know it, and "left" when no caller waits. Otherwise it returns the number of the last input, or "".
var checkScript = redis.NewScript(volatileNow + leaving + `
local fence, alive, inputs, state =
  unpack(redis.call('HMGET', KEYS[1], 'fence', 'alive', 'inputs', 'state'))
if not fence then return 'gone' end
if fence ~= ARGV[1] then return 'lost' end
if state == 'left' or ARGV[2] ~= '1' and redis.call('ZCOUNT', KEYS[2], now, '+inf') == 0 then
  leaving(KEYS[1])
  return 'left'
end
if alive then redis.call('HSET', KEYS[1], 'alive', now) end
return inputs or ''
`)

// inputScript gives a running call an input. KEYS: call, frames. ARGV: the number of the input, the input, the number
// of frames that its sender has, input channel, id. It replaces the previous input and deletes the frames that its
// sender has, so that a long call does not accumulate frames. From then on its run shows that it is alive, because no
// other run has its state. A repeat changes nothing, unless Redis has lost the input. It returns 0 when the call is
// over or unknown.
var inputScript = redis.NewScript(volatileNow + `
local by, state, inputs, seq = unpack(redis.call('HMGET', KEYS[1], 'by', 'state', 'inputs', 'seq'))
if not by or state == 'over' then return 0 end
if tonumber(inputs or '0') < tonumber(ARGV[1]) then
  redis.call('HSET', KEYS[1], 'inputs', ARGV[1], 'input', ARGV[2], 'alive', now)
  if (seq or '0') == ARGV[3] then redis.call('XTRIM', KEYS[2], 'MAXLEN', 0) end
end
redis.call('PUBLISH', ARGV[4], ARGV[5])
return 1
`)

// renewScript extends the life of a waiter. KEYS: call, waiters. ARGV:
//   - the waiter, and how long it counts in ms
//   - how recently the run must have been alive if it was restored or has inputs, in ms
//   - the waiter's channel
//   - "1" when it no longer waits for a run to begin
//   - "1" when no other caller can wait
//
// It returns {"gone"}, {"dead"}, or {"late"} after leaving a call without a run, which is then forgotten if no
// caller can join it. Otherwise it returns "", the number of frames, the attempt ("" before the first), and the
// waiter that created the call.
var renewScript = redis.NewScript(volatileNow + listening + `
local waiter, waiterTTL, aliveWithin, channel, gaveUp, alone = unpack(ARGV)
local by, seq, run, alive, state = unpack(redis.call('HMGET', KEYS[1], 'by', 'seq', 'run', 'alive', 'state'))
if not by then return {'gone'} end
if gaveUp == '1' and not run then
  redis.call('ZREM', KEYS[2], waiter)
  if alone == '1' then redis.call('DEL', KEYS[1]) end
  return {'late'}
end
listen(KEYS[1], channel)
redis.call('ZADD', KEYS[2], now + tonumber(waiterTTL), waiter)
redis.call('PEXPIRE', KEYS[2], redis.call('PTTL', KEYS[1]))
if alive and run and state ~= 'over' and now - alive > tonumber(aliveWithin) then return {'dead'} end
return {'', seq or '0', run or '', by}
`)

// leaveScript removes a waiter. KEYS: call, waiters. ARGV: the waiter, how long the call continues without callers in
// ms, cancel channel. 0 ms means that no caller can join: without a run the call is forgotten. It returns 2 when
// the call is forgotten.
var leaveScript = redis.NewScript(volatileNow + leaving + `
redis.call('ZREM', KEYS[2], ARGV[1])
if ARGV[2] ~= '0' then redis.call('ZADD', KEYS[2], now + tonumber(ARGV[2]), 'linger') end
if redis.call('ZCOUNT', KEYS[2], now, '+inf') > 0 then return 0 end
local run = leaving(KEYS[1])
if run then redis.call('PUBLISH', ARGV[3], run)
elseif ARGV[2] == '0' and redis.call('HGET', KEYS[1], 'state') ~= 'over' then
  redis.call('DEL', KEYS[1])
  return 2
end
return 1
`)

// condemnScript ends a call that no run can answer. KEYS: call, frames, waiters. ARGV: the reason, the waiter for whom
// the task was created. The last entry has the reason. A fence that belongs to no run keeps a run that is still
// alive from writing after it. It returns 0 when the call is over or unknown.
var condemnScript = redis.NewScript(Volatile + publishing + `
local by, state, written, memory, to = unpack(redis.call('HMGET', KEYS[1], 'by', 'state', 'seq', 'memory', 'to'))
if not by or state == 'over' or by ~= ARGV[2] and by ~= 'restored' then return 0 end
local seq = string.format('%d', tonumber(written or '0') + 1)
redis.call('XADD', KEYS[2], seq .. '-0', 'd', ARGV[1], 'l', '` + string(condemned) + `')
redis.call('HSET', KEYS[1], 'seq', seq, 'state', 'over', 'fence', 'condemned')
redis.call('HDEL', KEYS[1], 'call')
for _, key in ipairs(KEYS) do
  redis.call('PEXPIRE', key, memory or ` + strconv.FormatInt(finishedTTL.Milliseconds(), 10) + `)
end
tell(KEYS[1], to, seq .. ' ` + string(condemned) + `', ARGV[1])
publish()
return 1
`)

// forgetScript deletes a call and its answer, so that a retry creates it again. KEYS: call, frames, waiters. ARGV: the
// fence of the run that deletes it; "" when its client deletes it.
var forgetScript = redis.NewScript(Volatile + `
if ARGV[1] ~= '' and redis.call('HGET', KEYS[1], 'fence') ~= ARGV[1] then return 0 end
return redis.call('DEL', unpack(KEYS))
`)
