package tasks

import "github.com/redis/go-redis/v9"

// serverTime gives a script the time. What several machines compare is always
// timed by Redis: their own clocks differ.
const serverTime = `
local clock = redis.call('TIME')
local function millis() return clock[1] * 1000 + math.floor(clock[2] / 1000) end
`

// Every transition of a job is one script over the job's keys, so that it happens
// as a whole or not at all. KEYS: those of keysOf.
//
// A script answers "" when it was applied, else why not: "gone" (no such
// record), the terminal status the job has, or "superseded" (a later run holds
// the fence).
const prelude = `
local job, log, payload, packed, stream = unpack(KEYS, 1, 5)
local terminal = {completed = true, failed = true, cancelled = true}
local rank = {queued = 0, analyzing = 1, rendering = 2, transcribing = 3, printing = 3, storing = 4, done = 5}

-- record appends an event to the log and answers it. f holds the job's id,
-- status, stage and progress; extra is JSON that follows the common members.
local function record(kind, f, seq, at, message, extra)
  local text = ''
  if message ~= '' then text = ',"message":' .. cjson.encode(message) end
  local event = '{"type":"' .. kind .. '","job_id":"' .. f[1] .. '","seq":' .. seq .. ',"status":"' .. f[2] ..
    '","stage":"' .. f[3] .. '","progress":' .. f[4] .. text .. ',"at":"' .. at .. '"' .. extra .. '}'
  if redis.call('EXISTS', stream) == 1 then
    -- Nodes of release 0.1 read it.
    redis.call('XADD', stream, 'MAXLEN', '~', '1000', seq .. '-0', 'e', event)
  else
    redis.call('RPUSH', log, event)
    if seq > 1000 then redis.call('LTRIM', log, -1000, -1) end
  end
  return f[1] .. ' ' .. seq .. ' ' .. event
end

-- emit takes the next sequence number for an event.
local function emit(kind, at, message, extra)
  local f = redis.call('HMGET', job, 'id', 'status', 'stage', 'progress')
  local seq = redis.call('HINCRBY', job, 'seq', 1)
  redis.call('HSET', job, 'message', message, 'updated', at)
  return record(kind, f, seq, at, message, extra)
end

local function publish(message) redis.call('PUBLISH', '` + eventsChannel + `', message) end

-- refusal answers why the holder of this fence may not change the job; an empty
-- fence stands above all runs.
local function refusal(fence)
  local f = redis.call('HMGET', job, 'status', 'fence')
  if not f[1] then return 'gone' end
  if terminal[f[1]] then return f[1] end
  if fence ~= '' and f[2] ~= fence then return 'superseded' end
  return ''
end
`

// create: KEYS also the ledger, where it may be written together with the job.
// ARGV at, ttl ms, message, nonce, id, the sweeper's first look in ms from now,
// the task's payload, then field-value pairs. Answers 1, or 0 when the job exists: a submission may
// be repeated. The nonce tells a repeat after a lost answer, which is 1 again,
// from a second submission. Nobody can watch the job yet, so nothing is
// published.
var createScript = redis.NewScript(prelude + `
if KEYS[6] then
` + serverTime + `
  redis.call('ZADD', KEYS[6], 'NX', millis() + ARGV[6], ARGV[5])
end
local made = redis.call('HMGET', job, 'id', 'made')
if made[1] then
  if made[2] == ARGV[4] then return 1 end
  return 0
end
if redis.call('EXISTS', packed) == 1 then return 0 end
redis.call('HSET', job, 'id', ARGV[5], 'status', 'queued', 'stage', 'queued', 'progress', 0, 'seq', 1, 'message', ARGV[3],
  'created', ARGV[1], 'updated', ARGV[1], 'made', ARGV[4], unpack(ARGV, 8))
redis.call('SET', payload, ARGV[7], 'PX', ARGV[2])
record('progress', {ARGV[5], 'queued', 'queued', 0}, 1, ARGV[1], ARGV[3], '')
redis.call('PEXPIRE', job, ARGV[2])
redis.call('PEXPIRE', log, ARGV[2])
return 1
`)

// begin: ARGV at, nonce, kind of task, worker, then the fields to answer. Answers
// refusal, fence, fields, the task's payload. The nonce makes a repeat after a lost answer the same
// attempt. A task that the job has left behind is refused.
var beginScript = redis.NewScript(prelude + `
local r = refusal('')
if r ~= '' then return {r} end
if redis.call('HGET', job, 'task') ~= ARGV[3] then return {'superseded'} end
if redis.call('HGET', job, 'begun') ~= ARGV[2] then
  redis.call('HINCRBY', job, 'fence', 1)
  local attempt = redis.call('HINCRBY', job, 'attempts', 1)
  redis.call('HSETNX', job, 'started', ARGV[1])
  redis.call('HSET', job, 'status', 'processing', 'begun', ARGV[2])
  if redis.call('HGET', job, 'stage') == 'queued' then redis.call('HSET', job, 'stage', 'analyzing') end
  redis.call('HDEL', job, 'warnings')
  local workers = redis.call('HGET', job, 'workers')
  if not workers then
    redis.call('HSET', job, 'workers', ARGV[4])
  elseif #workers < 1024 then
    redis.call('HSET', job, 'workers', workers .. ' ' .. ARGV[4])
  end
  local message = 'a worker has begun'
  if attempt > 1 then message = 'attempt ' .. attempt .. ' has begun' end
  publish(emit('progress', ARGV[1], message, ''))
end
return {'', redis.call('HGET', job, 'fence'), redis.call('HMGET', job, unpack(ARGV, 5)),
  redis.call('GET', payload) or redis.call('HGET', job, 'payload')}
`)

// next: ARGV fence, the payload and then the fields of the job's next task. Its
// attempts are counted anew.
var nextScript = redis.NewScript(prelude + `
local r = refusal(ARGV[1])
if r == '' then
  redis.call('HSET', job, 'attempts', 0, unpack(ARGV, 3))
  redis.call('HDEL', job, 'payload')
  redis.call('SET', payload, ARGV[2], 'PX', redis.call('PTTL', job))
end
return r
`)

// progress: ARGV fence, at, stage, percent, message. Neither stage nor progress
// goes back, as a second attempt would have it; what changes nothing is no event.
var progressScript = redis.NewScript(prelude + `
local r = refusal(ARGV[1])
if r ~= '' then return r end
local f = redis.call('HMGET', job, 'stage', 'progress', 'message')
local stage, percent, changed = f[1], f[2], false
if (rank[ARGV[3]] or 0) > (rank[stage] or 0) then stage, changed = ARGV[3], true end
if tonumber(ARGV[4]) > tonumber(percent) then percent, changed = ARGV[4], true end
if ARGV[5] ~= '' and ARGV[5] ~= f[3] then changed = true end
if changed then
  redis.call('HSET', job, 'stage', stage, 'progress', percent)
  publish(emit('progress', ARGV[2], ARGV[5], ''))
end
return ''
`)

// note: ARGV fence, at, message, number of warnings, the warnings as JSON, then
// field-value pairs. A warning that is there already is not added again.
var noteScript = redis.NewScript(prelude + `
local r = refusal(ARGV[1])
if r ~= '' then return r end
local changed = ARGV[3] ~= '' and ARGV[3] ~= redis.call('HGET', job, 'message')
local warnings = redis.call('HGET', job, 'warnings') or ''
local count = tonumber(ARGV[4])
for i = 5, 4 + count do
  if #warnings < 65536 and not string.find(warnings, ARGV[i], 1, true) then
    if warnings ~= '' then warnings = warnings .. ',' end
    warnings, changed = warnings .. ARGV[i], true
  end
end
if count > 0 then redis.call('HSET', job, 'warnings', warnings) end
for i = 5 + count, #ARGV, 2 do
  if redis.call('HGET', job, ARGV[i]) ~= ARGV[i + 1] then
    redis.call('HSET', job, ARGV[i], ARGV[i + 1])
    changed = true
  end
end
if changed then publish(emit('progress', ARGV[2], ARGV[3], '')) end
return ''
`)

// finish: ARGV fence, nonce, at, status, message, extra JSON of the event, ttl
// ms, number of field-value pairs times two, the pairs, then the fields to
// answer. Answers refusal, fields. The nonce tells a repeat after a lost answer
// from a second end.
var finishScript = redis.NewScript(prelude + `
local r = refusal(ARGV[1])
if r == 'gone' then return {r} end
local pairs = tonumber(ARGV[8])
if r == '' then
  redis.call('HSET', job, 'status', ARGV[4], 'finished', ARGV[3], 'by', ARGV[2])
  if pairs > 0 then redis.call('HSET', job, unpack(ARGV, 9, 8 + pairs)) end
  if ARGV[4] == 'completed' then redis.call('HSET', job, 'stage', 'done', 'progress', 100) end
  if ARGV[4] ~= 'failed' then -- else what settles the job wants it
    redis.call('HDEL', job, 'payload')
    redis.call('DEL', payload)
  end
  publish(emit(ARGV[4], ARGV[3], ARGV[5], ARGV[6]))
  redis.call('PEXPIRE', job, ARGV[7])
  redis.call('PEXPIRE', log, ARGV[7])
  redis.call('PEXPIRE', stream, ARGV[7])
  if ARGV[4] == 'cancelled' then redis.call('PUBLISH', '` + cancelChannel + `', redis.call('HGET', job, 'id')) end
elseif r == ARGV[4] and redis.call('HGET', job, 'by') == ARGV[2] then
  r = ''
end
return {r, redis.call('HMGET', job, unpack(ARGV, 9 + pairs))}
`)
