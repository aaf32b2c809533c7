package meter

import "github.com/redis/go-redis/v9"

// clock sets now to the time of Redis in ms, because the clocks of the nodes differ.
const clock = `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
`

// reserveScript takes from all buckets or from none. KEYS: buckets, running, held. ARGV:
//   - id ("" only reads), tokens, lease in ms
//   - how long the reservation is remembered, in ms
//   - the limit on concurrency
//   - the limit and the window in ms of RPM, RPD, TPM and TPD
//
// It returns which limit refused: 1 to 4 for a bucket, 5 for concurrency, 0 for none. It also returns the
// number of running requests and the levels, which are not whole numbers. Each bucket has its own time, so that a
// request for one bucket does not change the others.
//
// A repeat after a lost response finds its reservation and takes nothing.
var reserveScript = redis.NewScript(clock + `
local id, tokens, readonly = ARGV[1], tonumber(ARGV[2]), ARGV[1] == ''
local repeated = redis.call('EXISTS', KEYS[3]) == 1
local state = redis.call('HMGET', KEYS[1], '1', 'at1', '2', 'at2', '3', 'at3', '4', 'at4')
local levels, refused = {}, 0
for i = 1, 4 do
  local limit, window = tonumber(ARGV[4 + 2 * i]), tonumber(ARGV[5 + 2 * i])
  local level, at = tonumber(state[2 * i - 1] or limit), tonumber(state[2 * i] or now)
  level = math.min(limit, level + math.max(0, now - at) * limit / window)
  levels[i] = level
  local want = 1
  if i > 2 then want = tokens end
  if limit > 0 and not repeated and not readonly and refused == 0 and level < want then refused = i end
end
local running, concurrency = 0, tonumber(ARGV[5])
if concurrency > 0 and not readonly then
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
  running = redis.call('ZCARD', KEYS[2])
  if refused == 0 and not repeated and running >= concurrency then refused = 5 end
end
if refused == 0 and not repeated and not readonly then
  local fields = {}
  for i = 1, 4 do
    if i > 2 then levels[i] = levels[i] - tokens else levels[i] = levels[i] - 1 end
    if tonumber(ARGV[4 + 2 * i]) > 0 then
      for _, v in ipairs({tostring(i), string.format('%.6f', levels[i]), 'at' .. i, string.format('%.0f', now)}) do
        fields[#fields + 1] = v
      end
    end
  end
  if #fields > 0 then
    redis.call('HSET', KEYS[1], unpack(fields))
    redis.call('PEXPIRE', KEYS[1], 172800000)
  end
  redis.call('SET', KEYS[3], tokens, 'PX', ARGV[4])
end
if refused == 0 and concurrency > 0 and not readonly then
  redis.call('ZADD', KEYS[2], now + tonumber(ARGV[3]), id)
  redis.call('PEXPIRE', KEYS[2], 86400000)
end
local out = {tostring(refused), tostring(running)}
for i = 1, 4 do out[i + 2] = string.format('%.6f', levels[i]) end
return out
`)

// renewScript extends the lease of a running request. KEYS: running. ARGV: id, lease in ms.
var renewScript = redis.NewScript(clock + `return redis.call('ZADD', KEYS[1], 'XX', now + tonumber(ARGV[2]), ARGV[1])`)

// settleScript corrects a reservation. KEYS: buckets, held, mark of the usage. ARGV: tokens used, TPM, TPD, lifetime
// of the mark in ms. If the mark exists, the usage was already taken. Usage beyond the reservation can make a bucket
// negative. A settled reservation stays for two minutes with the value 0, so that a late repeat of reserveScript
// still finds it.
var settleScript = redis.NewScript(`
local used = tonumber(ARGV[1])
if used > 0 and not redis.call('SET', KEYS[3], '', 'NX', 'PX', ARGV[4]) then used = 0 end
local held = tonumber(redis.call('GET', KEYS[2]) or '0')
if held > 0 then redis.call('SET', KEYS[2], 0, 'PX', 120000) end
local change = held - used
for i = 3, 4 do
  local limit = tonumber(ARGV[i - 1])
  local level = redis.call('HGET', KEYS[1], tostring(i))
  if limit > 0 and level then
    redis.call('HSET', KEYS[1], tostring(i), string.format('%.6f', math.min(limit, tonumber(level) + change)))
  end
end
return 1
`)

// recordScript adds usage to the ledger. KEYS: ledger of a day, mark of the request. ARGV: lifetime of the mark
// and of the ledger in ms, then pairs of a counter and a number. If the mark exists, it adds nothing and returns
// 0.
var recordScript = redis.NewScript(`
if not redis.call('SET', KEYS[2], '1', 'NX', 'PX', ARGV[1]) then return 0 end
for i = 3, #ARGV, 2 do redis.call('HINCRBY', KEYS[1], ARGV[i], ARGV[i + 1]) end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`)
