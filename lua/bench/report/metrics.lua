-- SPDX-License-Identifier: BSD-3-Clause
-- Final figures for time-series databases: OpenMetrics (Prometheus) and Influx line protocol.

local report = require "sluice.bench.report"
local metrics = {}

local function number(value)
  return math.type(value) == "integer" and tostring(value) or ("%.15g"):format(value)
end

-- What tells series apart; absent parts are left out.
local function labels(data, one)
  local list = {
    {"host", data.hosts[one.session]}, {"scenario", one.scenario}, {"vnfs", one.vnfs},
    {"dir", one.dir}, {"size", ("%g"):format(one.size)}, {"wire", one.wire}, {"vnf", one.vnf},
    {"switch", one.switch.name}, {"mode", one.mode},
  }
  local kept = {}
  for _, pair in ipairs(list) do
    if pair[2] ~= nil then kept[#kept + 1] = {pair[1], tostring(pair[2])} end
  end
  return kept
end

local function open_labels(list, ...)
  local parts = {}
  local function add(pair)
    parts[#parts + 1] = ('%s="%s"'):format(pair[1],
                                           (pair[2]:gsub('[\\"]', "\\%0"):gsub("\n", "\\n")))
  end
  for _, pair in ipairs(list) do add(pair) end
  for _, pair in ipairs{...} do add(pair) end
  return table.concat(parts, ",")
end

--- OpenMetrics, as a file for the textfile collector or `promtool tsdb create-blocks-from`.
function metrics.openmetrics(data)
  local out = {}
  local function family(name, unit, help, list, rows)
    if #list == 0 then return end
    out[#out + 1] = ("# TYPE %s gauge"):format(name)
    if unit then out[#out + 1] = ("# UNIT %s %s"):format(name, unit) end
    out[#out + 1] = ("# HELP %s %s"):format(name, help)
    for _, one in ipairs(list) do
      for _, row in ipairs(rows(one)) do
        if row[1] ~= nil then
          out[#out + 1] = ("%s{%s} %s %d"):format(
              name, open_labels(labels(data, one), table.unpack(row, 2)),
                                                 number(row[1]), report.seconds(one.time))
        end
      end
    end
  end
  family("sluice_bench_pps", "pps", "Packets a second of a test.", data.results, function(one)
    local rows = {}
    for i, name in ipairs{"median", "min", "max"} do
      rows[i] = {one.value_pps[name], {"metric", one.metric}, {"stat", name},
                 {"limited_by", one.limited_by}}
    end
    return rows
  end)
  family("sluice_bench_l1_gbps", "gbps", "The same at layer 1, median.", data.results, function(one)
    return {{one.l1_gbps, {"metric", one.metric}}}
  end)
  family("sluice_bench_packet_cycles", "cycles", "Cycles of the switch's core a packet.",
         data.results,
         function(one) return {{one.cycles_per_packet, {"metric", one.metric}}} end)
  family("sluice_bench_latency_seconds", "seconds", "Latency from the intended time of sending.",
         data.latency, function(one)
    local rows = {}
    for i, pair in ipairs{{"p0", "0"}, {"p50", "0.5"}, {"p90", "0.9"}, {"p99", "0.99"},
                          {"p99_9", "0.999"}, {"p99_99", "0.9999"}, {"p100", "1"}} do
      rows[i] = {one.percentiles_ns[pair[1]] / 1e9, {"load", ("%g"):format(one.load)},
                 {"quantile", pair[2]}}
    end
    return rows
  end)
  out[#out + 1] = "# EOF"
  return table.concat(out, "\n") .. "\n"
end

local function influx_tag(text) return (text:gsub("[,= ]", "\\%0")) end

--- Influx line protocol, times in ns.
function metrics.influx(data)
  local out = {}
  local function line(measurement, one, tags, fields)
    local head = {measurement}
    for _, pair in ipairs(labels(data, one)) do
      head[#head + 1] = pair[1] .. "=" .. influx_tag(pair[2])
    end
    for _, pair in ipairs(tags) do head[#head + 1] = pair[1] .. "=" .. influx_tag(pair[2]) end
    local body = {}
    for _, pair in ipairs(fields) do
      if pair[2] ~= nil then body[#body + 1] = pair[1] .. "=" .. number(pair[2] + 0.0) end
    end
    out[#out + 1] = ("%s %s %d000000000"):format(table.concat(head, ","), table.concat(body, ","),
                                                report.seconds(one.time))
  end
  for _, one in ipairs(data.results) do
    line("sluice_bench", one, {{"metric", one.metric}, {"limited_by", one.limited_by}},
         {{"median", one.value_pps.median}, {"min", one.value_pps.min}, {"max", one.value_pps.max},
          {"l1_gbps", one.l1_gbps}, {"cycles_per_packet", one.cycles_per_packet}})
  end
  for _, one in ipairs(data.latency) do
    local fields = {}
    for i, name in ipairs{"p0", "p50", "p90", "p99", "p99_9", "p99_99", "p100"} do
      fields[i] = {name .. "_ns", one.percentiles_ns[name]}
    end
    line("sluice_bench_latency", one, {{"load", ("%g"):format(one.load)}}, fields)
  end
  return table.concat(out, "\n") .. (#out > 0 and "\n" or "")
end

return metrics
