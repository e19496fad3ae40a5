-- SPDX-License-Identifier: BSD-3-Clause
-- Hugepages for traffic and switch: free ones if there are enough, else some that are reserved for
-- the time being and given back, else none.

local env = require "sluice.bench.env"
local uv = require "luv"
local huge = {}

local FOLDER = "/sys/kernel/mm/hugepages/hugepages-2048kB/"
huge.wanted = 640 -- of 2 MiB

local function set(folder, n)
  local file = io.open(folder .. "nr_hugepages", "w")
  if not file then return false end
  file:write(("%d\n"):format(n))
  return file:close() == true
end

--- {use = whether there are any to use, text = for the environment's record, give_back()}.
--- `reserve`: whether some may be reserved. What is given back is as many as were taken, not the
--- number that there was before: another run may have reserved its own meanwhile.
---@param reserve boolean
---@param folder? string where the kernel's numbers are, and that we may write there: for tests
function huge.take(reserve, folder)
  local may = folder ~= nil or uv.getuid() == 0
  folder = folder or FOLDER
  local function number(name) return math.tointeger(tonumber(env.read(folder .. name) or "")) end
  local all, free = number("nr_hugepages"), number("free_hugepages")
  local function none(text) return {use = false, text = text, give_back = function() end} end
  if not all then return none("none: the kernel has none") end
  if free >= huge.wanted then
    return {use = true, text = ("%d of 2 MiB, %d free"):format(all, free),
            give_back = function() end}
  end
  if not reserve then return none(("not used: %d of 2 MiB, %d free"):format(all, free)) end
  if not may or not set(folder, all + huge.wanted - free) then
    return none("none: they cannot be reserved")
  end
  -- The kernel gives as many as it has: fewer are no error of its own.
  local taken = number("nr_hugepages") - all
  local function give_back()
    if taken > 0 then set(folder, math.max(0, number("nr_hugepages") - taken)) end
    taken = 0
  end
  local got = number("free_hugepages")
  if got < huge.wanted then
    give_back()
    return none(("none: only %d could be reserved"):format(got - free))
  end
  return {use = true, text = ("%d of 2 MiB reserved for this run"):format(taken),
          give_back = give_back}
end

return huge
