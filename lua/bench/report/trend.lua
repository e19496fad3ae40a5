-- SPDX-License-Identifier: BSD-3-Clause
-- The history of a folder of results: each test's medians in time, inside one host and mode, with
-- the places where they change.

local gnuplot = require "sluice.bench.report.gnuplot"
local rates = require "sluice.bench.rates"
local report = require "sluice.bench.report"
local stats = require "sluice.bench.stats"
local trend = {}

--- The files of results in a folder, by name; nil and why.
---@param dir string
function trend.files(dir)
  local uv = require "luv"
  local scan, why = uv.fs_scandir(dir)
  if not scan then return nil, why end
  local files = {}
  for name in uv.fs_scandir_next, scan do
    if name:find("%.jsonl$") then files[#files + 1] = dir:gsub("/$", "") .. "/" .. name end
  end
  table.sort(files)
  if #files == 0 then return nil, dir .. ": there are no results (*.jsonl)" end
  return files
end

--- Series of results: {name, test, metric, host, mode, points = {{seconds, time, value_pps,
--- session}}, changes, commits by session}.
---@param records table[]
function trend.series(records)
  local envs, at, list = {}, {}, {}
  for _, one in ipairs(records) do
    if one.type == "env" then envs[one.session] = one end
  end
  for _, one in ipairs(records) do
    if one.type == "result" then
      local env = envs[one.session]
      local host = env and env.host.name or "an unknown host"
      local key = table.concat({host, one.mode or "", one.test, one.metric}, "\0")
      if not at[key] then
        at[key] = {test = one.test, metric = one.metric, host = host, mode = one.mode, points = {}}
        list[#list + 1] = at[key]
      end
      table.insert(at[key].points, {seconds = report.seconds(one.time), time = one.time,
                                    value = one.value_pps,
                                    session = one.session, commit = env and env.build.commit})
    end
  end
  for _, series in ipairs(list) do
    table.sort(series.points, function(a, b) return a.seconds < b.seconds end)
    local medians = {}
    for i, point in ipairs(series.points) do medians[i] = point.value.median end
    series.changes = stats.changes(medians)
    series.name = ("%s %s, %s, %s"):format(series.test, series.metric, series.host,
                                          series.mode and series.mode .. " cores" or "mode unknown")
  end
  table.sort(list, function(a, b) return a.name < b.name end)
  return list
end

--- The history as text.
---@param list table[] what series() gave
function trend.text(list)
  local out = {}
  for _, series in ipairs(list) do
    local points = series.points
    out[#out + 1] = ("%s: %d results, now %s"):format(series.name, #points,
        rates.text(points[#points].value.median, "pps"))
    for _, change in ipairs(series.changes) do
      local from, to = points[change.at - 1], points[change.at]
      out[#out + 1] = ("  %s: %s to %s (%+.1f %%), p = %.3f%s"):format(to.time,
          rates.text(change.before, "pps"),
          rates.text(change.after, "pps"), 100 * (change.ratio - 1), change.p,
          from.commit and to.commit and from.commit ~= to.commit
          and (", commit %s to %s"):format(from.commit:sub(1, 12), to.commit:sub(1, 12)) or "")
    end
    if #points < 6 then out[#out + 1] = "  too few results to tell a change" end
  end
  return table.concat(out, "\n") .. (#out > 0 and "\n" or "")
end

local function plot(series)
  local rows, levels, first = {}, {}, series.points[1].seconds
  local function day(i) return (series.points[i].seconds - first) / 86400 end
  for i, point in ipairs(series.points) do
    rows[i] = {day(i), point.value.median / 1e6, point.value.min / 1e6, point.value.max / 1e6}
  end
  local marks, from = {}, 1
  local function level(last, value)
    levels[#levels + 1] = {day(from), value / 1e6, day(last) - day(from)}
    from = last + 1
  end
  for _, change in ipairs(series.changes) do
    level(change.at - 1, change.before)
    local x = (day(change.at - 1) + day(change.at)) / 2
    marks[#marks + 1] = (
        "set arrow from %.10g, graph 0 to %.10g, graph 1 nohead dashtype 2 "
        .. "linecolor rgb '#d55e00'"):format(x, x)
    marks[#marks + 1] = (
        "set label %s at %.10g, graph 0.97 offset 0.5,0 textcolor rgb '#d55e00'"):format(
        gnuplot.quote(("%+.1f %%"):format(100 * (change.ratio - 1))), x)
  end
  local medians = {}
  for i = from, #series.points do medians[#medians + 1] = series.points[i].value.median end
  level(#series.points, stats.median(medians))
  return {
    name = ("trend-" .. series.name):gsub("[^%w]+", "-"):gsub("-$", ""), title = series.name,
    script = table.concat({
      gnuplot.block("points", rows), gnuplot.block("levels", levels), table.concat(marks, "\n"),
      ("set title %s font ',14'\nset ylabel 'Mpps'\nset xlabel %s"):format(
          gnuplot.quote(series.name),
          gnuplot.quote("days since " .. series.points[1].time:sub(1, 10))),
      "set yrange [0:*]\nset key off",
      "plot $points using 1:2:3:4 with yerrorbars pointtype 7 pointsize 0.5 linewidth 1 "
      .. "linecolor rgb '#0072b2', \\",
      "  $levels using 1:2:3:(0) with vectors nohead linewidth 2 linecolor rgb '#222222'"}, "\n")}
end

--- A plot for each series of two results and more.
function trend.plots(list)
  local plots = {}
  for _, series in ipairs(list) do
    if #series.points > 1 then plots[#plots + 1] = plot(series) end
  end
  return plots
end

return trend
