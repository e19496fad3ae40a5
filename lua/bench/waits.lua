-- SPDX-License-Identifier: BSD-3-Clause
-- What the kernel's scheduler says of a program's worker: how long it ran, and how long it was ready
-- while something else had its core. Read from outside, so it disturbs no switch.

local env = require "sluice.bench.env"
local uv = require "luv"
local waits = {}

--- {[thread] = {run_s, wait_s, slices}} of a process; empty where the kernel does not say.
---@param pid integer
---@param root? string instead of /proc: for tests
function waits.read(pid, root)
  local folder = ("%s/%d/task"):format(root or "/proc", pid)
  local threads, scan = {}, uv.fs_scandir(folder)
  while scan do
    local name = uv.fs_scandir_next(scan)
    if not name then break end
    local text = env.read(("%s/%s/schedstat"):format(folder, name)) or ""
    local run, wait, slices = text:match("^(%d+) (%d+) (%d+)$")
    if run then
      threads[name] = {run_s = run / 1e9, wait_s = wait / 1e9, slices = math.tointeger(slices)}
    end
  end
  return threads
end

--- Of the thread that ran most between two readings, the worker: {share = of the time in which it
--- could have run, it waited for its core; run_s; each_s = how long a wait was, on the average: the longest
--- was no shorter}. nil: nothing is known.
function waits.between(before, after)
  local worker
  for name, now in pairs(after) do
    local was = before[name] or {run_s = 0, wait_s = 0, slices = 0}
    local one = {run_s = now.run_s - was.run_s, wait_s = now.wait_s - was.wait_s,
                 slices = now.slices - was.slices}
    if not worker or one.run_s > worker.run_s then worker = one end
  end
  if not worker or worker.run_s + worker.wait_s <= 0 then return nil end
  return {run_s = worker.run_s, share = worker.wait_s / (worker.run_s + worker.wait_s),
          each_s = worker.slices > 0 and worker.wait_s / worker.slices or worker.wait_s}
end

return waits
