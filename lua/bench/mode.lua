-- SPDX-License-Identifier: BSD-3-Clause
-- How far apart the two cores are: the time of a cache line there and back is bimodal on virtual
-- machines, and figures of different modes are never compared.

local native = require "sluice.bench.native"
local mode = {}

--- Above so many nanoseconds the cores are far: about 50 and about 350 are what is seen.
mode.far_ns = 150

--- More than that is the scheduler, not the cores: the mode is not known then.
mode.most_ns = 2000

--- near or far; nil: not known.
---@param ns number?
function mode.of(ns)
  if not ns or ns > mode.most_ns then return nil end
  return ns < mode.far_ns and "near" or "far"
end

--- Asks two cores, for some milliseconds: the mode, and the time in ns; nil where threads cannot run
--- on both.
function mode.probe(core, other)
  local ns = native.probe(core, other)
  return mode.of(ns), ns
end

return mode
