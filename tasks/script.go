package tasks

import (
	"strings"

	"github.com/redis/go-redis/v9"

	"presswork/tasks/asynqext"
)

// serverTime gives a script the time. What several machines compare is always
// timed by Redis: their own clocks differ.
const serverTime = `
local clock = redis.call('TIME')
local function millis() return clock[1] * 1000 + math.floor(clock[2] / 1000) end
`

// Every transition of a job is one script over the job's keys, so that it happens
// as a whole or not at all. KEYS: those of keysOf. What a script changes of the record it
// notes in Lua and writes once, in commit: several transitions cost little more than one.
//
// A script answers "" when it was applied, else why not: "gone" (no such
// record), the terminal status the job has, or "superseded" (a later run holds
// the fence).
var prelude = `
local job, log, payload, packed = unpack(KEYS, 1, 4)
local terminal = {completed = true, failed = true, cancelled = true}
local rank = {queued = 0, analyzing = 1, rendering = 2, transcribing = 3, printing = 3, storing = 4, done = 5}

-- is holds fields of the record as they will be, false for those it has not.
local is, changed, events = {}, {}, {}
local names = {'id', 'status', 'stage', 'progress', 'seq', 'fence', 'message', 'updated', 'task', 'begun', 'attempts', 'started', 'workers', 'by', 'webhook'}
for i, value in ipairs(redis.call('HMGET', job, unpack(names))) do is[names[i]] = value end

local function get(field)
  if is[field] == nil then is[field] = redis.call('HGET', job, field) end
  return is[field]
end

local function set(field, value)
  if changed[field] == nil then changed[#changed + 1] = field end
  is[field], changed[field] = value, true
end

-- notBefore is the time at, or that of the last event where it is later: what two
-- processes know of Redis' clock differs by some milliseconds. Stamps have one length.
local function notBefore(at)
  if is.updated and at < is.updated then return is.updated end
  return at
end

-- emit makes an event of the next sequence number. Extra is JSON that follows
-- the common members.
local function emit(kind, at, message, extra)
  at = notBefore(at)
  set('seq', tonumber(is.seq or 0) + 1)
  set('message', message)
  set('updated', at)
  local text = ''
  if message ~= '' then text = ',"message":' .. cjson.encode(message) end
  events[#events + 1] = '{"type":"' .. kind .. '","job_id":"' .. is.id .. '","seq":' .. is.seq .. ',"status":"' .. is.status ..
    '","stage":"' .. is.stage .. '","progress":' .. is.progress .. text .. ',"at":"' .. at .. '"' .. extra .. '}'
end

-- commit writes what has changed, and the events to the log.
local function commit()
  if #changed == 0 then return end
  local pairs = {}
  for _, field in ipairs(changed) do
    pairs[#pairs + 1] = field
    pairs[#pairs + 1] = is[field]
  end
  redis.call('HSET', job, unpack(pairs))
  if #events == 0 then return end
  redis.call('RPUSH', log, unpack(events))
  if is.seq > 1000 then redis.call('LTRIM', log, -1000, -1) end
end

local function publish()
  for i, event in ipairs(events) do
    redis.call('PUBLISH', '` + eventsChannel + `', is.id .. ' ' .. (is.seq - #events + i) .. ' ' .. event)
  end
end

-- refusal answers why the holder of this fence may not change the job; an empty
-- fence stands above all runs.
local function refusal(fence)
  if not is.status then return 'gone' end
  if terminal[is.status] then return is.status end
  if fence ~= '' and is.fence ~= fence then return 'superseded' end
  return ''
end

-- record answers the fields that make a Record.
local function record() return redis.call('HMGET', job, ` + quotedFields() + `) end
`

// quotedFields are recordFields as Lua lists them.
func quotedFields() string { return "'" + strings.Join(recordFields(), "', '") + "'" }

// create writes a job that is not there. KEYS: those of keysOf; where there is one Redis also the ledger and the
// owner's list, and perhaps those of EnqueueLua. ARGV: at, message, nonce, id, the sweeper's first look in ms from
// now, the task's payload, how long the list lives in ms (0 leaves it as it is), number of field-value pairs times
// two, the pairs, then the arguments of enqueue. Answers
// 2 when the task is on its queue, 1 when only the record is written, 0 when the job exists. The nonce tells a
// repeat after a lost answer, which is 1, from a second submission. Nobody can watch the job yet, so nothing is
// published. The record gets its time to live from the sweeper or at the job's end.
var createScript = redis.NewScript(serverTime + asynqext.EnqueueLua + `
local job, log, payload, packed, ledger, list, task = unpack(KEYS)
local at, message, nonce, id, firstLook, content, listTTL, count = unpack(ARGV, 1, 8)
if ledger then redis.call('ZADD', ledger, 'NX', millis() + firstLook, id) end
local there = redis.call('EXISTS', job, packed, task or job)
if there > 0 then
  if redis.call('HGET', job, 'made') == nonce then return 1 end
  if redis.call('EXISTS', job, packed) > 0 then return 0 end
end
redis.call('HSET', job, 'id', id, 'status', 'queued', 'stage', 'queued', 'progress', 0, 'seq', 1, 'message', message,
  'updated', at, 'created', at, 'made', nonce, unpack(ARGV, 9, 8 + count))
redis.call('RPUSH', log, '{"type":"progress","job_id":"' .. id .. '","seq":1,"status":"queued","stage":"queued","progress":0,"message":' ..
  cjson.encode(message) .. ',"at":"' .. at .. '"}')
redis.call('SET', payload, content)
if list then
  redis.call('ZADD', list, 0, id)
  if listTTL ~= '0' then redis.call('PEXPIRE', list, listTTL) end
end
if task and there == 0 then
  -- A task that Redis refuses is put on its queue by the sweeper.
  if pcall(enqueue, 7, unpack(ARGV, 9 + count)) then return 2 end
end
return 1
`)

// beginLua: ARGV at, nonce, kind of task, worker. Answers
// refusal, fence, fields, the task's payload. The nonce makes a repeat after a lost answer the same
// attempt. A task that is not the job's any more is refused.
var beginLua = prelude + `
local r = refusal('')
if r ~= '' then return {r} end
if is.task ~= ARGV[3] then return {'superseded'} end
if is.begun ~= ARGV[2] then
  local attempt = tonumber(is.attempts or 0) + 1
  set('fence', string.format('%d', tonumber(is.fence or 0) + 1))
  set('attempts', attempt)
  if is.started then redis.call('HDEL', job, 'warnings') else set('started', notBefore(ARGV[1])) end
  set('status', 'processing')
  set('begun', ARGV[2])
  if is.stage == 'queued' then set('stage', 'analyzing') end
  if not is.workers then
    set('workers', ARGV[4])
  elseif #is.workers < 1024 then
    set('workers', is.workers .. ' ' .. ARGV[4])
  end
  local message = 'a worker has begun'
  if attempt > 1 then message = 'attempt ' .. attempt .. ' has begun' end
  emit('progress', ARGV[1], message, '')
  commit()
  publish()
end
return {'', is.fence, record(), redis.call('GET', payload)}
`

var beginScript = redis.NewScript(beginLua)

// beginDequeued is beginLua as part of a dequeue; see asynqext.Begin. argv: at, nonce, worker, the
// kinds that it handles, each between spaces.
var beginDequeued = `
local kind = string.match(type, '^` + ofJob + `(.*)')
if not kind or not string.find(argv[4], ' ' .. kind .. ' ', 1, true) then return nil end
local function key(part) return 'pw:{' .. id .. '}:' .. part end
local KEYS = {key('job'), key('log'), key('task'), key('done')}
local ARGV = {argv[1], argv[2], kind, argv[3]}
` + beginLua

// next: ARGV fence, the payload and then the fields of the job's next task. Its
// attempts are counted from 0 again.
var nextScript = redis.NewScript(prelude + `
local r = refusal(ARGV[1])
if r == '' then
  redis.call('HSET', job, 'attempts', 0, unpack(ARGV, 3))
  redis.call('SET', payload, ARGV[2], 'KEEPTTL')
end
return r
`)

// reports applies the reports that ARGV holds from some place on, each as its name,
// the number of its arguments, and these.
const reports = `
local does = {}

-- progress: at, stage, percent, message. Neither stage nor progress
-- goes back, as a second attempt would have it; what changes nothing is no event.
function does.progress(at, stage, percent, message)
  local news = message ~= '' and message ~= is.message
  if (rank[stage] or 0) > (rank[is.stage] or 0) then
    set('stage', stage)
    news = true
  end
  if tonumber(percent) > tonumber(is.progress) then
    set('progress', percent)
    news = true
  end
  if news then emit('progress', at, message, '') end
end

-- note: at, message, number of warnings, the warnings as JSON, then
-- field-value pairs. A warning that is there already is not added again.
function does.note(at, message, count, ...)
  local news, args = message ~= '' and message ~= is.message, {...}
  count = tonumber(count)
  if count > 0 then
    local warnings = get('warnings') or ''
    for i = 1, count do
      if #warnings < 65536 and not string.find(warnings, args[i], 1, true) then
        if warnings ~= '' then warnings = warnings .. ',' end
        warnings, news = warnings .. args[i], true
      end
    end
    set('warnings', warnings)
  end
  for i = 1 + count, #args, 2 do
    if get(args[i]) ~= args[i + 1] then
      set(args[i], args[i + 1])
      news = true
    end
  end
  if news then emit('progress', at, message, '') end
end

local function apply(i)
  while i <= #ARGV do
    local count = tonumber(ARGV[i + 1])
    does[ARGV[i]](unpack(ARGV, i + 2, i + 1 + count))
    i = i + 2 + count
  end
end
`

// report: ARGV fence, then what reports applies.
var reportScript = redis.NewScript(prelude + reports + `
local r = refusal(ARGV[1])
if r == '' then
  apply(2)
  commit()
  publish()
end
return r
`)

// finish: KEYS also the ledger and the set of those that are settled, where they may be
// written together with the job, and then those of the task that a completed job is done with, if
// its end is to be written, too. ARGV fence, nonce, at, status, message, extra JSON of the event, ttl
// ms, how long from now the record is packed in ms, number of field-value pairs times two, the pairs,
// then what reports applies before the end. Answers refusal, fields, whether the job is settled:
// a completed one without a webhook is; and whether the end of the task is written. The nonce tells a repeat after a lost answer
// from a second end.
var finishScript = redis.NewScript(prelude + reports + asynqext.DoneLua + `
local r = refusal(ARGV[1])
if r == 'gone' then return {r} end
local pairs, settled, off = tonumber(ARGV[9]), 0, 0
if r == '' then
  apply(10 + pairs)
  set('status', ARGV[4])
  set('finished', notBefore(ARGV[3]))
  set('by', ARGV[2])
  for i = 10, 9 + pairs, 2 do set(ARGV[i], ARGV[i + 1]) end
  if ARGV[4] == 'completed' then
    set('stage', 'done')
    set('progress', 100)
  end
  emit(ARGV[4], ARGV[3], ARGV[5], ARGV[6])
  commit()
  if ARGV[4] == 'failed' then -- settling the job reads it
    redis.call('PEXPIRE', payload, ARGV[7])
  else
    redis.call('DEL', payload)
  end
  publish()
  redis.call('PEXPIRE', job, ARGV[7])
  redis.call('PEXPIRE', log, ARGV[7])
  if ARGV[4] == 'cancelled' then redis.call('PUBLISH', '` + cancelChannel + `', is.id) end
elseif r == ARGV[4] and get('by') == ARGV[2] then
  r = ''
end
if r == '' and KEYS[5] and ARGV[4] == 'completed' and not get('webhook') then
` + serverTime + `
  redis.call('ZREM', KEYS[5], is.id)
  redis.call('ZADD', KEYS[6], millis() + ARGV[8], is.id)
  settled = 1
end
if r == '' and KEYS[7] and ARGV[4] == 'completed' then off = done(is.id, 7) end
return {r, record(), settled, off}
`)
