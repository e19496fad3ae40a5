-- SPDX-License-Identifier: BSD-3-Clause
-- Traffic profiles: parameters of a Source or Generator by name, mixes of sizes and numbers of flows.
--
--   local traffic = require "sluice.traffic"
--   chain(traffic.source("gen", {imix = "simple", flows = 1000, count = 1000000}), Sink())
--
-- Sizes in this file are those of standards and data sheets: of the frame with its FCS of 4 bytes,
-- 64 at least. All else in Sluice counts without FCS, as captures and software ports do; what comes
-- out of this file does too.

local place = require "sluice.place"
local build = require "sluice.build"
local traffic = {}

local FCS = 4
local SIZE_MIN, SIZE_MAX = 64, 65535 + FCS
local SIZES_MAX = 256 -- that a Source takes

--- Mixes of sizes by name: see mixes.lua.
traffic.mixes = require "sluice.mixes"

--- The sizes that RFC 2544 asks for on Ethernet.
traffic.rfc2544 = {64, 128, 256, 512, 1024, 1280, 1518}

-- The letters of RFC 6985; `z` is the MTU, which is whoever's who asks.
local genome_sizes = {a = 64, b = 128, c = 256, d = 512, e = 1024, f = 1280, g = 1518, h = 2112,
                      i = 9000, j = 16000}

local function size_check(what, size)
  if math.type(size) ~= "integer" or size < SIZE_MIN or size > SIZE_MAX then
    place.raise("%s: %s is not the size of a frame, it should be a number from %d to %d (the FCS of"
                .. " %d bytes included)", what, tostring(size), SIZE_MIN, SIZE_MAX, FCS)
  end
  return size - FCS
end

-- How many of `total` each share gets, the largest remainders first, and how far off the worst is.
local function divide(shares, sum, total)
  local counts, rests, left, worst = {}, {}, total, 0
  for i, share in ipairs(shares) do
    local exact = share * total / sum
    counts[i] = math.max(1, math.floor(exact + 1e-9))
    rests[i] = {exact - counts[i], i}
    left = left - counts[i]
  end
  table.sort(rests, function(a, b) return a[1] > b[1] or (a[1] == b[1] and a[2] < b[2]) end)
  if left < 0 then return nil end
  for k = 1, left do
    local i = rests[(k - 1) % #rests + 1][2]
    counts[i] = counts[i] + 1
  end
  for i, share in ipairs(shares) do
    worst = math.max(worst, math.abs(counts[i] / total - share / sum))
  end
  return counts, worst
end

-- The fewest frames that have the shares, or those that come nearest.
local function counts_of(shares)
  local sum, best, best_worst = 0, nil, math.huge
  for _, share in ipairs(shares) do sum = sum + share end
  for total = #shares, SIZES_MAX do
    local counts, worst = divide(shares, sum, total)
    if counts and worst < best_worst - 1e-9 then best, best_worst = counts, worst end
    if best_worst < 1e-9 then break end
  end
  return best
end

-- Spreads each size evenly over the list: always the one that is furthest behind its share.
local function interleave(sizes, counts)
  local total, list, credit = 0, {}, {}
  for i, count in ipairs(counts) do total, credit[i] = total + count, 0 end
  for k = 1, total do
    local first = 1
    for i, count in ipairs(counts) do
      credit[i] = credit[i] + count
      if credit[i] > credit[first] then first = i end
    end
    credit[first] = credit[first] - total
    list[k] = sizes[first]
  end
  return list
end

local function rows_read(rows)
  local sizes, shares = {}, {}
  if #rows == 0 or #rows > SIZES_MAX then
    place.raise("traffic.imix: a mix has 1 to %d rows, not %d", SIZES_MAX, #rows)
  end
  for i, row in ipairs(rows) do
    local share = type(row) == "table" and row[2]
    if type(share) ~= "number" or not (share > 0 and share < 1e9) then
      place.raise("traffic.imix: row %d should be a size and its share, as in {64, 7}", i)
    end
    sizes[i], shares[i] = size_check("traffic.imix", row[1]), share
  end
  return sizes, shares
end

--- The sizes of a mix, for `sizes` of a Source: each in its share and spread evenly.
---@param mix string|table the name of one of traffic.mixes, or rows as there: {{64, 7}, {1518, 1}}
---@return integer[] sizes without FCS, at most 256: odd shares are met to a fraction of a percent
function traffic.imix(mix)
  local rows = mix
  if type(mix) == "string" then
    rows = traffic.mixes[mix]
    if not rows then
      local names = {}
      for name in pairs(traffic.mixes) do names[#names + 1] = name end
      table.sort(names)
      place.raise('traffic.imix: there is no mix "%s"%s', mix,
                  place.near(mix, traffic.mixes, ", but " .. table.concat(names, ", ")))
    end
  end
  if type(rows) ~= "table" then
    place.raise("traffic.imix takes the name of a mix, or a list of sizes and shares, not a %s",
                type(mix))
  end
  local sizes, shares = rows_read(rows)
  return interleave(sizes, counts_of(shares))
end

--- The sizes of an IMIX genome (RFC 6985), letter by letter in this order: "aaafg" is 64, 64, 64,
--- 1280, 1518. Letters are a to j, and those of `sizes`: the RFC leaves z to the MTU.
---@param text string
---@param sizes table? what more letters stand for: {z = 1518}
---@return integer[] sizes without FCS
function traffic.genome(text, sizes)
  if type(text) ~= "string" or text == "" or #text > SIZES_MAX then
    place.raise("traffic.genome takes 1 to %d letters, as in \"aaafg\"", SIZES_MAX)
  end
  local list = {}
  for letter in text:gmatch(".") do
    local size = sizes and sizes[letter] or genome_sizes[letter]
    if not size then
      place.raise('traffic.genome: "%s" stands for no size: letters are a to j, others are given,'
                  .. " as in {z = 1518}", letter)
    end
    list[#list + 1] = size_check("traffic.genome", size)
  end
  return list
end

--- The sizes of frames, for `sizes` of a Source.
---@param ... integer
---@return integer[] sizes without FCS
function traffic.sizes(...)
  local list = {}
  for i, size in ipairs(table.pack(...)) do list[i] = size_check("traffic.sizes", size) end
  if #list == 0 then place.raise("traffic.sizes takes the sizes of frames, as in (64, 1518)") end
  return list
end

--- Fields for n flows: they take n values together, packet by packet or, with a seed, at random.
---@param n integer
---@param over string|string[]|nil fields of a Source that tell flows apart ("ipv4.src" if nothing
---  is said; {"ipv4.src", "sport"}: both change at once)
---@param seed integer? at random
---@return table[] fields of a Source
function traffic.flows(n, over, seed)
  if math.type(n) ~= "integer" or n < 1 then
    place.raise("traffic.flows: %s is not a number of flows", tostring(n))
  end
  if type(over) == "string" or over == nil then over = {over or "ipv4.src"} end
  local fields = {}
  for i, field in ipairs(over) do
    fields[i] = {field = field, values = n, mode = seed and "random" or "count", seed = seed}
  end
  return fields
end

local options = {imix = true, genome = true, frame = true, flows = true, over = true, random = true}

--- Parameters of a Source. Beside its own it knows: one of `frame` (a size with FCS), `imix` (see
--- traffic.imix) and `genome`; `flows`, how many, with `over` and `random = seed` as in
--- traffic.flows.
---@param spec table
---@return table
function traffic.params(spec)
  if type(spec) ~= "table" then
    place.raise('traffic.params takes a table, as in {imix = "simple", flows = 1000}')
  end
  local params, sizes = {}, {}
  for name, value in pairs(spec) do
    if not options[name] then params[name] = value end
  end
  if spec.frame ~= nil then sizes[#sizes + 1] = traffic.sizes(spec.frame) end
  if spec.imix ~= nil then sizes[#sizes + 1] = traffic.imix(spec.imix) end
  if spec.genome ~= nil then sizes[#sizes + 1] = traffic.genome(spec.genome) end
  if #sizes + (spec.size and 1 or 0) + (spec.sizes and 1 or 0) > 1 then
    place.raise("traffic: sizes are given twice: frame, imix, genome, size and sizes exclude each"
                .. " other")
  end
  if sizes[1] then params.sizes = sizes[1] end
  if spec.flows == nil and (spec.over ~= nil or spec.random ~= nil) then
    place.raise("traffic: over and random say how flows differ, but flows is missing")
  elseif spec.flows ~= nil and spec.fields ~= nil then
    place.raise("traffic: flows and fields exclude each other")
  elseif spec.flows ~= nil then
    params.fields = traffic.flows(spec.flows, spec.over, spec.random)
  end
  return params
end

local function make(module, name, spec)
  local new = build.module(module)
  if type(name) == "string" then return new(name, traffic.params(spec or {})) end
  return new(traffic.params(name or {}))
end

--- A Source with traffic.params: `traffic.source{...}` or `traffic.source("name", {...})`.
---@return Node
function traffic.source(name, spec)
  return make("Source", name, spec)
end

--- The same for a Generator.
---@return Node
function traffic.generator(name, spec)
  return make("Generator", name, spec)
end

return traffic
