-- SPDX-License-Identifier: BSD-3-Clause
-- Rates against the figures that everyone knows.

local rig = require "rig"
local rates = require "sluice.bench.rates"

rig.test("a 10G link in Mpps", function()
  local known = {[64] = 14.881, [128] = 8.446, [256] = 4.529, [512] = 2.350, [1024] = 1.197,
                 [1280] = 0.9615, [1518] = 0.8127}
  for size, mpps in pairs(known) do rig.near(rates.line_pps(10e9, size) / 1e6, mpps, 3e-4) end
end)

rig.test("layers are 20 bytes apart, and go both ways", function()
  rig.near(rates.l1_bps(14.88e6, 64), 14.88e6 * 84 * 8)
  rig.near(rates.l2_bps(14.88e6, 64), 14.88e6 * 64 * 8)
  rig.near(rates.pps_of_l1(rates.l1_bps(123456, 256), 256), 123456)
  rig.near(rates.pps_of_l2(rates.l2_bps(123456, 256), 256), 123456)
  -- 100G and more are no matter.
  rig.near(rates.l1_bps(rates.line_pps(400e9, 64), 64), 400e9)
end)

rig.test("mixes of sizes", function()
  rig.near(rates.mix_mean(rates.mixes.csit), 353.8, 2e-4)
  rig.near(rates.mix_mean(rates.mixes.ixia), (64 * 7 + 570 * 4 + 1518) / 12)
end)

rig.test("numbers as text", function()
  rig.same(rates.text(15.314e6, "pps"), "15.3 Mpps")
  rig.same(rates.text(15.314e6, "pps", 2), "15.31 Mpps")
  rig.same(rates.text(999.96e6, "pps"), "1.00 Gpps")
  rig.same(rates.text(153, "pps"), "153 pps")
  rig.same(rates.text(0, "pps"), "0 pps")
  rig.same(rates.text(10.29e9, "bps"), "10.3 Gbps")
  rig.same(rates.time_text(850), "850 ns")
  rig.same(rates.time_text(12600), "12.6 us")
  rig.same(rates.time_text(1.2e6), "1.20 ms")
  rig.same(rates.time_text(3e9), "3.00 s")
end)

rig.test("rates of links", function()
  rig.same(rates.link_read("10G"), 10e9)
  rig.same(rates.link_read("2.5G"), 2.5e9)
  rig.same(rates.link_read("100M"), 1e8)
  for _, bad in ipairs{"", "G", "ten", "10Gbps", "0", "-1G"} do
    local rate, why = rates.link_read(bad)
    rig.check(rate == nil and why, "%s is refused", bad)
  end
end)

rig.test("a paced link is that of physical ports, each way", function()
  local scenario = require "sluice.bench.scenario"
  local function paced(...)
    local each, sum = rates.paced(scenario.make(...), 10e9, 64)
    return {each[1] and rates.text(each[1], "pps"), each[2] and rates.text(each[2], "pps"),
            sum and rates.text(sum, "pps")}
  end
  rig.same(paced("p2p", 0, "bi", "memif"), {"14.9 Mpps", "14.9 Mpps", "29.8 Mpps"})
  rig.same(paced("loopback", 2, "uni", "memif"), {"14.9 Mpps", nil, "14.9 Mpps"})
  -- What comes from a VNF ends at a physical port.
  rig.same(paced("p2v", 0, "rev", "memif"), {"14.9 Mpps", nil, "14.9 Mpps"})
  rig.same(paced("v2v", 0, "bi", "memif"), {})
  rig.same({rates.paced(scenario.make("p2p", 0, "bi", "memif"), nil, 64)}, {{}})
end)
