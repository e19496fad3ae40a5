-- SPDX-License-Identifier: BSD-3-Clause
-- Tables for spreadsheets and data frames: results, trials and latency, one row each (RFC 4180).

local csv = {}

local function field(value)
  if value == nil then return "" end
  if math.type(value) == "float" then return ("%.15g"):format(value) end
  local text = tostring(value)
  if text:find('[,"\r\n]') then return '"' .. text:gsub('"', '""') .. '"' end
  return text
end

-- Names of columns; dots lead into tables.
local function reach(one, path)
  for name in path:gmatch("[^.]+") do
    one = one[name]
    if one == nil then return nil end
  end
  return one
end

local function write(list, columns)
  local lines = {table.concat(columns, ",")}
  for _, one in ipairs(list) do
    local row = {}
    for i, path in ipairs(columns) do row[i] = field(reach(one, path)) end
    lines[#lines + 1] = table.concat(row, ",")
  end
  return table.concat(lines, "\n") .. "\n"
end

local cell = {"time", "session", "scenario", "vnfs", "dir", "size", "mix", "wire", "vnf", "vnf_in", "vm",
              "switch.name", "switch.version"}

local function columns(...)
  return table.move({...}, 1, select("#", ...), #cell + 1, table.move(cell, 1, #cell, 1, {}))
end

function csv.results(data)
  return write(data.results, columns("metric", "value_pps.median", "value_pps.min", "value_pps.max",
      "value_pps.n", "l1_gbps", "l2_gbps", "own", "limited_by", "cycles_per_packet",
      "ratio_to_testpmd", "mode", "loss_ratio", "upper_pps", "trial_seconds", "memory_bytes",
      "hugepage_bytes", "trials", "invalid", "limited_why", "command"))
end

function csv.trials(data)
  return write(data.trials, columns("search", "n", "warmup", "seconds", "intended_pps", "rx_pps",
      "intended", "attempted", "unsent", "accepted", "refused", "received", "lost_inside",
      "duplicates", "reordered", "damaged", "residual", "switch_cycles_per_packet", "mode",
      "mode_ns",
      "hiccups.n", "hiccups.sum_us", "hiccups.longest_us", "waited.traffic", "waited.switch", "valid",
      "why", "verdict"))
end

function csv.latency(data)
  return write(data.latency, columns("load", "rplus_pps", "offered_pps", "sent", "received",
      "matched", "percentiles_ns.p0", "percentiles_ns.p50", "percentiles_ns.p90",
      "percentiles_ns.p99", "percentiles_ns.p99_9", "percentiles_ns.p99_99", "percentiles_ns.p100",
      "baseline", "queueing", "mode"))
end

return csv
