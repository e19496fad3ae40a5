-- SPDX-License-Identifier: BSD-3-Clause
-- `bench selftest`: what the harness says of switches and generators whose limits are known.

local json = require "sluice.json"
local native = require "sluice.bench.native"
local random = require "sluice.bench.random"
local rates = require "sluice.bench.rates"
local running = require "sluice.bench.running"
local search = require "sluice.bench.search"
local stats = require "sluice.bench.stats"

local BURN, MORE = 2000, 2000 -- cycles a packet: much beside what a switch that does nothing takes
local PAIRS = 3
local TOLERANCE = 0.1         -- beside the spread of the trials

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
    one = self:trial(cell_of(more), {seconds = seconds}, "mrr", 1)
    if one.valid then break end
  end
  return one
end

local function spread(values)
  local summary = stats.summary(values)
  return (summary.max - summary.min) / summary.median
end

-- R+ goes from hz / c to hz / (c + k).
local function burn_moves(self, seconds)
  local before, after = {}, {}
  for i = 1, PAIRS do
    before[i] = native.hz() / measure(self, {burn = BURN}, seconds).rx_pps
    after[i] = native.hz() / measure(self, {burn = BURN + MORE}, seconds).rx_pps
  end
  local c, moved = stats.median(before), stats.median(after)
  local wide = TOLERANCE + math.max(spread(before), spread(after))
  local text = ("%.0f cycles a packet became %.0f, expected %.0f within %.0f %%"):format(
      c, moved, c + MORE, 100 * wide)
  return math.abs(moved - (c + MORE)) <= wide * (c + MORE), text
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
  local one = measure(self, {burn_traffic = 3000}, seconds)
  if one.verdict == "noise" then return nil, "the host is too noisy: " .. one.verdict_why end
  return one.verdict == "generator", ("limited by: %s, %s"):format(one.verdict, one.verdict_why)
end

local tests = {
  {"the search finds the rate of a simulated switch", search_finds},
  {"loss balances to zero", loss_balances},
  {"burning cycles in the switch moves R+ as it should", burn_moves},
  {"a throttled generator is named as the limit", generator_named},
}

return function(values)
  values.switch, values.search = {"sluice"}, "mrr"
  local failed = false
  local code = running(values, function(self)
    for _, test in ipairs(tests) do
      local held, text = test[2](self, values.time or 0.3)
      local word = held == nil and "skipped" or held and "ok" or "not ok"
      failed = failed or held == false
      if values.json then
        self:say("%s", json.encode{test = test[1], state = word, seen = text})
      else
        self:say("%s %s: %s", word, test[1], text)
      end
    end
  end)
  return failed and 1 or code
end
