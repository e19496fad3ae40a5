-- SPDX-License-Identifier: BSD-3-Clause
-- Results that no machine has measured: one record of each kind, and a session like a real one, in
-- which medians and shapes are near what three switches did once. Whoever reads a record is told by
-- its host's name and its configuration.

local random = require "sluice.bench.random"
local rates = require "sluice.bench.rates"
local stats = require "sluice.bench.stats"
local record = require "sluice.bench.record"
local made = {}

local function round(x, step) return math.floor(x / (step or 1) + 0.5) * (step or 1) end

function made.without(value, name)
  local copy = {}
  for key, part in pairs(value) do if key ~= name then copy[key] = part end end
  return copy
end

local function clock(seconds) return os.date("!%Y-%m-%dT%H:%M:%SZ", 1767225600 + seconds) end

local function env(session, when, mode, at)
  return record.new("env", {
    session = session, time = clock(at), when = when,
    command = "sluice bench suite paper --switch sluice,testpmd,ovs -o results.jsonl",
    host = {name = "synthetic", cpu = "Example CPU at 2.50 GHz", cores = 2, caches = "32K 1M 32M",
            tsc_hz = 2.5e9, tsc_flags = {"constant_tsc", "nonstop_tsc"}, hypervisor = "KVM",
            kernel = "6.1.0-30-amd64", hugepages = "none"},
    build = {version = "0.5", commit = "0123456789abcdef", dirty = false, compiler = "gcc 12.2.0",
             flags = "-O3 -march=native", dpdk = "22.11.11"},
    load = {0.12, 0.2, 0.18}, steal = 0.001, mode = mode, mode_ns = mode == "far" and 352 or 51,
    config = {note = "made up for tests: no machine has measured this", burst = 32, ring = 1024,
              pool = 16384, seed = 1, trials = 7},
    switches = {{name = "sluice", version = "0.5", command = "sluice run p2p.lua"},
                {name = "testpmd", version = "22.11.11", command = "dpdk-testpmd -l 0,1 ..."},
                {name = "ovs", version = "3.1.0", command = "ovs-vswitchd-dpdk ..."}},
  })
end

local function cell(session, at, scenario, vnfs, dir, size, name)
  local one = {
    session = session, time = clock(at), suite = "paper", scenario = scenario, vnfs = vnfs,
        dir = dir,
    size = size, wire = scenario == "v2v" and "vhost" or "memif",
    vnf = scenario == "loopback" and "io" or "none", vnf_in = "container",
    switch = {name = name, version = ({sluice = "0.5", testpmd = "22.11.11", ovs = "3.1.0"})[name]},
  }
  one.test = record.test(one)
  return one
end

local function with(kind, base, more)
  local one = {}
  for key, value in pairs(base) do one[key] = value end
  for key, value in pairs(more) do one[key] = value end
  local new = record.new(kind, one)
  new.time = base.time
  return new
end

-- Mpps at 64 bytes.
local known = {
  p2p = {sluice = 27.4, testpmd = 26.8, ovs = 14.3},
      p2v = {sluice = 18.6, testpmd = 17.6, ovs = 12.2},
  v2v = {sluice = 15.9, testpmd = 14.8, ovs = 11.9}, ["loopback:1"] = {sluice = 10.2, testpmd = 9.7,
      ovs = 6.2},
}

-- A chain takes 1/R = a + b N; larger frames are a little slower.
local function truth(scenario, vnfs, size, dir, name)
  local pps = (known[scenario] or known["loopback:1"])[name] * 1e6
  if vnfs > 1 then
    pps = 1e9 / (1e9 / pps + (vnfs - 1) * ({sluice = 56, testpmd = 58, ovs = 97})[name])
  end
  return pps * (dir == "bi" and 1.12 or 1) / (1 + (size - 64) / 2600)
end

local function limit(scenario, size, name)
  if scenario == "p2p" and name ~= "ovs" then
    return "generator", "its core is 98 % busy, 61 % with it"
  end
  if size == 1024 and name == "sluice" and scenario == "v2v" then
    return "monitor", "its core is 97 % busy, 55 % with it"
  end
  return "switch", "its core is 99 % busy and rings before it refuse 12 %"
end

local function trial(base, draw, n, pps, mode)
  local rx = round(pps * (1 + 0.025 * draw:normal()))
  local refused, verdict, why = 0, limit(base.scenario, base.size, base.switch.name)
  if verdict == "switch" then refused = round(rx * 0.12) end
  local hiccup = draw:number() < 0.06
  local inside = base.scenario == "loopback" and round(rx * 0.01) or 0
  return with("trial", base, {
    search = "mrr", n = n, warmup = n == 0, seconds = 1, rx_pps = rx,
        intended = rx + refused + inside,
    attempted = rx + refused + inside, unsent = 0, accepted = rx + inside, refused = refused,
    received = rx, lost_inside = inside, duplicates = 0, reordered = 0, damaged = 0, residual = 0,
    switch_cycles_per_packet = round(2.5e9 / pps, 0.1),
    busy = {switch = verdict == "switch" and 0.99 or 0.83, generator = 0.61, monitor = 0.32},
    drops = inside > 0 and {{hop = "switch to vnf 1", frames = inside}} or {},
    mode = mode, mode_ns = mode == "far" and 351 or round(50 + 3 * draw:number(), 0.1),
    hiccups = {n = hiccup and 1 or 0, sum_us = hiccup and 1840 or 0, longest_us = hiccup and 1840
               or 0},
    valid = not hiccup, why = hiccup and "a hiccup of 1840 us is longer than the ring" or nil,
    verdict = verdict, verdict_why = why,
  })
end

-- A cell: its trials, then its result.
local function measure(out, draw, base, trials, reference)
  local mode = base.size == 256 and base.scenario == "v2v" and base.switch.name == "ovs" and "far"
      or "near"
  local pps = truth(base.scenario, base.vnfs, base.size, base.dir,
                    base.switch.name) * (mode == "far" and 0.6 or 1)
  local values, invalid, longest, n, inside = {}, 0, 0, 0, 0
  while #values < trials do
    local one = trial(base, draw, n, pps, mode)
    out[#out + 1] = one
    if one.valid and n > 0 then values[#values + 1] = one.rx_pps end
    if not one.valid then invalid, longest = invalid + 1, 1840 end
    inside = inside + one.lost_inside
    n = n + 1
  end
  local summary = stats.summary(values)
  local by, why = limit(base.scenario, base.size, base.switch.name)
  out[#out + 1] = with("result", base, {
    metric = "mrr", value_pps = summary,
    l1_gbps = round(rates.l1_bps(summary.median, base.size) / 1e9, 0.001),
    l2_gbps = round(rates.l2_bps(summary.median, base.size) / 1e9, 0.001),
    limited_by = by, limited_why = why, own = by == "switch",
    cycles_per_packet = by == "switch" and round(2.5e9 / pps, 0.1) or nil,
    ratio_to_testpmd = reference and mode == "near" and round(summary.median / reference, 0.001)
        or nil,
    mode = mode, trials = n, invalid = invalid, memory_bytes = 36 << 20, hugepage_bytes = 12 << 20,
    hiccups = {n = invalid, sum_us = invalid * 1840, longest_us = longest},
    drops = inside > 0 and {{hop = "switch to vnf 1", frames = inside}} or {},
    command = ("sluice bench run %s --size %d --dir %s --switch %s"):format(
        base.scenario == "loopback" and "loopback:" .. base.vnfs or base.scenario, base.size,
            base.dir,
        base.switch.name),
  })
  return summary.median
end

local function latency(base, load, rplus)
  -- A distribution whose middle moves with the load, and a tail that grows with it.
  local middle = 4000 * (1 + 2 * load ^ 2) * ({sluice = 1, testpmd = 1.1,
                                               ovs = 1.7})[base.switch.name]
  if load > 0.9 then middle = 4 * middle end
  local histogram, total = {}, 0
  for i = 0, 44 do
    local x = (i - 14) / 7
    local frames = round(1e6 * math.exp(x < 0 and -x * x * 2 or -x * 2.4))
    if frames > 0 then
      histogram[#histogram + 1] = {round(middle * 2 ^ ((i - 14) / 7), 1), frames}
      total = total + frames
    end
  end
  local function at(share)
    local sum = 0
    for _, bucket in ipairs(histogram) do
      sum = sum + bucket[2]
      if sum >= share * total then return bucket[1] end
    end
    return histogram[#histogram][1]
  end
  return with("latency", base, {
    load = load, rplus_pps = rplus, offered_pps = round(load * rplus), seconds = 1, sent = total,
    received = total, matched = total, baseline = base.switch.name == "testpmd",
        queueing = load > 0.9,
    percentiles_ns = {p0 = histogram[1][1], p50 = at(0.5), p90 = at(0.9), p99 = at(0.99),
                      p99_9 = at(0.999), p99_99 = at(0.9999), p100 = at(1)},
    histogram = histogram, mode = "near", hiccups = {n = 0, sum_us = 0, longest_us = 0},
    limited_by = "none", command = ("sluice bench latency %s --load %g"):format(base.scenario,
        load),
  })
end

local names = {"testpmd", "sluice", "ovs"}

--- The session, as a list of records.
function made.stored()
  local draw, out, at = random.new(1), {env("made-1", "before", "near", 0)}, 0
  local function all(scenario, vnfs, size, dir, trials)
    local reference
    for _, name in ipairs(names) do
      at = at + 8
      local median = measure(out, draw, cell("made-1", at, scenario, vnfs, dir, size, name), trials,
                             reference)
      if name == "testpmd" then reference = median end
    end
  end
  for _, scenario in ipairs{"p2p", "p2v", "v2v"} do
    all(scenario, 0, 64, "uni", 7)
    all(scenario, 0, 256, "uni", 3)
    all(scenario, 0, 1024, "uni", 3)
  end
  all("p2p", 0, 64, "bi", 3)
  for vnfs = 1, 5 do all("loopback", vnfs, 64, "uni", 5) end
  for _, name in ipairs(names) do
    for _, load in ipairs{0.1, 0.5, 0.99} do
      at = at + 2
      out[#out + 1] = latency(cell("made-1", at, "p2p", 0, "uni", 64, name), load,
                              known.p2p[name] * 1e6)
    end
  end
  out[#out + 1] = record.new("compare", {
    session = "made-1", time = clock(at), a = "sluice", b = "testpmd", test = "v2v/uni/64/vhost",
        metric = "mrr",
    ratio = 1.074, low = 1.041, high = 1.102, n = 7, floor = 0.012, detectable = 0.028,
    verdict = "faster", mode = "near",
    pairs = {{15.9e6, 14.8e6}, {15.7e6, 14.9e6}, {16.1e6, 14.6e6}, {15.8e6, 14.9e6},
             {15.9e6, 14.7e6}, {15.5e6, 14.9e6}, {16.0e6, 14.9e6}}})
  for i, name in ipairs{"sluice", "bridge", "ovs-dpdk"} do
    out[#out + 1] = record.new("iperf3", {
      session = "made-1", time = clock(at), switch = {name = name, version = "1"}, seconds = 5, mtu = 1500,
      bps = {median = 2e9 / i, min = 1.9e9 / i, max = 2.1e9 / i, n = 3}, retransmits = 12 * i,
      cpu = {switch = name ~= "bridge" and 1 or nil, client = 0.4, server = 0.5, interrupts = 0.25},
      waited = 0.1 * (i - 1), limited_by = i > 1 and "noise" or "none",
      memory_bytes = name ~= "bridge" and 36 << 20 or nil, hugepage_bytes = name ~= "bridge" and 0 or nil,
      command = "sluice bench iperf3 --switch sluice,bridge,ovs-dpdk --time 5s --trials 3"})
  end
  out[#out + 1] = env("made-1", "after", "near", at)
  return out
end

--- The lines of the session.
function made.lines()
  local lines = {}
  for i, one in ipairs(made.stored()) do lines[i] = record.line(one) end
  return table.concat(lines, "\n") .. "\n"
end

--- One record of each kind.
function made.one_of_each()
  local draw = random.new(3)
  local base = cell("s", 0, "loopback", 2, "uni", 64, "sluice")
  local list = {}
  measure(list, draw, base, 1)
  return {env("s", "before", "near", 0), list[1], list[#list], latency(base, 0.5, 6e6),
          made.stored()[#made.stored() - 4], made.stored()[#made.stored() - 1],
          record.new("intrinsic", {session = "s", graph = "graphs/swap.yaml", test = "swap/64",
                                   cycles_per_packet = {median = 31.5, min = 30, max = 40, n = 7},
                                   instructions_per_packet = 88.25,
                                   by_node = {{node = "rx", cycles = 10.5, instructions = 20}}})}
end

--- A folder's worth of sessions: results of one test, with the rates given, a day apart.
function made.history(medians, mode, host)
  local out = {}
  for i, median in ipairs(medians) do
    local session, at = ("h%03d"):format(i), i * 86400
    local start = env(session, "before", mode or "near", at)
    start.host.name = host or "synthetic"
    out[#out + 1] = start
    local list = {}
    measure(list, random.new(i), cell(session, at, "v2v", 0, "uni", 64, "sluice"), 1)
    local result = list[#list]
    result.value_pps = {median = median, min = median * 0.97, max = median * 1.02, n = 7}
    result.mode = mode or "near"
    out[#out + 1] = result
  end
  return out
end

return made
