-- SPDX-License-Identifier: BSD-3-Clause
-- What reports are made of: the final figures of records, in the order in which a reader wants
-- them.

local record = require "sluice.bench.record"
local stats = require "sluice.bench.stats"
local report = {}

local scenarios = {p2p = 1, p2v = 2, v2v = 3, loopback = 4}
local dirs = {uni = 1, rev = 2, bi = 3}
local switches = {sluice = 1, testpmd = 2, ovs = 3, bess = 4, fastclick = 5, vpp = 6, snabb = 7}

-- Days since 1970 of a date (Howard Hinnant's days_from_civil): os.time() knows local time only.
local function days(year, month, day)
  if month <= 2 then year = year - 1 end
  local era = year // 400
  local of_era = year - era * 400
  local of_year = (153 * (month + (month > 2 and -3 or 9)) + 2) // 5 + day - 1
  return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468
end

--- Seconds since 1970 of a record's time; nil if it is none.
function report.seconds(time)
  local form = "^(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)Z$"
  local year, month, day, hour, minute, second = time:match(form)
  if not year then return nil end
  return days(math.tointeger(year), math.tointeger(month), math.tointeger(day)) * 86400
         + hour * 3600 + minute * 60 + second // 1
end

local function before(a, b, keys)
  for _, key in ipairs(keys) do
    local x, y = key(a), key(b)
    if x ~= y then return x < y end
  end
  return false
end

local keys = {
  function(one) return scenarios[one.scenario] end, function(one) return one.vnfs end,
  function(one) return one.size end, function(one) return dirs[one.dir] end,
  function(one) return one.wire end, function(one) return one.vnf end,
  function(one) return switches[one.switch.name] or 99 end,
  function(one) return one.switch.name end,
  function(one) return one.metric or "" end, function(one) return one.load or 0 end,
  function(one) return one.mode or "" end, function(one) return one.test end,
}

local function sort(list) table.sort(list, function(a, b) return before(a, b, keys) end) end

-- The last one of each key, in the order of reading.
local function latest(list, key_of)
  local at, kept = {}, {}
  for _, one in ipairs(list) do
    local key = key_of(one)
    if not at[key] then at[key] = #kept + 1 end
    kept[at[key]] = one
  end
  return kept
end

-- A ratio to a figure of testpmd's that is not its own is at most that.
local function ratios_mark(results)
  local cut = {}
  local function key(one)
    return table.concat({report.scenario(one), one.size, one.dir, one.wire, one.vnf, one.metric,
                         one.mode or ""}, "\0")
  end
  for _, one in ipairs(results) do
    if one.switch.name == "testpmd" and not one.own then cut[key(one)] = true end
  end
  for _, one in ipairs(results) do
    if one.ratio_to_testpmd and cut[key(one)] then one.ratio_at_most = true end
  end
end

--- Final figures: of each host, cell, metric and mode the last result that was written.
---@param records table[]
---@return {envs: table[], results: table[], latency: table[], compare: table[], intrinsic: table[],
---  iperf3: table[], trials: table[], hosts: table<string, string>}
function report.collect(records)
  local all = {env = {}, trial = {}, result = {}, latency = {}, compare = {}, intrinsic = {},
               iperf3 = {}}
  local hosts = {}
  for _, one in ipairs(records) do
    table.insert(all[one.type], one)
    if one.type == "env" then hosts[one.session] = one.host.name end
  end
  local function key(one)
    return table.concat({hosts[one.session] or "", one.test or one.switch.name, one.metric or one.load or "",
                         one.mode or "", one.a or "", one.b or ""}, "\0")
  end
  local data = {envs = all.env, trials = all.trial, hosts = hosts,
                results = latest(all.result, key), latency = latest(all.latency, key),
                compare = latest(all.compare, key), intrinsic = latest(all.intrinsic, key),
                iperf3 = latest(all.iperf3, key)}
  sort(data.results)
  sort(data.latency)
  ratios_mark(data.results)
  return data
end

--- The records of several files; faults are told as `FILE:LINE: text`. Of a file that cannot be
--- read that is a fault too.
---@param paths string[]
---@return table[] records
---@return string[] faults
function report.read(paths)
  local records, faults = {}, {}
  for _, path in ipairs(paths) do
    local some, wrong = record.read(path)
    if not some then
      faults[#faults + 1] = wrong
    else
      table.move(some, 1, #some, #records + 1, records)
      table.move(wrong, 1, #wrong, #faults + 1, faults)
    end
  end
  return records, faults
end

--- What a cell is called without its switch, and its scenario in words.
function report.scenario(one)
  return one.scenario == "loopback" and "loopback " .. one.vnfs or one.scenario
end

--- Chains by switch, for cells that differ in nothing else: a list of {name, switch, lengths,
--- rates, own, fit}, fits of three lengths and more. One mode a chain.
---@param results table[] sorted
function report.chains(results)
  local chains, at = {}, {}
  for _, one in ipairs(results) do
    if one.scenario == "loopback" and one.value_pps.median > 0 then
      local name = ("%gB %s %s %s"):format(one.size, one.dir, one.wire, one.vnf)
      local key = table.concat({name, one.switch.name, one.metric, one.mode or "",
                                one.link_bps or ""}, "\0")
      if not at[key] then
        at[key] = {name = name, switch = one.switch.name, mode = one.mode, metric = one.metric,
                   lengths = {}, rates = {}, low = {}, high = {}, own = true}
        chains[#chains + 1] = at[key]
      end
      local chain = at[key]
      table.insert(chain.lengths, one.vnfs)
      table.insert(chain.rates, one.value_pps.median)
      table.insert(chain.low, one.value_pps.min)
      table.insert(chain.high, one.value_pps.max)
      chain.own = chain.own and one.own
    end
  end
  for _, chain in ipairs(chains) do
    if #chain.lengths >= 3 then chain.fit = stats.chain(chain.lengths, chain.rates) end
  end
  return chains
end

return report
