package record

import (
	"strings"

	"github.com/redis/go-redis/v9"

	"presswork/tasks/asynqext"
	"presswork/tasks/clock"
)

// prelude begins the script of every transition. Each transition is one script over the job's keys,
// so that it happens completely or not at all. KEYS: those of keysOf. A script collects its changes
// in Lua and writes them once, in commit, so that several transitions cost little more than one.
//
// A script answers "" when it was applied. Otherwise it answers "gone" (no such record), the job's
// terminal status, or "superseded" (a later run holds the fence).
var prelude = `
local job, log, payload, packed = unpack(KEYS, 1, 4)
local terminal = {completed = true, failed = true, cancelled = true}
local rank = {queued = 0, analyzing = 1, rendering = 2, transcribing = 3, printing = 3, storing = 4, done = 5}

-- is holds the current value of each field that the script has read or set; false for a field that the
-- record does not have.
local is, changed, events = {}, {}, {}
local names = {'id', 'status', 'stage', 'progress', 'seq', 'fence', 'message', 'updated',
  'task', 'begun', 'attempts', 'started', 'workers', 'by', 'webhook'}
for i, value in ipairs(redis.call('HMGET', job, unpack(names))) do is[names[i]] = value end

local function get(field)
  if is[field] == nil then is[field] = redis.call('HGET', job, field) end
  return is[field]
end

local function set(field, value)
  if changed[field] == nil then changed[#changed + 1] = field end
  is[field], changed[field] = value, true
end

-- notBefore returns the time at, or the time of the last event when that is later: two processes
-- know Redis' clock with a difference of some milliseconds. All stamps have one length.
local function notBefore(at)
  if is.updated and at < is.updated then return is.updated end
  return at
end

-- emit adds an event with the next sequence number. extra is JSON that follows the common members.
local function emit(kind, at, message, extra)
  at = notBefore(at)
  set('seq', tonumber(is.seq or 0) + 1)
  set('message', message)
  set('updated', at)
  local text = ''
  if message ~= '' then text = ',"message":' .. cjson.encode(message) end
  events[#events + 1] = '{"type":"' .. kind .. '","job_id":"' .. is.id .. '","seq":' .. is.seq ..
    ',"status":"' .. is.status .. '","stage":"' .. is.stage .. '","progress":' .. is.progress .. text ..
    ',"at":"' .. at .. '"' .. extra .. '}'
end

-- commit writes the changed fields, and the events to the log.
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
    redis.call('PUBLISH', '` + EventsChannel + `', is.id .. ' ' .. (is.seq - #events + i) .. ' ' .. event)
  end
end

-- refusal returns why the holder of this fence may not change the job. An empty fence overrides all
-- runs.
local function refusal(fence)
  if not is.status then return 'gone' end
  if terminal[is.status] then return is.status end
  if fence ~= '' and is.fence ~= fence then return 'superseded' end
  return ''
end

-- record returns the fields of a Record.
local function record() return redis.call('HMGET', job, ` + quotedFields() + `) end
`

// quotedFields returns recordFields as a list of arguments in Lua.
func quotedFields() string { return "'" + strings.Join(recordFields(), "', '") + "'" }

// createScript writes a job unless it exists. KEYS: those of keysOf; without a Cluster also the ledger and the
// owner's list, and perhaps those of EnqueueLua. ARGV:
//   - at, message, nonce, id
//   - the sweeper's first look, in ms from now
//   - the task's payload
//   - the life of the list in ms; 0 leaves it as it is
//   - twice the number of field-value pairs, then the pairs
//   - the arguments of enqueue
//
// It returns 2 when the task is on its queue, 1 when only the record is written, and 0 when the job exists. The
// nonce distinguishes a repeat after a lost response, which is 1, from a second submission. Nothing is published,
// because the job has no watcher yet. The sweeper or the job's end sets the record's time to live.
var createScript = redis.NewScript(clock.Lua + asynqext.EnqueueLua + `
local job, log, payload, packed, ledger, list, task = unpack(KEYS)
local at, message, nonce, id, firstLook, content, listTTL, count = unpack(ARGV, 1, 8)
if ledger then redis.call('ZADD', ledger, 'NX', millis() + firstLook, id) end
local existing = redis.call('EXISTS', job, packed, task or job)
if existing > 0 then
  if redis.call('HGET', job, 'made') == nonce then return 1 end
  if redis.call('EXISTS', job, packed) > 0 then return 0 end
end
redis.call('HSET', job, 'id', id, 'status', 'queued', 'stage', 'queued', 'progress', 0, 'seq', 1, 'message', message,
  'updated', at, 'created', at, 'made', nonce, unpack(ARGV, 9, 8 + count))
redis.call('RPUSH', log, '{"type":"progress","job_id":"' .. id .. '","seq":1,' ..
  '"status":"queued","stage":"queued","progress":0,"message":' .. cjson.encode(message) .. ',"at":"' .. at .. '"}')
redis.call('SET', payload, content)
if list then
  redis.call('ZADD', list, 0, id)
  if listTTL ~= '0' then redis.call('PEXPIRE', list, listTTL) end
end
if task and existing == 0 then
  -- When Redis refuses the task, the sweeper queues it later.
  if pcall(enqueue, 7, unpack(ARGV, 9 + count)) then return 2 end
end
return 1
`)

// beginLua begins an attempt. ARGV: at, nonce, kind of task, worker. It answers the refusal, the
// fence, the fields and the task's payload. The nonce makes a repeat after a lost answer the same
// attempt. It refuses a task that the job has replaced.
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

// beginScript begins a run of a job.
var beginScript = redis.NewScript(beginLua)

// DequeueLua begins an attempt as part of a dequeue: see asynqext.Begin. Its arguments are those of
// DequeueArgs, and ReadBegun decodes its answer.
var DequeueLua = `
local kind = string.match(type, '^` + TaskPrefix + `(.*)')
if not kind or not string.find(argv[4], ' ' .. kind .. ' ', 1, true) then return nil end
local function key(part) return 'pw:{' .. id .. '}:' .. part end
local KEYS = {key('job'), key('log'), key('task'), key('done')}
local ARGV = {argv[1], argv[2], kind, argv[3]}
` + beginLua

// nextScript gives the job another task, whose attempts count from 0. ARGV: fence, the payload, then
// the fields of the task.
var nextScript = redis.NewScript(prelude + `
local r = refusal(ARGV[1])
if r == '' then
  redis.call('HSET', job, 'attempts', 0, unpack(ARGV, 3))
  redis.call('SET', payload, ARGV[2], 'KEEPTTL')
end
return r
`)

// reports defines apply, which applies the reports that begin at an index of ARGV. Each report is its name,
// the number of its arguments, and the arguments.
const reports = `
local handlers = {}

-- progress: at, stage, percent, message. Stage and progress never go back, even in a second attempt.
-- A report that changes nothing makes no event.
function handlers.progress(at, stage, percent, message)
  local isNews = message ~= '' and message ~= is.message
  if (rank[stage] or 0) > (rank[is.stage] or 0) then
    set('stage', stage)
    isNews = true
  end
  if tonumber(percent) > tonumber(is.progress) then
    set('progress', percent)
    isNews = true
  end
  if isNews then emit('progress', at, message, '') end
end

-- note: at, message, number of warnings, the warnings as JSON, then field-value pairs. A warning
-- that the record has is not added again.
function handlers.note(at, message, count, ...)
  local isNews, args = message ~= '' and message ~= is.message, {...}
  count = tonumber(count)
  if count > 0 then
    local warnings = get('warnings') or ''
    for i = 1, count do
      if #warnings < 65536 and not string.find(warnings, args[i], 1, true) then
        if warnings ~= '' then warnings = warnings .. ',' end
        warnings, isNews = warnings .. args[i], true
      end
    end
    set('warnings', warnings)
  end
  for i = 1 + count, #args, 2 do
    if get(args[i]) ~= args[i + 1] then
      set(args[i], args[i + 1])
      isNews = true
    end
  end
  if isNews then emit('progress', at, message, '') end
end

local function apply(i)
  while i <= #ARGV do
    local count = tonumber(ARGV[i + 1])
    handlers[ARGV[i]](unpack(ARGV, i + 2, i + 1 + count))
    i = i + 2 + count
  end
end
`

// reportScript applies reports. ARGV: fence, then the reports.
var reportScript = redis.NewScript(prelude + reports + `
local r = refusal(ARGV[1])
if r == '' then
  apply(2)
  commit()
  publish()
end
return r
`)

// finishScript writes a terminal state. KEYS: those of keysOf; without a Cluster also LedgerKey and SettledKey,
// and then the keys of the task that ends with a completed job. ARGV:
//   - fence, nonce, at, status, message, extra JSON of the event
//   - ttl and the time until the record is packed, both in ms
//   - twice the number of field-value pairs, then the pairs
//   - the reports to apply before the end
//
// It returns the refusal, the fields, whether the job is settled, and whether the end of the task is written. A
// completed job without a webhook is settled. The nonce distinguishes a repeat after a lost response from a second
// end.
var finishScript = redis.NewScript(prelude + reports + asynqext.DoneLua + `
local r = refusal(ARGV[1])
if r == 'gone' then return {r} end
local pairs, settled, taskEnded = tonumber(ARGV[9]), 0, 0
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
  if ARGV[4] == 'cancelled' then redis.call('PUBLISH', '` + CancelChannel + `', is.id) end
elseif r == ARGV[4] and get('by') == ARGV[2] then
  r = ''
end
if r == '' and KEYS[5] and ARGV[4] == 'completed' and not get('webhook') then
` + clock.Lua + `
  redis.call('ZREM', KEYS[5], is.id)
  redis.call('ZADD', KEYS[6], millis() + ARGV[8], is.id)
  settled = 1
end
if r == '' and KEYS[7] and ARGV[4] == 'completed' then taskEnded = done(is.id, 7) end
return {r, record(), settled, taskEnded}
`)
