-- graphs/mix.lua: a mix of sizes in many flows, counted by size
--
--   build/out/sluice run graphs/mix.lua
--   build/out/sluice run graphs/mix.lua --set mix=tcp --set flows=100000
--   build/out/sluice run graphs/mix.lua --set genome=aaafg
local traffic = require "sluice.traffic"

vars{mix = {"simple", help = "an IMIX: simple, ixia, csit, tcp, ipsec or tolly"},
     genome = {"", help = "letters of RFC 6985, in place of the mix"},
     frames = {120000, min = 1, help = "packets to make"},
     flows = {1000, min = 1, help = "senders, at random"}}

local sizes = vars.genome == "" and traffic.imix(vars.mix) or traffic.genome(vars.genome)
local from = traffic.source("make", {sizes = sizes, flows = vars.flows, random = 1,
                                     count = vars.frames})

-- A filter and a sink for each size, in a row.
local seen = {}
for _, size in ipairs(sizes) do
  if not seen[size] then
    seen[size] = true
    seen[#seen + 1] = size
    local is = Filter("is_" .. size, {expression = "len = " .. size})
    chain(from, is)
    chain(is:gate("match"), Sink("of_" .. size))
    from = is:gate("miss")
  end
end
chain(from, Discard("others"))

on.stop(function()
  table.sort(seen)
  print("frame size   packets   share")
  for _, size in ipairs(seen) do
    local n = node["of_" .. size].stats.packets
    print(("%10d %9d %6.2f %%"):format(size + 4, n, 100 * n / vars.frames))
  end
  expect(drops.total == 0, "no packet of another size")
end)
