-- SPDX-License-Identifier: BSD-3-Clause
-- The report as text: one line a test, final figures only; then what limited those that are not the
-- switch's own, hiccups, drops by hop, environment, and the command that repeats each.

local rates = require "sluice.bench.rates"
local report = require "sluice.bench.report"
local text = {}

-- Columns as wide as their widest; `right`: which of them are numbers.
local function align(rows, right)
  local width, lines = {}, {}
  for _, row in ipairs(rows) do
    for i, part in ipairs(row) do width[i] = math.max(width[i] or 0, utf8.len(part) or #part) end
  end
  for n, row in ipairs(rows) do
    local parts = {}
    for i, part in ipairs(row) do
      local pad = (" "):rep(width[i] - (utf8.len(part) or #part))
      parts[i] = right[i] and pad .. part or part .. pad
    end
    lines[n] = table.concat(parts, "  "):gsub(" +$", "")
  end
  return lines
end

local function size_text(one)
  return one.mix and "mix " .. one.mix or ("%gB"):format(one.size)
end

-- One unit for a whole interval: [14.9..15.6] Mpps.
local function interval(value)
  local unit = value.median >= 1e6 and 1e6 or value.median >= 1e3 and 1e3 or 1
  local most = value.max / unit
  local figures = (unit == 1 or most >= 100) and 0 or most >= 10 and 1 or 2
  return ("[%.*f..%.*f] n=%d"):gsub("%*", figures):format(value.min / unit, value.max / unit,
                                                          value.n)
end

local function metric_text(one)
  local burst = one.burst
  if not burst then return one.metric ~= "mrr" and one.metric or "" end
  return ("b2b %.0f frames%s"):format(burst.frames.mean, burst.corrected_buffer_s
      and ", " .. rates.time_text(burst.corrected_buffer_s * 1e9) or "")
end

--- Where VNFs are that are not in containers.
function text.vm(one)
  if one.vnf_in ~= "vm" then return "" end
  return one.vm == "tcg" and " in VMs (emulated: function only)" or " in VMs"
end

--- The cells of a result's line. A ratio of figures that are not the switch's own says nothing, and
--- is left out.
function text.row(one)
  local value = one.value_pps
  return {
    report.scenario(one), size_text(one), one.dir,
    one.wire .. (one.vnf ~= "none" and " " .. one.vnf or "") .. text.vm(one),
    one.switch.name, metric_text(one),
    (one.own and "" or ">= ") .. rates.text(value.median, "pps", value.median >= 1e6 and 2 or nil),
    ("%.2f Gbps L1"):format(one.l1_gbps), interval(value),
    one.cycles_per_packet and ("%.0f cyc/pkt"):format(one.cycles_per_packet) or "",
    one.own and one.ratio_to_testpmd and ("%s%.2fx testpmd"):format(
        one.ratio_at_most and "<= " or "", one.ratio_to_testpmd) or "",
    one.mode or "", "limit: " .. one.limited_by .. (one.trial_seconds and (", trials of %.3g s"):format(
        one.trial_seconds) or ""),
  }
end

--- One line a result.
---@param results table[]
---@return string[]
function text.lines(results)
  local rows = {}
  for i, one in ipairs(results) do rows[i] = text.row(one) end
  return align(rows, {[2] = true, [7] = true, [8] = true, [10] = true})
end

--- Latency, a line each below the heading.
function text.latency(list)
  local rows = {{"scenario", "", "", "switch", "load", "p50", "p90", "p99", "p99.9", "p99.99",
                 "max",
                 "matched", ""}}
  for _, one in ipairs(list) do
    local p = one.percentiles_ns
    local row = {report.scenario(one), size_text(one), one.dir, one.switch.name,
                 ("%g R+"):format(one.load)}
    for _, name in ipairs{"p50", "p90", "p99", "p99_9", "p99_99", "p100"} do
      row[#row + 1] = rates.time_text(p[name])
    end
    row[#row + 1] = ("%d of %d"):format(one.matched, one.sent)
    row[#row + 1] = (one.queueing and "queueing" or "")
        .. (one.baseline and " (reference forwarder)" or "")
    rows[#rows + 1] = row
  end
  local right = {[2] = true}
  for i = 6, 12 do right[i] = true end
  return align(rows, right)
end

local function mib(bytes) return ("%.1f MiB"):format(bytes / (1 << 20)) end

-- Memory of a switch: resident, with its hugepages beside it.
local function memory_text(one)
  local huge = one.hugepage_bytes or 0
  return mib(one.memory_bytes - huge) .. (huge > 0 and " + " .. mib(huge) .. " in hugepages" or "")
end

--- TCP through bridges, a line each below the heading.
function text.iperf3(list)
  local rows = {{"bridge", "TCP", "", "sent again", "switch", "client", "server", "interrupts", "memory",
                 ""}}
  local function cores(n) return n and ("%.2f cores"):format(n) or "-" end
  for _, one in ipairs(list) do
    local bps = one.bps
    rows[#rows + 1] = {one.switch.name, ("%.2f Gbps"):format(bps.median / 1e9),
                       ("[%.2f..%.2f] n=%d"):format(bps.min / 1e9, bps.max / 1e9, bps.n),
                       tostring(one.retransmits), cores(one.cpu.switch), cores(one.cpu.client),
                       cores(one.cpu.server), cores(one.cpu.interrupts),
                       one.memory_bytes and memory_text(one) or "-",
                       one.limited_by == "noise" and ("limit: noise (%.0f %% of the time something else "
                       .. "had a core)"):format(100 * one.waited) or ""}
  end
  local right = {[2] = true}
  for i = 4, 8 do right[i] = true end
  return #list > 0 and align(rows, right) or {}
end

local function percent(share) return ("%.1f %%"):format(100 * share) end

-- What a comparison is worth where not both of its figures are the switch's own.
local function compare_limits(one)
  local function other(limit) return limit and limit ~= "switch" and limit end
  local a, b = other(one.a_limited_by), other(one.b_limited_by)
  if a and b then
    return ("; says little: %s is limited by %s, %s by %s"):format(one.a, a, one.b, b)
  end
  if a then return ("; at least: %s is limited by %s"):format(one.a, a) end
  if b then return ("; at most: %s is limited by %s"):format(one.b, b) end
  return ""
end

--- A comparison in words.
function text.compare(one)
  local seen = one.verdict == "same"
      and "no difference seen"
          .. (one.detectable and "; smallest detectable " .. percent(one.detectable) or "")
      or ("%s is %s"):format(one.a, one.verdict)
  local interval_text = one.low and (" [%.3f..%.3f]"):format(one.low, one.high)
      or " (too few pairs for an interval)"
  return ("%s  %s / %s = %.3f%s n=%d%s: %s%s"):format(one.test, one.a, one.b, one.ratio,
                                                      interval_text, one.n,
      one.floor and ", A/A floor " .. percent(one.floor) or "", seen, compare_limits(one))
end

--- What a graph takes in one process, and its nodes below it.
---@return string[]
function text.intrinsic(one)
  local value, lines = one.cycles_per_packet, {}
  local function instructions(n) return n and ("%.2f instructions"):format(n) or "" end
  lines[1] = ("%s  %.1f cyc/pkt [%.4g..%.4g] n=%d  %s"):format(
      one.test, value.median, value.min, value.max, value.n,
      instructions(one.instructions_per_packet)):gsub(" +$", "")
  local rows = {}
  for i, node in ipairs(one.by_node or {}) do
    rows[i] = {"  " .. node.node, ("%.1f cyc/pkt"):format(node.cycles),
               instructions(node.instructions)}
  end
  return table.move(align(rows, {[2] = true, [3] = true}), 1, #rows, 2, lines)
end

--- A fit of a chain in words.
function text.chain(chain)
  local fit = chain.fit
  return ("%s  %s  %s%.0f ns + %.1f ns a VNF%s, N = %d to %d%s"):format(chain.name, chain.switch,
      chain.own and "" or "at most ", fit.a, fit.b,
      fit.b_error and (" (+- %.1f)"):format(fit.b_error) or "", chain.lengths[1],
      chain.lengths[#chain.lengths], chain.mode and ", " .. chain.mode or "")
end

local function hiccup_text(one)
  if one.invalid == 0 and one.hiccups.n == 0 then return nil end
  return ("%d of %d trials were invalid; %d hiccups, %s in all, the longest %s"):format(one.invalid,
      one.trials, one.hiccups.n, rates.time_text(one.hiccups.sum_us * 1000),
      rates.time_text(one.hiccups.longest_us * 1000))
end

local function env_lines(envs)
  local lines, seen = {}, {}
  for _, one in ipairs(envs) do
    if not seen[one.session] then
      seen[one.session] = true
      local host, build = one.host, one.build
      local function add(format, ...) lines[#lines + 1] = format:format(...) end
      add("run %s at %s on %s", one.session, one.time, host.name)
      add("  %s, %d cores%s, kernel %s%s", host.cpu, host.cores,
          host.tsc_hz and (", TSC %.3f GHz"):format(host.tsc_hz / 1e9) or "", host.kernel,
          host.hypervisor and ", under " .. host.hypervisor or "")
      add("  hugepages: %s; load %s%s%s", host.hugepages or "?", table.concat(one.load, " "),
          one.steal and ("; steal %.1f %%"):format(100 * one.steal) or "",
          one.mode and ("; cores %s, %g ns"):format(one.mode, one.mode_ns or 0) or "")
      add("  sluice %s%s, %s %s, DPDK %s", build.version,
          build.commit and (" (%s%s)"):format(build.commit, build.dirty and ", changed" or "")
              or "",
          build.compiler or "?", build.flags or "", build.dpdk or "?")
      for _, switch in ipairs(one.switches) do
        add("  %s %s: %s", switch.name, switch.version or "?", switch.command or "?")
      end
      local names = {}
      for name in pairs(one.config) do names[#names + 1] = name end
      table.sort(names)
      for i, name in ipairs(names) do
        names[i] = ("%s: %s"):format(name, tostring(one.config[name]))
      end
      add("  %s", table.concat(names, "; "))
    end
  end
  return lines
end

--- The report. Sections that would be empty are left out.
---@param data table what report.collect() gave
---@return string
function text.write(data)
  local out = {}
  local function section(title, lines)
    if #lines == 0 then return end
    if title then out[#out + 1] = (#out > 0 and "\n" or "") .. title end
    for _, line in ipairs(lines) do out[#out + 1] = (title and "  " or "") .. line end
  end
  local function each(list, format)
    local lines = {}
    for _, one in ipairs(list) do
      local line = format(one)
      if line then lines[#lines + 1] = line end
    end
    return lines
  end
  section(nil, text.lines(data.results))
  if #data.latency > 0 then
    section("Latency, from the intended time of sending", text.latency(data.latency))
  end
  section("Comparisons", each(data.compare, text.compare))
  section("TCP through bridges (iperf3), each without offloads", text.iperf3(data.iperf3))
  section("Chains: time a packet by VNFs", each(report.chains(data.results), function(chain)
    return chain.fit and text.chain(chain)
  end))
  section("Not the switch's own figure", each(data.results, function(one)
    return not one.own and ("%s: %s%s"):format(one.test, one.limited_by,
                                              one.limited_why and ": " .. one.limited_why or "")
  end))
  section("Hiccups", each(data.results, function(one)
    local line = hiccup_text(one)
    return line and one.test .. ": " .. line
  end))
  section("Drops by hop", each(data.results, function(one)
    local hops = {}
    for i, drop in ipairs(one.drops) do hops[i] = ("%s %d"):format(drop.hop, drop.frames) end
    return #hops > 0 and one.test .. ": " .. table.concat(hops, ", ")
  end))
  -- Of each switch the first p2p graph: the same for all that were measured together.
  local memory, of = {}, {}
  for _, one in ipairs(data.results) do
    if one.memory_bytes and one.scenario == "p2p" and not of[one.switch.name] then
      of[one.switch.name] = true
      memory[#memory + 1] = {one.test, memory_text(one)}
    end
  end
  section("Memory of the switch, with what its peers share with it", align(memory, {}))
  local graphs = {}
  for _, one in ipairs(data.intrinsic) do
    local lines = text.intrinsic(one)
    table.move(lines, 1, #lines, #graphs + 1, graphs)
  end
  section("Intrinsic", graphs)
  section("Environment", env_lines(data.envs))
  local told = {}
  local function command(one)
    if told[one.command] then return nil end
    told[one.command] = true
    return one.command
  end
  local repeats = each(data.results, command)
  table.move(each(data.iperf3, command), 1, #data.iperf3, #repeats + 1, repeats)
  section("To repeat", repeats)
  return table.concat(out, "\n") .. "\n"
end

return text
