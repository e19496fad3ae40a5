-- SPDX-License-Identifier: BSD-3-Clause
-- How long a program was kept waiting for its core: the kernel counts it by thread, and what a
-- worker waited is in its cycles too.

local uv = require "luv"
local delayed = {}

--- Of schedstat's text: nanoseconds on a core, and waiting for one.
---@param text string
function delayed.read(text)
  local ran, waited = text:match("^(%d+) (%d+)")
  return math.tointeger(tonumber(ran)), math.tointeger(tonumber(waited))
end

local function file_read(path)
  local file = io.open(path)
  local content = file and file:read("a")
  if file then file:close() end
  return content or ""
end

--- Of the thread that has run most: nanoseconds on a core, and waiting for one; nil: it is gone.
function delayed.of(pid)
  local folder = ("/proc/%d/task"):format(pid)
  local scan, most, wait = uv.fs_scandir(folder), -1, nil
  while scan do
    local name = uv.fs_scandir_next(scan)
    if not name then break end
    local ran, waited = delayed.read(file_read(("%s/%s/schedstat"):format(folder, name)))
    if ran and ran > most then most, wait = ran, waited end
  end
  if wait then return most, wait end
end

--- The share of its time that a thread waited between two looks: {ran, waited}.
---@param first integer[]
---@param last integer[]
function delayed.share(first, last)
  local ran, waited = last[1] - first[1], last[2] - first[2]
  return ran + waited > 0 and waited / (ran + waited) or 0
end

return delayed
