-- SPDX-License-Identifier: BSD-3-Clause
-- Bars by switch: over sizes for a scenario, over scenarios for a size. Whiskers from the least to
-- the greatest trial, hatching where the figure is not the switch's own, and the line rate.

local gnuplot = require "sluice.bench.report.gnuplot"
local rates = require "sluice.bench.rates"
local report = require "sluice.bench.report"
local bars = {}

local quote = gnuplot.quote

local function group_by(list, key_of)
  local groups, at = {}, {}
  for _, one in ipairs(list) do
    local key = key_of(one)
    if not at[key] then
      at[key] = {key = key}
      groups[#groups + 1] = at[key]
    end
    table.insert(at[key], one)
  end
  return groups
end

local function names_of(list)
  local names, seen = {}, {}
  for _, one in ipairs(list) do
    if not seen[one.switch.name] then
      seen[one.switch.name] = true
      names[#names + 1] = one.switch.name
    end
  end
  return names
end

-- Draws results in clusters. `value_of(one, pps)` is what the axis shows.
local function clusters(name, title, axis, list, cluster_of, value_of, line)
  local names, groups = names_of(list), group_by(list, cluster_of)
  local colour, width = gnuplot.colours(names), 0.8 / #names
  local place, out, plots, hatched = {}, {}, {}, false
  for i, switch in ipairs(names) do place[switch] = i end
  local rows, tics, top = {}, {}, 0
  for i, group in ipairs(groups) do
    tics[i] = ("%s %d"):format(gnuplot.quote_lines((group.key:gsub("^loopback ", "loopback\n"))), i)
    for _, one in ipairs(group) do
      local x = i + (place[one.switch.name] - (#names + 1) / 2) * width
      local high = value_of(one, one.value_pps.max)
      local key = place[one.switch.name] .. (one.own and "own" or "cut")
      hatched, top = hatched or not one.own, math.max(top, high)
      rows[key] = rows[key] or {}
      table.insert(rows[key], {x, value_of(one, one.value_pps.median),
                               value_of(one, one.value_pps.min), high})
    end
  end
  out[#out + 1] = (
      "set title %s font ',14'\nset ylabel %s\nset xrange [0.5:%g]\nset yrange [0:%g]"):format(
      quote(title), quote(axis), #groups + 0.5, top * 1.08)
  out[#out + 1] = ("set bmargin 3.5\nset boxwidth %g absolute\nset xtics (%s) scale 0"):format(
      width * 0.9, table.concat(tics, ", "))
  local whiskers = {}
  for i, switch in ipairs(names) do
    local function box(data, fill, title)
      plots[#plots + 1] = (
          "%s with boxes fillstyle %s border rgb '%s' fillcolor rgb '%s' linewidth 1 %s"):format(
          data, fill, colour[switch], colour[switch], title)
    end
    box("NaN", "solid 0.85", "title " .. quote(switch))
    for _, kind in ipairs{"own", "cut"} do
      local block = ("d%d%s"):format(i, kind)
      if rows[i .. kind] then
        out[#out + 1] = gnuplot.block(block, rows[i .. kind])
        box(("$%s using 1:2"):format(block), kind == "own" and "solid 0.85" or "pattern 4",
            "notitle")
        whiskers[#whiskers + 1] = (
            "$%s using 1:3:(0):($4-$3) with vectors heads size graph 0.006,90 "
            .. "linewidth 1 linecolor rgb '#222222' notitle"):format(block)
      end
    end
  end
  table.move(whiskers, 1, #whiskers, #plots + 1, plots)
  if hatched then
    plots[#plots + 1] = "NaN with boxes fillstyle pattern 4 border rgb '#555555' "
                        .. "fillcolor rgb '#555555' title 'at least this'"
  end
  if line and line.value <= top * 2.5 then
    plots[#plots + 1] = (
        "%g with lines dashtype 2 linewidth 1.5 linecolor rgb '#aa0000' title %s"):format(
        line.value, quote(line.title))
    if line.value > top then out[#out + 1] = ("set yrange [0:%g]"):format(line.value * 1.05) end
  end
  out[#out + 1] = "plot " .. table.concat(plots, ", \\\n  ")
  return {name = name, title = title, script = table.concat(out, "\n"),
          width = math.max(600, 260 + 100 * #groups)}
end

local function file_name(...)
  return (table.concat({...}, "-"):gsub("[^%w.-]+", "-"):gsub("%.", "_"))
end

-- Names of scenarios, with wire and VNF where those differ in a list.
local function labels(list)
  local ways, several = {}, {}
  local function way(one) return one.wire .. (one.vnf ~= "none" and " " .. one.vnf or "") end
  for _, one in ipairs(list) do
    local name = report.scenario(one)
    several[name] = several[name] or ways[name] ~= nil and ways[name] ~= way(one)
    ways[name] = way(one)
  end
  return function(one)
    local name = report.scenario(one)
    return several[name] and name .. "\n" .. way(one) or name
  end
end

--- Plots of the results: over sizes of each scenario that has several, over scenarios of each size.
--- Modes are never mixed.
---@param results table[] sorted
function bars.plots(results)
  local plots, rated = {}, {}
  for _, one in ipairs(results) do
    if one.value_pps.median > 0 and not one.mix then rated[#rated + 1] = one end
  end
  local function same(one)
    return table.concat({one.metric, one.dir, one.link_bps or 0, one.mode or ""}, "\0")
  end
  local function add(kind, group, what, ...)
    local first = group[1]
    plots[#plots + 1] = clusters(
        file_name(kind, first.metric, first.dir, what, first.mode),
        ("%s, %s, %s%s"):format(first.metric, what, first.dir,
                                first.mode and ", " .. first.mode .. " cores" or ""), ...)
  end
  local function line(value, link)
    return {value = value, title = ("%gG line rate"):format(link / 1e9)}
  end
  for _, group in ipairs(group_by(rated, function(one) return same(one) .. "\0" .. one.size end)) do
    local link = group[1].link_bps or 10e9
    add("rate", group, ("%g bytes"):format(group[1].size), "Mpps", group, labels(group),
        function(_, pps) return pps / 1e6 end,
        line(rates.line_pps(link, group[1].size) / 1e6, link))
  end
  local label = labels(rated)
  local function same_label(one) return same(one) .. "\0" .. label(one) end
  for _, group in ipairs(group_by(rated, same_label)) do
    local link = group[1].link_bps or 10e9
    if #group_by(group, function(one) return one.size end) > 1 then
      add("sizes", group, (label(group[1]):gsub("\n", " ")), "Gbps of layer 1", group,
          function(one) return ("%g B"):format(one.size) end,
          function(one, pps) return rates.l1_bps(pps, one.size) / 1e9 end, line(link / 1e9, link))
    end
  end
  return plots
end

return bars
