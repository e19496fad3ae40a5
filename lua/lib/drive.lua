-- SPDX-License-Identifier: BSD-3-Clause
-- What a script does while its graph runs: tasks (coroutines) on the control thread, woken by time
-- or by a condition. Workers know nothing of it. A run whose sources have all ended goes on until
-- its tasks have, so that what they would have checked is checked; every() holds nothing up.

local native = require "sluice.native"
local place = require "sluice.place"
local drive = {}

local CONDITION_NS = 1000000 -- how often conditions are looked at
local tasks = {} -- those that wait, in the order they began
local current -- the task that goes on
local waiting_for = {start = {}, stop = {}}
local pending = {} -- what every() and after() were given before the start
local started, stopped = false, false

-- Nanoseconds of "100ms", or of a number of seconds.
local function duration(value, what)
  local ns = native.duration(value)
  if not ns then
    place.raise('%s: "%s" is not a duration (for example "100ms", or 0.1 for seconds)', what,
                tostring(value))
  end
  return ns
end

local function callback(f, what)
  if type(f) ~= "function" then
    place.raise("%s takes a function, not a %s", what, f == nil and "nil" or type(f))
  end
  return f
end

local function resume(task, ...)
  local before = current
  current = task
  task.wake, task.condition, task.limit = nil, nil, nil
  local ok, why = coroutine.resume(task.co, ...)
  while ok and task.outside do
    local f = task.outside
    task.outside = nil
    ok, why = coroutine.resume(task.co, pcall(f))
  end
  current = before
  if not ok then error(native.traceback(task.co, why), 0) end
  task.ended = coroutine.status(task.co) == "dead"
  if not (task.ended or task.wake or task.condition or task.cancelled) then
    error(native.traceback(task.co, "coroutine.yield() outside of coroutines of the script's own: "
                           .. "a task waits with wait() or wait_until()"), 0)
  end
end

local function task_new(f, h)
  local task = {co = coroutine.create(f), beside = h and h.beside}
  if h then h.task = task end
  tasks[#tasks + 1] = task
  resume(task)
end

-- The task that calls, which is about to wait.
local function waiting(what)
  if not current or coroutine.running() ~= current.co then
    place.raise("%s can be used in on.start(), every(), after() and task() only", what)
  end
  return current
end

-- Calls f outside of any coroutine, at once; what it gives.
function drive.outside(f)
  local _, main = coroutine.running()
  if main then return f() end
  waiting("spawn()").outside = f
  local ok, result = coroutine.yield()
  if not ok then error(result, 0) end
  return result
end

--- Lets the others go on for so long: "100ms", or a number of seconds.
---@param time string|number
---> function wait(time) end
function drive.wait(time)
  local ns = duration(time, "wait")
  waiting("wait()").wake = native.now() + ns
  coroutine.yield()
end

--- Waits until the condition holds, `limit` at most (10 s if nothing is said). What it gave, or
--- false when the time is over.
---@param condition fun(): any
---@param limit? string|number
---@return any
---> function wait_until(condition, limit) end
function drive.wait_until(condition, limit)
  callback(condition, "wait_until")
  local ns = duration(limit or "10s", "wait_until")
  local task = waiting("wait_until()")
  local held = condition()
  if held then return held end
  task.condition, task.limit = condition, native.now() + ns
  return coroutine.yield()
end

---@class sluice.Handle
---> local Handle = {}

local handle = {}
handle.__index = handle

--- Ends what every(), after() or task() began; what is running goes on to its next wait.
---> function Handle:cancel() end
function handle:cancel()
  self.cancelled = true
  if self.task then self.task.cancelled = true end
end

-- `beside`: it does not keep the run from ending.
local function begin(h, f, beside)
  h.beside = beside
  if started then task_new(f, h) else pending[#pending + 1] = {f, h} end
  return h
end

--- Calls f each `period`. Calls that would come while f still waits are left out.
---@param period string|number
---@param f fun()
---@return sluice.Handle
---> function every(period, f) end
function drive.every(period, f)
  local ns = duration(period, "every")
  callback(f, "every")
  if ns < 1000000 then place.raise('every: "%s" is too short, it should be 1ms or more', period) end
  local h = setmetatable({}, handle)
  return begin(h, function()
    local due = native.now() + ns
    while true do
      current.wake = due
      coroutine.yield()
      f()
      due = math.max(due + ns, native.now())
    end
  end, true)
end

--- Calls f once, so much later.
---@param time string|number
---@param f fun()
---@return sluice.Handle
---> function after(time, f) end
function drive.after(time, f)
  local ns = duration(time, "after")
  callback(f, "after")
  local h = setmetatable({}, handle)
  return begin(h, function()
    current.wake = native.now() + ns
    coroutine.yield()
    f()
  end)
end

--- Runs f beside what runs already, at once; it may wait.
---@param f fun()
---@return sluice.Handle
---> function task(f) end
function drive.task(f)
  callback(f, "task")
  return begin(setmetatable({}, handle), f)
end

--- on.start(f): f is called when the graph runs, and may wait. on.stop(f): when it has stopped, all
--- counters are final and commands are over.
---@class sluice.on
---@field start fun(f: fun())
---@field stop fun(f: fun())
---> on = {}

drive.on = setmetatable({}, {
  __index = function(_, event)
    if not waiting_for[event] then
      place.raise('there is no on.%s(), but on.start() and on.stop()', tostring(event))
    end
    return function(f)
      callback(f, "on." .. event)
      if event == "start" and started then place.raise("on.start: the graph runs already") end
      table.insert(waiting_for[event], f)
    end
  end,
})

--- Ends the run with this exit code (0 if nothing is said); what called it goes no further.
---@param code? integer
---> function stop(code) end
function drive.stop(code)
  if code ~= nil and (math.type(code) ~= "integer" or code < 0 or code > 255) then
    place.raise("stop: an exit code is a number from 0 to 255")
  end
  if not started then place.raise("stop: nothing runs yet") end
  native.stop(code or 0)
  if current and coroutine.running() == current.co then
    current.cancelled = true
    coroutine.yield()
  end
end

--- Says why and ends the run with exit code 1.
---@param why string
---> function fail(why) end
function drive.fail(why)
  if not started then place.raise("%s", tostring(why)) end
  local file, line = place.here()
  native.complain(file, line, tostring(why), 1)
  drive.stop(1)
end

--- Says what was expected if the condition does not hold; the run goes on, and ends with exit
--- code 1. Gives the condition back.
---@generic T
---@param condition T
---@param what string
---@return T
---> function expect(condition, what) end
function drive.expect(condition, what)
  if not condition then
    local file, line = place.here()
    native.complain(file, line, "expected: " .. tostring(what or "a condition that holds"), 1)
  end
  return condition
end

function drive.start()
  started = true
  for _, f in ipairs(waiting_for.start) do task_new(f) end
  local later = pending
  pending = {}
  for _, row in ipairs(later) do
    if not row[2].cancelled then task_new(row[1], row[2]) end
  end
  native.hold(true) -- until the first tick has looked
end

local function due(task, now)
  if task.condition then
    local held = task.condition()
    if held then return true, held end
    return now >= task.limit, false
  end
  return task.wake and now >= task.wake
end

-- Runs what is due. In how many nanoseconds the next is, or -1.
function drive.tick()
  local wait = drive.poll and drive.poll() or math.maxinteger
  local i = 1
  while i <= #tasks do
    local task, now = tasks[i], native.now()
    if not task.ended and not task.cancelled then
      local ready, value = due(task, now)
      if ready then resume(task, value) end
    end
    i = i + 1
  end
  local kept, now, holds = {}, native.now(), false
  for _, task in ipairs(tasks) do
    if not task.ended and not task.cancelled then
      kept[#kept + 1] = task
      holds = holds or not task.beside
      if task.condition then wait = math.min(wait, CONDITION_NS) end
      if task.wake then wait = math.min(wait, math.max(task.wake - now, 0)) end
    end
  end
  tasks = kept
  native.hold(holds)
  return wait == math.maxinteger and -1 or wait
end

-- The graph has stopped; counters are final. on.stop() may not wait any more.
function drive.finish()
  if stopped or not started then return end
  stopped, current = true, nil
  tasks = {}
  for _, f in ipairs(waiting_for.stop) do f() end
end

-- Whatever happened: the programs that were started are ended.
function drive.shut()
  local close = drive.close
  drive.close = nil
  if close then close() end
end

return drive
