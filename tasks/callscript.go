package tasks

import "github.com/redis/go-redis/v9"

// makeCall writes a call that is not there yet, and counts its waiter. KEYS:
// call, waiters. ARGV: waiter, until when it counts in ms, call, ms to live, ms
// to remember it for those who join. Answers 1 when this waiter made it.
var makeCallScript = redis.NewScript(volatile + `
redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])
if redis.call('EXISTS', KEYS[1]) == 1 then
  if redis.call('HGET', KEYS[1], 'by') == ARGV[1] then return 1 end
  return 0
end
redis.call('HSET', KEYS[1], 'by', ARGV[1], 'call', ARGV[3], 'memory', ARGV[5])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
return 1
`)

// stand puts a call into its owner's line. KEYS: ring. ARGV: line's prefix,
// tier:owner, id. Standing twice would serve twice, so a repeat after a lost
// answer looks at the line's end first.
var standScript = redis.NewScript(volatile + `
local line = ARGV[1] .. ARGV[2]
if redis.call('LINDEX', line, -1) == ARGV[3] then return 0 end
if redis.call('RPUSH', line, ARGV[3]) == 1 then redis.call('RPUSH', KEYS[1], ARGV[2]) end
return 1
`)

// claim gives a ticket the call whose turn it is. KEYS: claims, then the rings,
// the most urgent first. ARGV: ticket, line's prefix, a call that the ticket has
// done with ("" for none). A ticket that has a call keeps it: its run died, or
// its answer was lost. Answers the call's id, or "".
var claimScript = redis.NewScript(volatile + `
local held = redis.call('HGET', KEYS[1], ARGV[1])
if held and held ~= ARGV[3] then return held end
if held then redis.call('HDEL', KEYS[1], ARGV[1]) end
for i = 2, #KEYS do
  while true do
    local who = redis.call('LPOP', KEYS[i])
    if not who then break end
    local line = ARGV[2] .. who
    local id = redis.call('LPOP', line)
    if redis.call('EXISTS', line) == 1 then redis.call('RPUSH', KEYS[i], who) end
    if id then
      redis.call('HSET', KEYS[1], ARGV[1], id)
      return id
    end
  end
end
return ''
`)

// beginCall opens a run of a call. KEYS: call, waiters. ARGV: now in ms, nonce.
// Answers why not ("gone", "over", "left"), or "", run, frames so far, call. A
// call that everybody has left is forgotten, so that a retry makes it anew.
var beginCallScript = redis.NewScript(volatile + `
local f = redis.call('HMGET', KEYS[1], 'call', 'state', 'seq', 'nonce', 'run')
if not f[1] then return {'gone'} end
if f[2] == 'over' then return {'over'} end
if redis.call('ZCOUNT', KEYS[2], ARGV[1], '+inf') == 0 then
  redis.call('DEL', KEYS[1], KEYS[2])
  return {'left'}
end
local run = f[5]
if f[4] ~= ARGV[2] then
  run = redis.call('HINCRBY', KEYS[1], 'run', 1)
  redis.call('HSET', KEYS[1], 'nonce', ARGV[2])
end
return {'', tostring(run), f[3] or '0', f[1]}
`)

// frame appends to the answer. KEYS: call, frames, waiters. ARGV: run, seq, data,
// "1" for the last. A repeat after a lost answer changes nothing. Answers 1, or
// 0 when the run may not write, or frames before this one are lost: Redis has
// come back from an older copy.
var frameScript = redis.NewScript(volatile + `
local f = redis.call('HMGET', KEYS[1], 'run', 'state', 'seq', 'memory')
if f[1] ~= ARGV[1] then return 0 end
local seq = tonumber(ARGV[2])
if tonumber(f[3] or '0') >= seq then return 1 end
if f[2] == 'over' then return 0 end
if tonumber(f[3] or '0') ~= seq - 1 then
  redis.call('DEL', unpack(KEYS))
  return 0
end
redis.call('XADD', KEYS[2], ARGV[2] .. '-0', 'd', ARGV[3], 'l', ARGV[4])
redis.call('HSET', KEYS[1], 'seq', ARGV[2])
if ARGV[4] == '1' then
  redis.call('HSET', KEYS[1], 'state', 'over')
  redis.call('HDEL', KEYS[1], 'call')
  for i = 1, 3 do redis.call('PEXPIRE', KEYS[i], f[4]) end
elseif ARGV[2] == '1' then
  redis.call('PEXPIRE', KEYS[2], redis.call('PTTL', KEYS[1]))
end
redis.call('PUBLISH', KEYS[2], ARGV[2] .. ' ' .. ARGV[4] .. ' ' .. ARGV[3])
return 1
`)

// leave takes a waiter away. KEYS: call, waiters. ARGV: waiter, now in ms, until
// when the call shall go on without anybody ("" for not at all), cancel channel,
// id.
var leaveScript = redis.NewScript(volatile + `
redis.call('ZREM', KEYS[2], ARGV[1])
if ARGV[3] ~= '' then redis.call('ZADD', KEYS[2], ARGV[3], 'linger') end
if redis.call('ZCOUNT', KEYS[2], ARGV[2], '+inf') > 0 then return 0 end
redis.call('PUBLISH', ARGV[4], ARGV[5])
return 1
`)

// release gives a served call's claim back. KEYS: claims. ARGV: ticket.
var releaseScript = redis.NewScript(volatile + `return redis.call('HDEL', KEYS[1], ARGV[1])`)

// forget drops a call and its answer, so that a retry makes it anew. KEYS: call,
// frames, waiters. ARGV: the run that may, "" for the one who made it.
var forgetScript = redis.NewScript(volatile + `
if ARGV[1] ~= '' and redis.call('HGET', KEYS[1], 'run') ~= ARGV[1] then return 0 end
return redis.call('DEL', unpack(KEYS))
`)
