-- SPDX-License-Identifier: BSD-3-Clause
-- Rates: packets a second, bits a second at layer 1 (with preamble, start of frame and gap: 20
-- bytes) and at layer 2. A size is that of the frame with its checksum (FCS, 4 bytes), as in RFC
-- 2544.

local rates = {}

rates.overhead = 20 -- bytes on the wire that are no frame
rates.fcs = 4       -- bytes of a frame that software does not see

--- Packets a second that a link carries.
---@param bits_per_second number of the link, which is layer 1
---@param size number bytes with FCS
function rates.line_pps(bits_per_second, size)
  return bits_per_second / (8 * (size + rates.overhead))
end

--- What the physical ports of a scenario let through, each way at line rate: packets a second by
--- flow, {[flow] = pps}, of those that begin or end at one; and their sum, nil: there are none.
---@param scenario {flows: {from: integer, to: integer}[], ports: {kind: string}[]}
---@param bits_per_second number? of the links; nil: they have no speed
---@param size number
function rates.paced(scenario, bits_per_second, size)
  local each, sum = {}, nil
  for f, flow in ipairs(bits_per_second and scenario.flows or {}) do
    for _, port in ipairs{flow.from, flow.to} do
      if scenario.ports[port + 1].kind == "physical" then
        each[f] = rates.line_pps(bits_per_second, size)
      end
    end
    if each[f] then sum = (sum or 0) + each[f] end
  end
  return each, sum
end

--- Bits a second at layer 1 and layer 2 of so many packets a second.
function rates.l1_bps(pps, size) return pps * (size + rates.overhead) * 8 end
function rates.l2_bps(pps, size) return pps * size * 8 end

--- The other way.
function rates.pps_of_l1(bps, size) return bps / ((size + rates.overhead) * 8) end
function rates.pps_of_l2(bps, size) return bps / (size * 8) end

--- Mixes of sizes by name: {{size, share}, ...}, with FCS.
rates.mixes = require "sluice.mixes"

--- The mean size of a mix.
function rates.mix_mean(mix)
  local bytes, weight = 0, 0
  for _, row in ipairs(mix) do bytes, weight = bytes + row[1] * row[2], weight + row[2] end
  return bytes / weight
end

-- Three digits that count, and no more: 15.3, 1.05, 153.
local function digits(number)
  local size = math.abs(number)
  if size >= 99.95 then return "%.0f" end
  if size >= 9.995 then return "%.1f" end
  return "%.2f"
end

local steps = {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}}

--- 15310000, "pps" -> "15.3 Mpps". `figures`: digits behind the point, else three that count.
---@param value number
---@param unit string
---@param figures? integer
function rates.text(value, unit, figures)
  for _, step in ipairs(steps) do
    if math.abs(value) >= step[1] * 0.9995 or step[1] == 1 then
      local part = value / step[1]
      local format = figures and ("%%.%df"):format(figures) or step[1] == 1 and "%.0f"
          or digits(part)
      return (format .. " %s%s"):format(part, step[2], unit)
    end
  end
end

--- A time in ns: "850 ns", "12.6 us", "1.20 ms", "3.00 s".
function rates.time_text(ns)
  for _, step in ipairs{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}} do
    if ns >= step[1] * 0.9995 then
      return (digits(ns / step[1]) .. " %s"):format(ns / step[1], step[2])
    end
  end
  return ("%.0f ns"):format(ns)
end

local units = {k = 1e3, M = 1e6, G = 1e9, T = 1e12, [""] = 1}

--- "10G", "100M", "2.5G" or "1000000" as bits a second; nil, and what it should be, else.
---@param text string
function rates.link_read(text)
  local number, unit = tostring(text):match("^(%d+%.?%d*)([kMGT]?)$")
  local bits = number and tonumber(number) * units[unit]
  if not bits or bits <= 0 then return nil, "a rate of a link, as in 10G, 2.5G or 100M" end
  return bits
end

return rates
