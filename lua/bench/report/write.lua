-- SPDX-License-Identifier: BSD-3-Clause
-- Writes reports into a folder, in the formats asked for.

local bars = require "sluice.bench.report.bars"
local csv = require "sluice.bench.report.csv"
local gnuplot = require "sluice.bench.report.gnuplot"
local html = require "sluice.bench.report.html"
local lines = require "sluice.bench.report.lines"
local metrics = require "sluice.bench.report.metrics"
local paper = require "sluice.bench.report.paper"
local record = require "sluice.bench.record"
local report = require "sluice.bench.report"
local text = require "sluice.bench.report.text"
local trend = require "sluice.bench.report.trend"
local write = {}

--- The formats, in the order of help.
write.formats = {"text", "csv", "html", "svg", "png", "json", "openmetrics", "influx"}

--- All plots of final figures.
function write.plots(data)
  local plots = {}
  for _, list in ipairs{bars.plots(data.results), lines.chains(data.results),
                        lines.latency(data.latency),
                        lines.trials(data.trials)} do
    table.move(list, 1, #list, #plots + 1, plots)
  end
  return plots
end

local function folder_make(dir)
  local uv = require "luv"
  local path = dir:sub(1, 1) == "/" and "" or "."
  for part in dir:gmatch("[^/]+") do
    path = path .. "/" .. part
    local ok, why, name = uv.fs_mkdir(path, tonumber("755", 8))
    if not ok and name ~= "EEXIST" then return nil, why end
  end
  return true
end

local function file_write(path, content)
  local file, why = io.open(path, "w")
  local ok = file and file:write(content)
  -- What a full disk refuses is known when the file is closed.
  if file then
    local closed, failed = file:close()
    ok, why = ok and closed, failed
  end
  if not ok then error(why or path, 0) end
  return path
end

local function file_read(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read("a")
end

-- Final figures and environments as one JSON array.
local function array(data)
  local all = {}
  for _, list in ipairs{data.envs, data.results, data.latency, data.compare, data.intrinsic} do
    for _, one in ipairs(list) do
      -- What the report has marked is no part of a record.
      local kept = {}
      for name, part in pairs(one) do
        if name ~= "ratio_at_most" then kept[name] = part end
      end
      all[#all + 1] = record.line(kept)
    end
  end
  return "[" .. table.concat(all, ",\n") .. "]\n"
end

-- Draws into the folder; the plots get their SVG. What cannot be drawn is told once.
local function draw(plots, wanted, out, done)
  local found, why = gnuplot.found()
  if not found then return why end
  for _, plot in ipairs(plots) do
    for _, format in ipairs{"svg", "png"} do
      if wanted[format] or format == "svg" and wanted.html then
        local path, failed = gnuplot.draw(plot, format, out)
        if not path then return failed end
        if format == "svg" then plot.svg = file_read(path) end
        if wanted[format] then done[#done + 1] = path else os.remove(path) end
      end
    end
  end
end

-- `make` by format: name of the file, and its content.
local function files_write(out, wanted, files, done)
  for _, row in ipairs(files) do
    if wanted[row[1]] then done[#done + 1] = file_write(out .. "/" .. row[2], row[3]()) end
  end
end

local function each(out, formats, title, data, plots, body, more)
  local ok, why = folder_make(out)
  if not ok then return nil, why end
  local wanted, done = {}, {}
  for _, format in ipairs(formats) do wanted[format] = true end
  local missing
  local fine, failed = pcall(function()
    if wanted.html or wanted.svg or wanted.png then missing = draw(plots, wanted, out, done) end
    files_write(out, wanted, {
      {"text", "report.txt", function() return body end},
      {"html", "report.html", function() return html.write(title, data, plots, body, missing) end},
      table.unpack(more),
    }, done)
  end)
  if not fine then return nil, failed end
  return done, missing
end

--- Writes the report of records; the paths written, or nil and why. The second value beside paths
--- is what is missing for the plots.
---@param records table[]
---@param options {out: string, formats: string[], baseline?: string}
---@return string[]? paths
---@return string? why
function write.report(records, options)
  local data = report.collect(records)
  local body = text.write(data)
  if options.baseline == "paper" then
    local beside = paper.lines(data.results)
    if #beside > 0 then
      body = body .. "\nPublished (other hardware and wires: only ratios compare)\n  "
             .. table.concat(beside, "\n  ") .. "\n"
    end
  end
  return each(options.out, options.formats, "Benchmark of software switches", data,
              write.plots(data), body, {
    {"csv", "results.csv", function() return csv.results(data) end},
    {"csv", "trials.csv", function() return csv.trials(data) end},
    {"csv", "latency.csv", function() return csv.latency(data) end},
    {"json", "report.json", function() return array(data) end},
    {"openmetrics", "metrics.txt", function() return metrics.openmetrics(data) end},
    {"influx", "influx.txt", function() return metrics.influx(data) end},
  })
end

--- The same of a history.
function write.trend(records, options)
  local list = trend.series(records)
  return each(options.out, options.formats, "History of benchmarks", nil, trend.plots(list),
              trend.text(list), {})
end

return write
