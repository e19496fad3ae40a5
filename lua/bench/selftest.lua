-- SPDX-License-Identifier: BSD-3-Clause
-- `bench selftest`: what the harness says of switches and generators whose limits are known.

local json = require "sluice.json"
local native = require "sluice.bench.native"
local random = require "sluice.bench.random"
local rates = require "sluice.bench.rates"
local running = require "sluice.bench.running"
local search = require "sluice.bench.search"
local verdict = require "sluice.bench.verdict"
local burn = require "sluice.bench.selftest_burn"

-- Cycles a packet: so many that a ring lasts for longer than a worker waits for its core, whatever
-- else runs, so that the switch (the generator) is the limit in every trial.
local BURN, MORE, THROTTLE = 50000, 50000, 50000
local TRIALS, TRIALS_MOST = 20, 60 -- of both in turn: more where these cannot tell

local function cell_of(more)
  local cell = {scenario = "p2p", vnfs = 0, size = 64, dir = "uni", wire = "memif", vnf = "none",
                switch = {name = "sluice"}}
  for key, value in pairs(more) do cell[key] = value end
  return cell
end

-- Cells of one name differ in what they burn: each is started anew.
local function measure(self, more, seconds)
  self:stop()
  local one
  for _ = 1, 5 do
    one = self:trial(cell_of(more), {seconds = seconds, calm = more.calm}, "mrr", 1)
    if one.valid then break end
  end
  return one
end

-- R+ goes from hz / c to hz / (c + k). The same switch is given now the one and now the other, since
-- speeds of the host itself drift.
local function burn_moves(self, seconds)
  local cell, list, hz = cell_of{burn = BURN}, {}, native.hz()
  self:stop()
  local held, text
  repeat
    local i = #list + 1
    local cycles = i % 2 == 1 and BURN or BURN + MORE
    self:ensure(cell):burn(cycles)
    list[i] = self:trial(cell, {seconds = seconds, calm = true}, "mrr", i)
    if i >= TRIALS then held, text = burn.judge(hz, list, BURN, MORE) end
  until i == TRIALS_MOST or held ~= nil
  return held, text
end

-- Every frame of an overloaded switch is somewhere.
local function loss_balances(self, seconds)
  local one = measure(self, {}, seconds)
  return one.residual == 0 and one.intended > one.received,
         ("%d frames: %d refused, %d lost inside, %d received, %d unaccounted for"):format(
             one.intended, one.refused, one.lost_inside, one.received, one.residual)
end

-- A simulated switch that forwards so much and loses a little now and then.
local function search_finds()
  local draw, rate, most = random.new(1), 7.3e6, 14.88e6
  local finding = search.new("ndr", {max_pps = most})
  for load in finding.next do
    local sent = load.pps * load.seconds
    local lost = math.max(0, sent - rate * load.seconds)
    if draw:number() < 0.1 then lost = lost + 0.01 * sent end
    finding.tell{intended = sent, received = sent - lost, rx_pps = (sent - lost) / load.seconds}
  end
  local found = finding.result and finding.result.pps or 0
  return found <= rate and found >= 0.99 * rate,
         ("%s of a simulated %s"):format(rates.text(found, "pps"), rates.text(rate, "pps"))
end

-- A generator that wastes its core is named.
local function generator_named(self, seconds)
  local one, text
  for _ = 1, 5 do
    one = measure(self, {burn_traffic = THROTTLE, calm = true}, seconds)
    text = ("limited by: %s, %s"):format(one.verdict, one.verdict_why)
    if one.verdict == "generator" then return true, text end
    -- A switch that is not let run long enough for its ring to fill makes frames be refused.
    if (one.waited.switch or 0) < verdict.limits.stalled then return false, text end
  end
  return nil, text .. (" (something else had its core for %.0f %% of the time)"):format(
      100 * one.waited.switch)
end

local tests = {
  {"the search finds the rate of a simulated switch", search_finds},
  {"loss balances to zero", loss_balances},
  {"burning cycles in the switch moves R+ as it should", burn_moves},
  {"a throttled generator is named as the limit", generator_named},
}

--- The exit code: 1 where a test failed, 3 where the host let one not be judged.
return function(values)
  values.switch, values.search = {"sluice"}, "mrr"
  local failed, untold = false, false
  local code = running(values, function(self)
    for _, test in ipairs(tests) do
      self:progress(test[1])
      local held, text = test[2](self, values.time or 0.2)
      local word = held == nil and "skipped" or held and "ok" or "not ok"
      failed, untold = failed or held == false, untold or held == nil
      self:progress(nil)
      if values.json then
        self:say("%s", json.encode{test = test[1], state = word, seen = text})
      else
        self:say("%s %s: %s", word, test[1], text)
      end
    end
  end)
  return failed and 1 or untold and 3 or code
end
