package meter

import "github.com/redis/go-redis/v9"

// reserve takes from all buckets or from none. KEYS: buckets, running, held.
// ARGV: id, tokens, now in ms, lease in ms, ms to remember the reservation,
// limit on concurrency, then limit and window in ms of RPM, RPD, TPM, TPD.
// Answers what refused it (1 to 4 a bucket, 5 the concurrency, 0 nothing), how
// many run, and the levels, which are not whole numbers.
//
// A repeat after a lost answer finds its reservation and takes nothing.
var reserveScript = redis.NewScript(`
local id, tokens, now = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local again = redis.call('EXISTS', KEYS[3]) == 1
local state = redis.call('HMGET', KEYS[1], 'at', '1', '2', '3', '4')
local past = math.max(0, now - tonumber(state[1] or now))
local levels, refused = {}, 0
for i = 1, 4 do
  local limit, window = tonumber(ARGV[5 + 2 * i]), tonumber(ARGV[6 + 2 * i])
  local level = limit
  if state[i + 1] then level = math.min(limit, tonumber(state[i + 1]) + past * limit / window) end
  levels[i] = level
  local want = 1
  if i > 2 then want = tokens end
  if limit > 0 and not again and refused == 0 and level < want then refused = i end
end
local running, most = 0, tonumber(ARGV[6])
if most > 0 then
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
  running = redis.call('ZCARD', KEYS[2])
  if refused == 0 and not again and running >= most then refused = 5 end
end
if refused == 0 and not again then
  for i = 1, 4 do
    if i > 2 then levels[i] = levels[i] - tokens else levels[i] = levels[i] - 1 end
  end
  redis.call('SET', KEYS[3], tokens, 'PX', ARGV[5])
end
if refused == 0 and most > 0 then
  redis.call('ZADD', KEYS[2], now + tonumber(ARGV[4]), id)
  redis.call('PEXPIRE', KEYS[2], 86400000)
end
local out = {tostring(refused), tostring(running)}
local fields = {'at', string.format('%.0f', now)}
for i = 1, 4 do
  local text = string.format('%.6f', levels[i])
  out[i + 2] = text
  if tonumber(ARGV[5 + 2 * i]) > 0 then
    fields[#fields + 1] = tostring(i)
    fields[#fields + 1] = text
  end
end
redis.call('HSET', KEYS[1], unpack(fields))
redis.call('PEXPIRE', KEYS[1], 172800000)
return out
`)

// settle: KEYS: buckets, held. ARGV: tokens used, TPM, TPD. A bucket may be
// overdrawn by what was used beyond the reservation.
var settleScript = redis.NewScript(`
local held = tonumber(redis.call('GET', KEYS[2]) or '0')
if held > 0 then redis.call('SET', KEYS[2], 0, 'PX', 120000) end
local change = held - tonumber(ARGV[1])
for i = 3, 4 do
  local limit = tonumber(ARGV[i - 1])
  local level = redis.call('HGET', KEYS[1], tostring(i))
  if limit > 0 and level then
    redis.call('HSET', KEYS[1], tostring(i), string.format('%.6f', math.min(limit, tonumber(level) + change)))
  end
end
return 1
`)
