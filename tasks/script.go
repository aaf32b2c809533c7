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
local job, log, payload, packed, stream = unpack(KEYS, 1, 5)
local terminal = {completed = true, failed = true, cancelled = true}
local rank = {queued = 0, analyzing = 1, rendering = 2, transcribing = 3, printing = 3, storing = 4, done = 5}

-- is holds fields of the record as they will be, false for those it has not.
local is, changed, events, streamed = {}, {}, {}, false
local first = redis.call('HMGET', job, 'id', 'status', 'stage', 'progress', 'seq', 'fence', 'message', 'updated')
is.id, is.status, is.stage, is.progress, is.seq, is.fence, is.message, is.updated = unpack(first, 1, 8)

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
  streamed = redis.call('EXISTS', stream) == 1
  if streamed then
    -- Nodes of release 0.1 read it.
    for i, event in ipairs(events) do
      redis.call('XADD', stream, 'MAXLEN', '~', '1000', (is.seq - #events + i) .. '-0', 'e', event)
    end
  else
    redis.call('RPUSH', log, unpack(events))
    if is.seq > 1000 then redis.call('LTRIM', log, -1000, -1) end
  end
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
if is.id then
  if get('made') == ARGV[4] then return 1 end
  return 0
end
if redis.call('EXISTS', packed) == 1 then return 0 end
is.id, is.status, is.stage, is.progress = ARGV[5], 'queued', 'queued', 0
emit('progress', ARGV[1], ARGV[3], '')
redis.call('HSET', job, 'id', is.id, 'status', is.status, 'stage', is.stage, 'progress', is.progress,
  'created', ARGV[1], 'made', ARGV[4], unpack(ARGV, 8))
commit()
redis.call('SET', payload, ARGV[7], 'PX', ARGV[2])
redis.call('PEXPIRE', job, ARGV[2])
redis.call('PEXPIRE', log, ARGV[2])
return 1
`)

// beginLua: ARGV at, nonce, kind of task, worker. Answers
// refusal, fence, fields, the task's payload. The nonce makes a repeat after a lost answer the same
// attempt. A task that the job has left behind is refused.
var beginLua = prelude + `
local r = refusal('')
if r ~= '' then return {r} end
local f = redis.call('HMGET', job, 'task', 'begun', 'attempts', 'started', 'warnings', 'workers')
if f[1] ~= ARGV[3] then return {'superseded'} end
if f[2] ~= ARGV[2] then
  local attempt = tonumber(f[3] or 0) + 1
  set('fence', string.format('%d', tonumber(is.fence or 0) + 1))
  set('attempts', attempt)
  if not f[4] then set('started', notBefore(ARGV[1])) end
  set('status', 'processing')
  set('begun', ARGV[2])
  if is.stage == 'queued' then set('stage', 'analyzing') end
  if f[5] then redis.call('HDEL', job, 'warnings') end
  if not f[6] then
    set('workers', ARGV[4])
  elseif #f[6] < 1024 then
    set('workers', f[6] .. ' ' .. ARGV[4])
  end
  local message = 'a worker has begun'
  if attempt > 1 then message = 'attempt ' .. attempt .. ' has begun' end
  emit('progress', ARGV[1], message, '')
  commit()
  publish()
end
return {'', is.fence, record(), redis.call('GET', payload) or redis.call('HGET', job, 'payload')}
`

var beginScript = redis.NewScript(beginLua)

// beginDequeued is beginLua as part of a dequeue; see asynqext.Begin. argv: at, nonce, worker, the
// kinds that it handles, each between spaces.
var beginDequeued = `
local kind = string.match(type, '^` + ofJob + `(.*)')
if not kind or not string.find(argv[4], ' ' .. kind .. ' ', 1, true) then return nil end
local function key(part) return 'pw:{' .. id .. '}:' .. part end
local KEYS = {key('job'), key('log'), key('task'), key('done'), key('events')}
local ARGV = {argv[1], argv[2], kind, argv[3]}
` + beginLua

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
// a completed one without a webhook needs nobody any more; and whether the end of the task is written. The nonce tells a repeat after a lost answer
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
  if ARGV[4] ~= 'failed' then -- else what settles the job wants it
    if redis.call('DEL', payload) == 0 then redis.call('HDEL', job, 'payload') end -- where release 0.1 has it
  end
  publish()
  redis.call('PEXPIRE', job, ARGV[7])
  redis.call('PEXPIRE', log, ARGV[7])
  if streamed then redis.call('PEXPIRE', stream, ARGV[7]) end
  if ARGV[4] == 'cancelled' then redis.call('PUBLISH', '` + cancelChannel + `', is.id) end
elseif r == ARGV[4] and get('by') == ARGV[2] then
  r = ''
end
if r == '' and KEYS[6] and ARGV[4] == 'completed' and not get('webhook') then
` + serverTime + `
  redis.call('ZREM', KEYS[6], is.id)
  redis.call('ZADD', KEYS[7], millis() + ARGV[8], is.id)
  settled = 1
end
if r == '' and KEYS[8] and ARGV[4] == 'completed' then off = done(is.id, 8) end
return {r, record(), settled, off}
`)
