-- SPDX-License-Identifier: BSD-3-Clause
-- How far a run of many cells has come: a bar, and the time left. Pure.

local progress = {}

local WIDTH = 20

local function time_text(seconds)
  if seconds < 90 then return ("%.0f s"):format(seconds) end
  if seconds < 5400 then return ("%.0f min"):format(seconds / 60) end
  return ("%.1f h"):format(seconds / 3600)
end

--- "[####------] 2 of 5, v2v/uni/64: 3 min left"; nothing of the time before the first is done.
---@param done integer
---@param all integer
---@param what string what goes on
---@param seconds number that those that are done have taken
function progress.text(done, all, what, seconds)
  local full = WIDTH * done // all
  local left = done > 0 and (": %s left"):format(time_text(seconds / done * (all - done))) or ""
  return ("[%s%s] %d of %d, %s%s"):format(("#"):rep(full), ("-"):rep(WIDTH - full), done + 1, all, what,
                                         left)
end

return progress
