-- SPDX-License-Identifier: BSD-3-Clause
-- Reads what a Meter says of latency: HdrHistogram's V2 text, in base64, not compressed, with three
-- significant digits from 1 ns. Pure.

local histogram = {}

local alphabet = {}
for i = 0, 63 do
  alphabet[("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"):byte(i + 1)] = i
end

local function decode(text)
  local bytes, bits, n = {}, 0, 0
  for i = 1, #text do
    local six = alphabet[text:byte(i)]
    if six then
      bits, n = (bits << 6 | six) & 0xffffff, n + 6
      if n >= 8 then
        n = n - 8
        bytes[#bytes + 1] = string.char(bits >> n & 255)
      end
    end
  end
  return table.concat(bytes)
end

-- A number of the payload: ZigZag, seven bits a byte, nine bytes at most, the last one whole.
local function number(bytes, at)
  local value, shift = 0, 0
  while true do
    local byte = bytes:byte(at)
    at = at + 1
    if shift == 56 then
      value = value | byte << 56
      break
    end
    value, shift = value | (byte & 127) << shift, shift + 7
    if byte < 128 then break end
  end
  return (value >> 1) ~ -(value & 1), at
end

-- The greatest value that a count stands for.
local function upper(index)
  local bucket, sub = (index >> 10) - 1, (index & 1023) + 1024
  if bucket < 0 then bucket, sub = 0, index end
  return (sub + 1 << bucket) - 1
end

local HEADER = 40 -- bytes before the counts

--- Buckets in use: {{upper end in ns, frames}, ...}.
---@param text string
function histogram.read(text)
  local bytes, list, index = decode(text), {}, 0
  local at, last = HEADER + 1, HEADER + (">I4"):unpack(bytes, 5)
  while at <= last do
    local n
    n, at = number(bytes, at)
    if n < 0 then
      index = index - n
    else
      if n > 0 then list[#list + 1] = {upper(index), n} end
      index = index + 1
    end
  end
  return list
end

--- Several together.
---@param lists table[]
function histogram.add(lists)
  local sum, order = {}, {}
  for _, list in ipairs(lists) do
    for _, bucket in ipairs(list) do
      if not sum[bucket[1]] then order[#order + 1] = bucket[1] end
      sum[bucket[1]] = (sum[bucket[1]] or 0) + bucket[2]
    end
  end
  table.sort(order)
  for i, value in ipairs(order) do order[i] = {value, sum[value]} end
  return order
end

--- The percentiles of a `latency` record, by nearest rank; the ends are exact if given.
---@param list table[]
---@param least? number
---@param greatest? number
function histogram.percentiles(list, least, greatest)
  local total = 0
  for _, bucket in ipairs(list) do total = total + bucket[2] end
  local function rank(share)
    local wanted, seen = math.max(1, math.ceil(share * total)), 0
    for _, bucket in ipairs(list) do
      seen = seen + bucket[2]
      if seen >= wanted then return math.min(bucket[1], greatest or bucket[1]) end
    end
    return 0
  end
  return {p0 = least or rank(0), p50 = rank(0.5), p90 = rank(0.9), p99 = rank(0.99),
          p99_9 = rank(0.999), p99_99 = rank(0.9999), p100 = greatest or rank(1)}
end

return histogram
