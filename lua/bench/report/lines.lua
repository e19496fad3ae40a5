-- SPDX-License-Identifier: BSD-3-Clause
-- Plots over something: rate and 1/R over the length of a chain, latency as distribution and by
-- percentile, trials over time.

local gnuplot = require "sluice.bench.report.gnuplot"
local report = require "sluice.bench.report"
local stats = require "sluice.bench.stats"
local lines = {}

local quote = gnuplot.quote
local modes = {near = "#0072b2", far = "#d55e00", unknown = "#777777"}

local function groups(list, key_of)
  local all, at = {}, {}
  for _, one in ipairs(list) do
    local key = key_of(one)
    if not at[key] then
      at[key] = {}
      all[#all + 1] = at[key]
    end
    table.insert(at[key], one)
  end
  return all
end

local function file_name(...)
  return (table.concat({...}, "-"):gsub("[^%w.-]+", "-"):gsub("%.", "_"))
end

local function colours_of(list, name_of)
  local names, seen = {}, {}
  for _, one in ipairs(list) do
    local name = name_of(one)
    if not seen[name] then
      seen[name] = true
      names[#names + 1] = name
    end
  end
  return gnuplot.colours(names)
end

-- One figure for the chains that differ in the switch (and mode) alone.
local function chain_plot(list)
  local first = list[1]
  local colour = colours_of(list, function(chain) return chain.switch end)
  local out, left, right, longest, slowest = {}, {}, {}, 0, 0
  for i, chain in ipairs(list) do
    local rows = {}
    for k, n in ipairs(chain.lengths) do
      longest, slowest = math.max(longest, n), math.max(slowest, 1e9 / chain.low[k])
      rows[k] = {n, chain.rates[k] / 1e6, chain.low[k] / 1e6, chain.high[k] / 1e6,
                 1e9 / chain.rates[k],
                 1e9 / chain.high[k], 1e9 / chain.low[k]}
    end
    out[#out + 1] = gnuplot.block("c" .. i, rows)
    local style = ("pointtype %d pointsize 0.8 linewidth 1.5 linecolor rgb '%s'"):format(
        chain.own and 7 or 6, colour[chain.switch])
    local name = chain.switch .. (chain.mode == "far" and " (far)" or "")
        .. (chain.own and "" or ", at least")
    left[#left + 1] = ("$c%d using 1:2:3:4 with yerrorlines %s title %s"):format(i, style,
        quote(name))
    right[#right + 1] = ("$c%d using 1:5:6:7 with yerrorbars %s notitle"):format(i, style)
    if chain.fit then
      right[#right + 1] = (
          "[0:%d] %.10g + %.10g * x with lines linewidth 1.2 dashtype 2 linecolor rgb '%s' "
          .. "title %s"):format(
          longest, chain.fit.a, chain.fit.b, colour[chain.switch],
          quote(("%s: %.0f + %.1f ns a VNF"):format(name, chain.fit.a, chain.fit.b)))
    end
  end
  local title = ("chains, %s"):format(first.name)
  return {name = file_name("chain", first.metric, first.name), title = title, width = 980,
          height = 430,
          script = table.concat({
    table.concat(out, "\n"),
    ("set multiplot layout 1,2 title %s font ',14'"):format(quote(title)),
    ("set xlabel 'VNFs in the chain'\nset xrange [0.7:%g]\nset xtics 1"):format(longest + 0.3),
    "set ylabel 'Mpps'\nset yrange [0:*]\nset key inside top right\nplot "
        .. table.concat(left, ", \\\n  "),
    ("set xrange [0:%g]\nset ylabel '1/R: ns a packet'\nset key inside top left\n"
     .. "set yrange [0:%g]"):format(
        longest + 0.3, slowest * (1.1 + 0.07 * #list)),
    "plot " .. table.concat(right, ", \\\n  "),
    "unset multiplot",
  }, "\n")}
end

--- Rate and 1/R against the number of VNFs, with the fit.
function lines.chains(results)
  local plots, chains = {}, {}
  for _, chain in ipairs(report.chains(results)) do
    if #chain.lengths >= 2 then chains[#chains + 1] = chain end
  end
  for i, list in ipairs(groups(chains, function(chain) return chain.name .. chain.metric end)) do
    plots[i] = chain_plot(list)
  end
  return plots
end

-- Cumulative shares of a histogram: {upper end in us, share up to it}.
local function cumulative(one)
  local total, sum, rows = 0, 0, {}
  for _, bucket in ipairs(one.histogram) do total = total + bucket[2] end
  for i, bucket in ipairs(one.histogram) do
    sum = sum + bucket[2]
    rows[i] = {bucket[1] / 1000, sum / total}
  end
  return rows
end

local function load_dashes(list)
  local dashes, n = {}, 0
  for _, one in ipairs(list) do
    if not dashes[one.load] then
      n = n + 1
      dashes[one.load] = n
    end
  end
  return dashes
end

local function latency_plots(list)
  local first, blocks, cdf, percentile = list[1], {}, {}, {}
  local colour, dashes = colours_of(list, function(one) return one.switch.name end),
      load_dashes(list)
  for i, one in ipairs(list) do
    local rows = cumulative(one)
    blocks[#blocks + 1] = gnuplot.block("l" .. i, rows)
    local tail = {{1, one.percentiles_ns.p0 / 1000}}
    for _, row in ipairs(rows) do
      -- The last bucket ends at the frame that is worst of all.
      tail[#tail + 1] = {row[2] < 1 and 1 / (1 - row[2]) or one.matched, row[1]}
    end
    blocks[#blocks + 1] = gnuplot.block("t" .. i, tail)
    local style = ("linewidth 1.6 dashtype %d linecolor rgb '%s' title %s"):format(dashes[one.load],
        colour[one.switch.name], quote(("%s at %g R+"):format(one.switch.name, one.load)))
    cdf[i] = ("$l%d using 1:2 with lines %s"):format(i, style)
    percentile[i] = ("$t%d using 1:2 with lines %s"):format(i, style)
  end
  local cell = ("%s, %gB, %s, %s"):format(report.scenario(first), first.size, first.dir, first.wire)
  local data = table.concat(blocks, "\n")
  local name = file_name(report.scenario(first), first.size .. "B", first.dir, first.wire)
  return {name = "latency-cdf-" .. name, title = "latency, " .. cell, script = table.concat({
    data, ("set title %s font ',14'"):format(quote("latency, " .. cell)),
    "set logscale x\nset xlabel 'us from the intended time of sending'",
    "set ylabel 'share of frames'",
    "set yrange [0:1]\nset grid xtics",
    "plot " .. table.concat(cdf, ", \\\n  ")}, "\n")},
  {name = "latency-percentiles-" .. name, title = "latency by percentile, " .. cell,
   script = table.concat({
    data, ("set title %s font ',14'"):format(quote("latency by percentile, " .. cell)),
    "set logscale xy\nset xlabel 'percentile'\nset ylabel 'us'\nset grid xtics\nset xrange [1:*]",
    -- Small enough to stand beside each other.
    "set xtics font ',8' ('0' 1, '50' 2, '90' 10, '99' 100, '99.9' 1e3, '99.99' 1e4, '99.999' 1e5, "
    .. "'99.9999' 1e6)",
    "plot " .. table.concat(percentile, ", \\\n  ")}, "\n")}
end

--- Latency: distribution and percentiles, a pair of plots for each cell without its switch.
function lines.latency(list)
  local plots = {}
  for _, group in ipairs(groups(list, function(one)
    return table.concat({report.scenario(one), one.size, one.dir, one.wire, one.vnf}, "\0")
  end)) do
    local cdf, percentile = latency_plots(group)
    plots[#plots + 1], plots[#plots + 2] = cdf, percentile
  end
  return plots
end

--- Trials over time, each against the median of its test, coloured by mode; what does not count is
--- hollow.
function lines.trials(trials)
  local medians, by_test, start = {}, {}, math.huge
  for _, one in ipairs(trials) do
    if not one.warmup and one.valid then
      by_test[one.test .. one.search] = by_test[one.test .. one.search] or {}
      table.insert(by_test[one.test .. one.search], one.rx_pps)
    end
    start = math.min(start, report.seconds(one.time))
  end
  for test, list in pairs(by_test) do medians[test] = stats.median(list) end
  local rows, n = {}, 0
  for _, one in ipairs(trials) do
    local median = medians[one.test .. one.search]
    if median and median > 0 and not one.warmup and not one.intended_pps then
      local key = (modes[one.mode] and one.mode or "unknown") .. (one.valid and "" or "_out")
      rows[key] = rows[key] or {}
      n = n + 1
      table.insert(rows[key], {(report.seconds(one.time) - start) / 60, one.rx_pps / median})
    end
  end
  if n == 0 then return {} end
  local out, plots = {}, {}
  for _, mode in ipairs{"near", "far", "unknown"} do
    for _, kind in ipairs{"", "_out"} do
      if rows[mode .. kind] then
        out[#out + 1] = gnuplot.block(mode .. kind, rows[mode .. kind])
        plots[#plots + 1] = (
            "$%s using 1:2 with points pointtype %d pointsize 0.6 linecolor rgb '%s' "
            .. "title %s"):format(
            mode .. kind, kind == "" and 7 or 6, modes[mode],
            quote(mode == "unknown" and "mode unknown" .. (kind == "" and "" or ", invalid")
                  or ("%s cores%s"):format(mode, kind == "" and "" or ", invalid")))
      end
    end
  end
  plots[#plots + 1] = "1 with lines linewidth 0.8 linecolor rgb '#555555' notitle"
  return {{name = "trials", title = "trials in time", script = table.concat({
    table.concat(out, "\n"),
    "set title 'trials in time, by mode of the cores' font ',14'",
    "set xlabel 'minutes since the first one'\nset ylabel 'rate / median of its test'",
    "plot " .. table.concat(plots, ", \\\n  ")}, "\n")}}
end

return lines
