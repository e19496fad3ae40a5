-- SPDX-License-Identifier: BSD-3-Clause
-- What is said of a handful of numbers: medians, intervals, ratios of pairs, a line through a chain
-- of VNFs, change points of a history. Pure functions of lists of numbers.
--
-- Intervals are the exact ones of the median by order statistics (Conover, Practical Nonparametric
-- Statistics, 3.2): they hold for any distribution, need no seed, and say nothing rather than too
-- much when there are few values. A bootstrap of five or seven values covers less than it claims.

local random = require "sluice.bench.random"
local stats = {}

stats.level = 0.95

local function sorted(values)
  local copy = table.move(values, 1, #values, 1, {})
  table.sort(copy)
  return copy
end

--- The quantile q (0 to 1), linear between order statistics (Hyndman and Fan 1996, type 7, the
--- default of R and NumPy). nil of no values.
---@param values number[]
---@param q number
function stats.quantile(values, q)
  local n = #values
  if n == 0 then return nil end
  local list, at = sorted(values), (n - 1) * q
  local i = math.floor(at)
  local low, high = list[i + 1], list[math.min(i + 2, n)]
  return low == high and low or low + (high - low) * (at - i)
end

function stats.median(values) return stats.quantile(values, 0.5) end

--- The median of a field of records, of those that have it.
function stats.median_of(list, name)
  local values = {}
  for _, one in ipairs(list) do values[#values + 1] = one[name] end
  return stats.median(values)
end

--- {median, min, max, n}, as results have it; nil of no values.
---@param values number[]
function stats.summary(values)
  if #values == 0 then return nil end
  local list = sorted(values)
  return {median = stats.median(list), min = list[1], max = list[#list], n = #list}
end

-- The probability of at most k heads in n throws of a fair coin.
local function binomial_half(n, k)
  local term, sum = 0.5 ^ n, 0
  for i = 0, k do
    sum = sum + term
    term = term * (n - i) / (i + 1)
  end
  return sum
end

--- The interval that holds the median with at least the level given (95 %), and what it really
--- holds it with. nil when there are too few values: six are needed for 95 %.
---@param values number[]
---@param level? number
---@return number? low
---@return number? high
---@return number? coverage
function stats.median_interval(values, level)
  local n, list = #values, sorted(values)
  local tail, k = (1 - (level or stats.level)) / 2, 0
  while n > 0 and k < n // 2 and binomial_half(n, k) <= tail do k = k + 1 end
  if k == 0 then return nil end
  return list[k], list[n + 1 - k], 1 - 2 * binomial_half(n, k - 1)
end

--- The ratio of two things measured in adjacent pairs: the median of a[i] / b[i], its interval
--- (absent below six pairs), and whether that lies clear of 1.
---@param a number[]
---@param b number[]
function stats.pair_ratio(a, b)
  local ratios = {}
  for i = 1, math.min(#a, #b) do
    if b[i] ~= 0 then ratios[#ratios + 1] = a[i] / b[i] end
  end
  if #ratios == 0 then return nil end
  local low, high = stats.median_interval(ratios)
  return {ratio = stats.median(ratios), low = low, high = high, n = #ratios, ratios = ratios,
          differs = low ~= nil and (low > 1 or high < 1)}
end

--- The A/A floor: how far from 1 the ratio of a thing with itself strays in a run, as a share.
--- By the interval of the median where there is one, else by the farthest pair.
---@param a number[] one thing
---@param again number[] the same thing, in adjacent pairs
function stats.floor(a, again)
  local pair = stats.pair_ratio(a, again)
  if not pair then return nil end
  if pair.low then return math.max(math.abs(pair.low - 1), math.abs(pair.high - 1)) end
  local farthest = 0
  for _, ratio in ipairs(pair.ratios) do farthest = math.max(farthest, math.abs(ratio - 1)) end
  return farthest
end

--- The smallest difference, as a share, that a comparison could have shown: half of its interval,
--- or the A/A floor if that is more. nil when neither is known.
---@param pair table what pair_ratio() gave
---@param floor? number
function stats.detectable(pair, floor)
  local half = pair.low and (pair.high - pair.low) / 2 / pair.ratio
  if half and floor then return math.max(half, floor) end
  return half or floor
end

--- A comparison in full, as a `compare` record has it. `verdict`: `faster`, `slower`, or `same`,
--- which is: no difference seen. A difference must clear both the interval and the A/A floor.
---@param a number[] rates of the one
---@param b number[] rates of the other, in adjacent pairs
---@param floor? number the A/A floor
function stats.compare(a, b, floor)
  local pair = stats.pair_ratio(a, b)
  if not pair then return nil end
  local clear = pair.differs and math.abs(pair.ratio - 1) > (floor or 0)
  return {ratio = pair.ratio, low = pair.low, high = pair.high, n = pair.n, floor = floor,
          detectable = stats.detectable(pair, floor),
          verdict = not clear and "same" or pair.ratio > 1 and "faster" or "slower"}
end

--- The line y = a + b x by least squares, with the standard errors of a and b (nil for two points,
--- which any line fits) and r2. nil when all x are one.
---@param x number[]
---@param y number[]
function stats.line(x, y)
  local n, mean_x, mean_y = #x, 0, 0
  for i = 1, n do mean_x, mean_y = mean_x + x[i] / n, mean_y + y[i] / n end
  local xx, xy, yy = 0, 0, 0
  for i = 1, n do
    local dx, dy = x[i] - mean_x, y[i] - mean_y
    xx, xy, yy = xx + dx * dx, xy + dx * dy, yy + dy * dy
  end
  if n < 2 or xx == 0 then return nil end
  local b = xy / xx
  local fit = {a = mean_y - b * mean_x, b = b, n = n, r2 = yy == 0 and 1 or xy * xy / (xx * yy)}
  if n > 2 then
    local rest = 0
    for i = 1, n do rest = rest + (y[i] - fit.a - b * x[i]) ^ 2 end
    local variance = rest / (n - 2)
    fit.b_error = math.sqrt(variance / xx)
    fit.a_error = math.sqrt(variance * (1 / n + mean_x ^ 2 / xx))
  end
  return fit
end

--- 1/R = a + b N of a chain: ns a packet against the number of VNFs. a and b are in ns.
---@param lengths number[] VNFs
---@param rates number[] packets a second
function stats.chain(lengths, rates)
  local times = {}
  for i, rate in ipairs(rates) do times[i] = 1e9 / rate end
  return stats.line(lengths, times)
end

-- Ranks from 1, equal values share the mean of theirs.
local function ranks(values)
  local order, rank = {}, {}
  for i = 1, #values do order[i] = i end
  table.sort(order, function(i, k) return values[i] < values[k] end)
  local i = 1
  while i <= #order do
    local last = i
    while last < #order and values[order[last + 1]] == values[order[i]] do last = last + 1 end
    for k = i, last do rank[order[k]] = (i + last) / 2 end
    i = last + 1
  end
  return rank
end

-- Pettitt's statistic: the greatest |U| over all places to cut, and how many values are before it.
local function pettitt(rank)
  local n, sum, greatest, at = #rank, 0, -1, 0
  for t = 1, n - 1 do
    sum = sum + rank[t]
    local u = math.abs(2 * sum - t * (n + 1))
    if u > greatest then greatest, at = u, t end
  end
  return greatest, at
end

local function slice(values, first, last) return table.move(values, first, last, 1, {}) end

-- The cuts with the levels on both sides, which reach to the next cuts.
local function levels(values, cuts)
  local list = {}
  for i, cut in ipairs(cuts) do
    local before = stats.median(slice(values, i > 1 and cuts[i - 1].at or 1, cut.at - 1))
    local after = stats.median(slice(values, cut.at, i < #cuts and cuts[i + 1].at - 1 or #values))
    list[i] = {at = cut.at, p = cut.p, before = before, after = after, ratio = after / before}
  end
  return list
end

-- Takes away the smallest change as long as it is below the share that counts.
local function small_drop(values, cuts, least)
  while true do
    local list, smallest = levels(values, cuts), nil
    for i, one in ipairs(list) do
      if not smallest or math.abs(one.ratio - 1) < math.abs(list[smallest].ratio - 1) then
        smallest = i
      end
    end
    if not smallest or math.abs(list[smallest].ratio - 1) >= least then return list end
    table.remove(cuts, smallest)
  end
end

--- Change points of a series in the order of time: Pettitt's rank test (Applied Statistics 28,
--- 1979, pp. 126-135), again on both sides of each change found (binary segmentation). The
--- probability is that of 999 seeded permutations, which holds for short histories too, where
--- Pettitt's formula does not. A list of {at = first place of the new level, before, after =
--- medians, ratio, p}.
---@param values number[]
---@param options? {p?: number, least?: number, seed?: integer} p: 0.01; least: the smallest change
---  that counts, as a share (0.01)
function stats.changes(values, options)
  options = options or {}
  local limit, least, rounds = options.p or 0.01, options.least or 0.01, 999
  local draw, cuts = random.new(options.seed or 1), {}
  local function search(first, last)
    if last - first < 3 then return end
    local rank = ranks(slice(values, first, last))
    local greatest, before = pettitt(rank)
    local as_great = 0
    for _ = 1, rounds do
      if pettitt(draw:shuffle(rank)) >= greatest then as_great = as_great + 1 end
    end
    local p, cut = (1 + as_great) / (1 + rounds), first + before
    if p > limit then return end
    cuts[#cuts + 1] = {at = cut, p = p}
    search(first, cut - 1)
    search(cut, last)
  end
  search(1, #values)
  table.sort(cuts, function(a, b) return a.at < b.at end)
  return small_drop(values, cuts, least)
end

return stats
