-- SPDX-License-Identifier: BSD-3-Clause
-- The received rate at the greatest load, drops ignored (R+; CSIT's MRR): one trial to warm up,
-- then several; their median, min, max and number.

local mrr = {}

--- Options: max_pps (nil: as fast as the generator goes), seconds (1), trials (7), warmup (1
--- trial).
function mrr.run(measure, options)
  local search = require "sluice.bench.search"
  local seconds = options.seconds or 1
  for _ = 1, options.warmup or 1 do
    measure{pps = options.max_pps, seconds = seconds, warmup = true}
  end
  local results = {}
  for i = 1, options.trials or 7 do
    results[i] = measure{pps = options.max_pps, seconds = seconds}
  end
  return {metric = "mrr", value_pps = search.received(results)}
end

return mrr
