-- SPDX-License-Identifier: BSD-3-Clause
-- `bench report`: final figures of result files, or the history of a folder of them.

local report = require "sluice.bench.report"
local text = require "sluice.bench.report.text"
local trend = require "sluice.bench.report.trend"
local paper = require "sluice.bench.report.paper"
local process = require "sluice.bench.process"
local uv = require "luv"
local write = require "sluice.bench.report.write"

local function files_of(folder)
  local scan, why = uv.fs_scandir(folder)
  if not scan then process.stop(2, "%s: %s", folder, why) end
  local files = {}
  while true do
    local name = uv.fs_scandir_next(scan)
    if not name then break end
    if name:find("%.jsonl$") then files[#files + 1] = folder .. "/" .. name end
  end
  table.sort(files)
  if #files == 0 then process.stop(2, "%s has no results (*.jsonl)", folder) end
  return files
end

local function print_text(values, records)
  if values.trend then return trend.text(trend.series(records)) end
  local data = report.collect(records)
  local body = text.write(data)
  local beside = values.baseline == "paper" and paper.lines(data.results) or {}
  if #beside > 0 then
    body = body .. "\nPublished (other hardware and wires: only ratios compare)\n  "
           .. table.concat(beside, "\n  ") .. "\n"
  end
  return body
end

return function(values)
  local records, faults = report.read(values.trend and files_of(values.trend) or values.files)
  for _, fault in ipairs(faults) do io.stderr:write("sluice bench report: ", fault, "\n") end
  if #records == 0 then process.stop(2, "there are no results") end
  if not values.output then
    io.stdout:write(print_text(values, records))
    return #faults > 0 and 1 or 0
  end
  local paths, why = write[values.trend and "trend" or "report"](records, {
    out = values.output, formats = values.format, baseline = values.baseline})
  if not paths then process.stop(3, "%s: %s", values.output, why) end
  if why then io.stderr:write("sluice bench report: ", why, "\n") end
  for _, path in ipairs(paths) do io.stdout:write(path, "\n") end
  return #faults > 0 and 1 or 0
end
