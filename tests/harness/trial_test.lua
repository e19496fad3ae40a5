-- SPDX-License-Identifier: BSD-3-Clause
-- Trials in a world whose speeds are known: window and load, start barrier, drain, balance, hiccups,
-- flips of the mode, waits for a core. Each is provoked.

local rig = require "rig"
local world = require "world"
local test, same, check, near = rig.test, rig.same, rig.check, rig.near
world.install()

test("full load: what is received in the window is what the switch can do", function()
  local one = world.trial({seconds = 0.5})
  near(one.rx_pps, 3e6, 0.005)
  same({one.verdict, one.valid, one.residual, one.why}, {"switch", true, 0})
  near(one.switch_cycles_per_packet, 1e9 / 3e6, 0.01)
  same(one.intended, one.refused + one.received)
end)

test("a load that is carried is sent whole, and nothing limits it", function()
  local one = world.trial({pps = 1e6, seconds = 0.5})
  near(one.intended, 5e5, 0.003)
  same({one.intended - one.received, one.verdict, one.valid}, {0, "none", true})
end)

test("a load that is too much loses what the switch cannot do", function()
  local one = world.trial({pps = 4e6, seconds = 0.5})
  near(one.received / one.intended, 0.75, 0.01)
  same({one.verdict, one.valid, one.refused}, {"switch", true, one.intended - one.received})
end)

test("a burst is sent to the frame", function()
  local one = world.trial({pps = 5e6, frames = 1500, seconds = nil})
  same({one.intended, one.received}, {1500, 1500})
end)

test("generator and monitor: who is slow is named", function()
  local one = world.trial({seconds = 0.2}, {offered = 2e6, traffic_busy = 1})
  near(one.rx_pps, 2e6, 0.01)
  same(one.verdict, "generator")
  one = world.trial({seconds = 0.2}, {monitor = 1e6})
  near(one.rx_pps, 1e6, 0.01)
  same(one.verdict, "monitor")
  check(one.drops[2].hop == "switch to monitor" and one.drops[2].frames > 0, "%s", rig.text(one.drops))
  same(one.residual, 0)
end)

test("start barrier: the window waits until packets come without a pause for 200 ms", function()
  -- They come, stop again until 1.3 s, and stay.
  local one, state = world.trial({seconds = 0.2}, {pause = function(now) return now > 0.1 and now < 1.3 end})
  near(one.rx_pps, 3e6, 0.01)
  same(one.verdict, "switch")
  check(state.window.ends - 0.2 > 1.45, "the window opened at %.2f s", state.window.ends - 0.2)
end)

test("start barrier: packets that come and go make a trial noise", function()
  local one = world.trial({seconds = 0.2}, {pause = function(now) return now % 0.1 < 0.05 end})
  same(one.verdict, "noise")
  check(one.verdict_why:find("200 ms without a pause", 1, true), "%s", one.verdict_why)
  same(one.residual, 0)
end)

test("start barrier: that nothing comes at all is an error", function()
  rig.raises("no packets are received any more", world.trial, {seconds = 0.2}, {capacity = 0})
end)

test("drain: what is under way at the end is waited for", function()
  -- 1,000 frames lie in the switch's ring when the generator stops, and it takes 50 ms for them.
  local one = world.trial({pps = 1e5, seconds = 0.2}, {capacity = 9.5e4})
  same({one.intended - one.received, one.residual, one.valid}, {0, 0, true})
end)

test("drain: frames that come in clusters are waited for", function()
  -- After the load the monitor is let run for 20 ms in each 300.
  local one = world.trial({pps = 1e6, seconds = 0.2}, {
    monitor = 3e4, capacity = 1e6, pause = function(now) return now > 0.2 and now % 0.3 > 0.02 end})
  same({one.residual, one.valid, one.verdict}, {0, true, "monitor"})
end)

test("balance: frames that nobody has counted make a trial invalid", function()
  local one = world.trial({pps = 1e6, seconds = 0.2}, {lose = 3})
  same({one.residual, one.valid}, {3, false})
  check(one.why:find("3 frames are unaccounted for (accepted = received + lost inside", 1, true), "%s",
        one.why)
end)

test("core-to-core probe: a trial in which the mode flips is invalid, and noise", function()
  local one = world.trial({seconds = 0.2}, {modes = {60, 350}})
  same({one.valid, one.verdict, one.mode, one.mode_ns}, {false, "noise", "far", 350})
  check(one.why:find("from near to far", 1, true), "%s", one.why)
  one = world.trial({seconds = 0.2}, {modes = {5000, 350}})
  same({one.valid, one.verdict, one.mode}, {true, "switch", "far"}, "what is not known has not flipped")
  one = world.trial({seconds = 0.2}, {modes = {60, 5000}})
  same({one.valid, one.mode}, {true, nil})
end)

test("hiccups: with loss, one longer than the rings last makes a load's trial invalid", function()
  local long = {n = 1, sum_ns = 2e6, longest_ns = 2e6} -- 2 ms; 1,024 frames are 0.34 ms at 3 Mpps
  local one = world.trial({pps = 3.004e6, seconds = 0.5}, {hiccups = long})
  same(one.valid, false)
  check(one.why:find("a hiccup of 2000 us is more than the rings hold", 1, true), "%s", one.why)
  same(one.hiccups, {n = 1, sum_us = 2000, longest_us = 2000})
  check(world.trial({pps = 1e6, seconds = 0.5}, {hiccups = long}).valid, "without loss it counts")
  check(world.trial({pps = 4e6, seconds = 0.5}, {hiccups = long}).valid, "half a million are not lost by it")
  check(world.trial({pps = 3.004e6, seconds = 0.5}, {hiccups = {n = 1, sum_ns = 1e5, longest_ns = 1e5}}).valid,
        "a short one explains nothing")
  same(world.trial({seconds = 0.5}, {hiccups = {n = 9, sum_ns = 5e7, longest_ns = 6e6}}).verdict, "noise")
end)

test("waits: a core that something else has had is told, whose ever it is", function()
  local shared = {switch = {run_s = 0.6, wait_s = 0.4, slices = 200}, traffic = {}}
  local one = world.trial({seconds = 0.5}, {waits = shared})
  near(one.waited.switch, 0.4)
  near(one.switch_core_ns, 0.6e9 / 3e6, 0.02)
  same({one.verdict, one.waited.traffic}, {"noise", nil})
  check(one.verdict_why:find("something else had the core of the switch for 40 %", 1, true), "%s",
        one.verdict_why)
  same(world.trial({seconds = 0.5, calm = true}, {waits = shared}).verdict, "switch")
  -- 2 ms at a time.
  one = world.trial({pps = 4e6, seconds = 0.5}, {waits = shared})
  check(not one.valid and one.why:find("the core of the switch, 20%d%d us at a time"), "%s", one.why)
end)

test("core-to-core probe: near, far, or not known", function()
  local mode = require "sluice.bench.mode"
  same({mode.of(50), mode.of(350), mode.of(149), mode.of(150)}, {"near", "far", "near", "far"})
  same({mode.of(2001), mode.of(nil)}, {})
end)
