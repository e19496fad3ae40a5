-- SPDX-License-Identifier: BSD-3-Clause
-- For scripts of tests: steady(graph, options) is swap(), tried again where a worker did not come to a
-- stop in time, as on a machine whose cores others use. Nothing has changed then.

local function steady(...)
  for i = 1, 20 do
    local ok, change = pcall(swap, ...)
    if ok then return change end
    if i == 20 or not tostring(change):find("did not come to a stop", 1, true) then error(change, 0) end
  end
end

