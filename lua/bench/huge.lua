-- SPDX-License-Identifier: BSD-3-Clause
-- Hugepages for traffic and switch: free ones if there are enough, else some that are reserved for
-- the time being and given back, else none.

local env = require "sluice.bench.env"
local uv = require "luv"
local huge = {}

local FOLDER = "/sys/kernel/mm/hugepages/hugepages-2048kB/"
local WANTED = 640 -- of 2 MiB

local function number(name) return math.tointeger(tonumber(env.read(FOLDER .. name) or "")) end

local function set(n)
  local file = io.open(FOLDER .. "nr_hugepages", "w")
  if not file then return false end
  file:write(("%d\n"):format(n))
  return file:close() == true
end

--- {use = whether there are any to use, text = for the environment's record, give_back()}.
--- `reserve`: whether some may be reserved.
function huge.take(reserve)
  local all, free = number("nr_hugepages"), number("free_hugepages")
  local function none(text) return {use = false, text = text, give_back = function() end} end
  if not all then return none("none: the kernel has none") end
  if free >= WANTED then
    return {use = true, text = ("%d of 2 MiB, %d free"):format(all, free),
            give_back = function() end}
  end
  if not reserve then return none(("not used: %d of 2 MiB, %d free"):format(all, free)) end
  if uv.getuid() ~= 0 or not set(all + WANTED - free) then
    return none("none: they cannot be reserved")
  end
  local got = number("free_hugepages")
  if got < WANTED then
    set(all)
    return none(("none: only %d could be reserved"):format(got - free))
  end
  return {use = true, text = ("%d of 2 MiB reserved for this session"):format(WANTED - free),
          give_back = function() set(all) end}
end

return huge
