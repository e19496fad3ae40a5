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
    one.mode or "", "limit: " .. one.limited_by,
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

local function percent(share) return ("%.1f %%"):format(100 * share) end

--- A comparison in words.
function text.compare(one)
  local seen = one.verdict == "same"
      and "no difference seen"
          .. (one.detectable and "; smallest detectable " .. percent(one.detectable) or "")
      or ("%s is %s"):format(one.a, one.verdict)
  local interval_text = one.low and (" [%.3f..%.3f]"):format(one.low, one.high)
      or " (too few pairs for an interval)"
  return ("%s  %s / %s = %.3f%s n=%d%s: %s"):format(one.test, one.a, one.b, one.ratio,
                                                    interval_text, one.n,
      one.floor and ", A/A floor " .. percent(one.floor) or "", seen)
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
      add("session %s at %s on %s", one.session, one.time, host.name)
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
  section("Intrinsic", each(data.intrinsic, function(one)
    return ("%s  %.1f cyc/pkt [%.4g..%.4g] n=%d%s"):format(one.test, one.cycles_per_packet.median,
        one.cycles_per_packet.min, one.cycles_per_packet.max, one.cycles_per_packet.n,
        one.instructions_per_packet and ("  %.2f instructions"):format(one.instructions_per_packet)
            or "")
  end))
  section("Environment", env_lines(data.envs))
  local told = {}
  section("To repeat", each(data.results, function(one)
    if told[one.command] then return nil end
    told[one.command] = true
    return one.command
  end))
  return table.concat(out, "\n") .. "\n"
end

return text
