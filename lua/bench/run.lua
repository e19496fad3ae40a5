-- SPDX-License-Identifier: BSD-3-Clause
-- `bench run` and `bench suite`: cells of the command line, or of a suite.

local cells = require "sluice.bench.cells"
local running = require "sluice.bench.running"

local function suite_fill(values)
  local suite = cells.suites[values.suite]
  values.search, values.trials = suite.search, values.trials or suite.trials
  values.time = values.time or suite.seconds
  values.resume = true
  return cells.suite(values.suite, values.switch)
end

return function(values)
  local list = values.suite and suite_fill(values)
      or cells.product{scenarios = values.scenarios, sizes = values.size, dirs = values.dir,
                       wires = values.wire, vnfs = values.vnf, vnf_in = values.vnf_in, switches = values.switch,
                       link_bps = values.link}
  return running(values, function(self) self:measure(list) end)
end
