-- SPDX-License-Identifier: BSD-3-Clause
-- One trial of a switch that runs: a window of time at full load, or a load that is sent whole and
-- waited for. Counts of both processes before and after, when nothing is under way, must add up.

local mode = require "sluice.bench.mode"
local native = require "sluice.bench.native"
local rates = require "sluice.bench.rates"
local roles = require "sluice.bench.roles"
local process = require "sluice.bench.process"
local verdict = require "sluice.bench.verdict"
local waits = require "sluice.bench.waits"
local trial = {}

local RING = 1024
local DELAY_S = 0.02 -- from asking generators to start to their first frame
local STEADY_S, STEADY_STEP_S, STEADY_MOST_S = 0.2, 0.01, 5
local SETTLE_S, SETTLE_MOST_S = 1, 20

-- What each generator is to send a second; nil: as fast as it goes.
local function pps_of(dut, load)
  local spec = dut.spec
  local each = rates.paced(spec.scenario, spec.link_bps, spec.size)
  for f in ipairs(load.pps and spec.scenario.flows or {}) do
    each[f] = load.pps / #spec.scenario.flows
  end
  return each
end

local function generators_start(dut, load, more)
  local each = pps_of(dut, load)
  for f in ipairs(dut.spec.scenario.flows) do
    local args, pps = {}, each[f]
    if pps then args.rate = ("%dpps"):format(math.max(1, math.floor(pps + 0.5))) end
    for key, value in pairs(more or {}) do args[key] = value end
    dut.traffic.instance:call("gen" .. f, "start", args)
  end
end

-- Packets must be received without a pause before the window opens. false: they never were, which is
-- the host's doing if any came at all.
local function barrier(dut, most)
  local first = dut.traffic:received()
  local last, steady, step = dut.traffic:received(), 0, STEADY_STEP_S
  local held = dut:wait_until(function()
    local now, all = dut.traffic:received(), true
    for f, n in ipairs(now) do all = all and n > last[f] end
    last, steady = now, all and steady + step or 0
    return steady >= STEADY_S
  end, most, step)
  local came = held or dut:wait_until(function()
    for f, n in ipairs(dut.traffic:received()) do
      if n == first[f] then return false end
    end
    return true
  end, 15, step)
  if not came then process.stop(1, "%s: no packets are received any more", dut.spec.switch) end
  return held
end

-- Counters of both processes in the midst of traffic, and what the scheduler says of their workers.
local function state(dut)
  return {traffic = dut.traffic.instance:stats(), switch = dut:counters_live(), waits = dut:waits()}
end

local function duration(seconds) return ("%dus"):format(math.floor(seconds * 1e6 + 0.5)) end

-- Full load: what is received within a window of the worker's clock.
local function window(dut, load)
  local t = dut.traffic
  generators_start(dut, load)
  local steady = barrier(dut, load.calm and STEADY_S or STEADY_MOST_S)
  t:each("meter", "window", {duration = duration(load.seconds)})
  t.instance:call("gen1", "gaps")
  local begin = state(dut)
  dut:wait(load.seconds)
  dut:wait_until(function()
    for _, one in ipairs(t:each("meter", "look")) do
      if one.window ~= "done" then return false end
    end
    return true
  end, 5, 0.002)
  local ended = state(dut)
  local gaps = t.instance:call("gen1", "gaps")
  t:each("gen", "stop")
  gaps.unsteady = not steady
  return begin, ended, gaps
end

-- A load that is sent whole: as long as asked for, or so many frames. The answers to `start`, and all
-- that is asked before and after, take a core for a millisecond where both have a worker: nobody is
-- asked while frames are sent.
local function finite(dut, load)
  local t, flows = dut.traffic, #dut.spec.scenario.flows
  t:each("meter", "reset")
  t.instance:call("gen1", "gaps")
  local begin = state(dut)
  local more = {delay = duration(DELAY_S)}
  if load.frames then
    more.count = math.max(1, load.frames // flows)
  else
    more.duration = duration(load.seconds)
  end
  generators_start(dut, load, more)
  local seconds = load.frames and load.frames / load.pps or load.seconds
  dut:wait(DELAY_S + seconds)
  dut:wait_until(function()
    for _, one in ipairs(t:each("gen", "status")) do
      if one.running then return false end
    end
    return true
  end, seconds + 10, 0.005)
  local ended = state(dut)
  return begin, ended, t.instance:call("gen1", "gaps")
end

local function add(sum, reads)
  for _, one in ipairs(reads) do
    for key, value in pairs(one) do
      if math.type(value) == "integer" then sum[key] = (sum[key] or 0) + value end
    end
  end
  return sum
end

-- Rates, and what limits them.
local function judge(one, dut, load, at)
  local spec = dut.spec
  local _, wire_pps = rates.paced(spec.scenario, spec.link_bps, spec.size)
  local found = verdict.of{
    roles = at.roles, seconds = one.seconds, rx_pps = one.rx_pps, intended_pps = load.pps,
    wire_pps = wire_pps, ceiling_pps = one.ceiling_pps, dropped_to = at.dropped_to,
    unsent = one.unsent, lost_inside = one.lost_inside,
    hiccups = {long_s = at.long_s}, waited = one.waited,
    mode_before = at.mode_before, mode_after = at.mode_after, calm = load.calm}
  one.verdict, one.verdict_why = found.limited_by, found.why
  if at.unsteady and not load.calm then
    one.verdict, one.verdict_why = "noise", "packets never came for 200 ms without a pause"
  end
end

-- Whether it counts, and why not.
local function validate(one, load, at)
  local function invalid(why, ...)
    if one.valid then one.valid, one.why = false, why:format(...) end
  end
  one.valid = true
  if not at.balance.whole then invalid("%s", table.concat(at.balance.faults, "; ")) end
  if at.mode_before ~= at.mode_after then
    invalid("the mode of the cores went from %s to %s", at.mode_before, at.mode_after)
  end
  -- More than what came while a core was away is lost for another reason.
  local stalled_s = at.long_s + one.seconds * (one.waited and one.waited.switch or 0)
  local explained = load.pps and at.balance.lost > 0
                    and at.balance.lost <= load.pps * stalled_s + RING
  local longest_s = one.hiccups.longest_us / 1e6
  if explained and longest_s > RING / load.pps then
    invalid("a hiccup of %.0f us is more than the rings hold at that rate", one.hiccups.longest_us)
  end
  for _, name in ipairs{"traffic", "switch"} do
    local each_s = at.waits[name] and at.waits[name].each_s or 0
    if explained and each_s > RING / load.pps then
      invalid("something else had the core of the %s, %.0f us at a time: more than the rings hold at "
              .. "that rate", name, each_s * 1e6)
    end
  end
end

-- Frames between a state and now, when nothing is under way any more: nothing has come for 10 ms, and
-- what the switch says adds up, or does not for a second in which no frame has come either (where the
-- switch has little of its core, or a virtual machine waits for one, frames come in clusters).
local function settle(dut, before)
  local frames, drops, switch
  local received, came
  dut.traffic:drain()
  dut:wait_until(function()
    switch = dut:counters()
    frames, drops = roles.frames(dut.spec.scenario, before,
                                 {traffic = dut.traffic.instance:stats(), switch = switch})
    if frames.received ~= received then received, came = frames.received, native.now() end
    return verdict.balance(frames).residual.inside == 0
           or native.now() - came > SETTLE_S * 1e9
  end, SETTLE_MOST_S, 0.02)
  return frames, drops, roles.cycles(before.switch, switch)
end

local function run(dut, load)
  local spec = dut.spec
  local mode_before = mode.probe(spec.main_core, spec.core)
  dut.traffic:drain()
  local before = {traffic = dut.traffic.instance:stats(), switch = dut:counters()}
  local begin, ended, gaps = (load.pps and finite or window)(dut, load)
  local frames, drops, cycles = settle(dut, before)
  local mode_after, mode_ns = mode.probe(spec.main_core, spec.core)
  dut:check_alive()
  local reads = dut.traffic:each("meter", "read", {histogram = load.histogram and "plain" or "none"})
  local sum = add({}, reads)
  local seconds = load.frames and load.frames / load.pps or load.seconds
  local one = {
    warmup = load.warmup == true, seconds = seconds, intended_pps = load.pps,
    rx_pps = (sum.received - sum.duplicates - sum.old) / seconds,
    mode = mode_after, mode_ns = mode_ns, reads = reads,
    ceiling_pps = load.ceiling and load.ceiling(mode_after) or nil,
    hiccups = {n = gaps.hiccups, sum_us = gaps.sum_ns / 1e3, longest_us = gaps.longest_ns / 1e3}}
  local at = roles.read(spec.scenario, begin, ended)
  at.long_s = gaps.long_ns / 1e9
  -- What is not known has not flipped.
  at.mode_before, at.mode_after = mode_before or mode_after, mode_after or mode_before
  at.balance, at.unsteady = verdict.balance(frames), gaps.unsteady
  one.residual = math.abs(at.balance.residual.generator) + math.abs(at.balance.residual.wire)
                 + math.abs(at.balance.residual.inside)
  for _, name in ipairs{"intended", "attempted", "unsent", "accepted", "refused", "received",
                        "lost_inside", "duplicates", "reordered", "damaged"} do
    one[name] = frames[name]
  end
  one.drops, one.busy, one.waited = drops, at.busy, {}
  at.waits = {}
  for _, name in ipairs{"traffic", "switch"} do
    at.waits[name] = waits.between(begin.waits[name], ended.waits[name])
    one.waited[name] = at.waits[name] and at.waits[name].share
  end
  local rx = ended.switch.rx and begin.switch.rx and ended.switch.rx - begin.switch.rx or 0
  one.switch_core_ns = rx > 0 and at.waits.switch and at.waits.switch.run_s * 1e9 / rx or nil
  one.switch_cycles_per_packet = at.cycles_per_packet or cycles
  judge(one, dut, load, at)
  validate(one, load, at)
  return one
end

--- Runs a trial. `load`: as a search asks for it: pps (nil: as fast as it goes), seconds, frames;
--- ceiling: a function of the mode, what the reference forwarder reaches in it; calm: what the host
--- does is not looked at. What a `trial` record has beside its cell, and
--- `reads`: what the meters say.
function trial.run(dut, load) return dut:alive(run, dut, load) end

return trial
