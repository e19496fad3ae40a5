-- SPDX-License-Identifier: BSD-3-Clause
-- Statistics against values known from elsewhere.

local rig = require "rig"
local stats = require "sluice.bench.stats"
local random = require "sluice.bench.random"
local test, near, same, check = rig.test, rig.near, rig.same, rig.check

test("quantiles are those of R's type 7", function()
  local values = {7, 1, 3, 10}
  near(stats.quantile(values, 0), 1)
  near(stats.quantile(values, 0.25), 2.5)
  near(stats.median(values), 5)
  near(stats.quantile(values, 0.9), 9.1)
  near(stats.quantile(values, 1), 10)
  same(values, {7, 1, 3, 10}, "the list stays as it was")
  same(stats.summary{3, 1, 2}, {median = 2, min = 1, max = 3, n = 3})
  near(stats.median{42}, 42)
  check(stats.summary{} == nil and stats.median{} == nil, "nothing of nothing")
end)

test("intervals of the median are the binomial's", function()
  check(stats.median_interval{1, 2, 3, 4, 5} == nil, "five values hold no 95 %%")
  local low, high, coverage = stats.median_interval{6, 5, 4, 3, 2, 1}
  same({low, high}, {1, 6})
  near(coverage, 1 - 2 / 64)
  -- n = 10: the 2nd and 9th value, 97.85 % (Conover, table A3).
  local ten = {}
  for i = 1, 10 do ten[i] = i end
  low, high, coverage = stats.median_interval(ten)
  same({low, high}, {2, 9})
  near(coverage, 1 - 2 * 11 / 1024)
  -- n = 20: the 6th and 15th, 95.86 %.
  for i = 11, 20 do ten[i] = i end
  low, high, coverage = stats.median_interval(ten)
  same({low, high}, {6, 15})
  near(coverage, 0.9586105, 1e-6)
end)

test("intervals hold the median as often as they say", function()
  local draw, held, rounds = random.new(7), 0, 2000
  for _ = 1, rounds do
    local values = {}
    for i = 1, 9 do values[i] = math.exp(draw:normal()) end
    local low, high = stats.median_interval(values)
    if low <= 1 and high >= 1 then held = held + 1 end
  end
  near(held / rounds, 0.961, 0.02, "of log-normal values")
end)

test("ratios of adjacent pairs, the A/A floor, what could have been seen", function()
  local a = {110, 220, 330, 440, 550, 660, 770}
  local b = {100, 200, 300, 400, 500, 600, 700}
  local pair = stats.pair_ratio(a, b)
  near(pair.ratio, 1.1)
  check(pair.differs and pair.n == 7)
  near(stats.floor({1.01, 1, 0.99}, {1, 1, 1}), 0.01, 1e-6)
  local compared = stats.compare(a, b, 0.02)
  same(compared.verdict, "faster")
  near(compared.detectable, 0.02)
  same(stats.compare(b, a, 0.02).verdict, "slower")
  same(stats.compare(a, b, 0.2).verdict, "same", "the floor hides it")
  compared = stats.compare({1, 1.1, 0.9, 1.05, 0.95, 1, 1.02}, {1, 1, 1, 1, 1, 1, 1})
  same(compared.verdict, "same")
  near(compared.detectable, 0.1, 1e-6)
  same(stats.compare({2, 2, 2}, {1, 1, 1}).verdict, "same", "three pairs show nothing")
  check(stats.compare({}, {}) == nil and stats.pair_ratio({1}, {0}) == nil)
end)

test("a line by least squares: NIST's Norris data", function()
  local x = {0.2, 337.4, 118.2, 884.6, 10.1, 226.5, 666.3, 996.3, 448.6, 777.0, 558.2, 0.4, 0.6,
             775.5, 666.9, 338.0, 447.5, 11.6, 556.0, 228.1, 995.8, 887.6, 120.2, 0.3, 0.3, 556.8,
             339.1, 887.2, 999.0, 779.0, 11.1, 118.3, 229.2, 669.1, 448.9, 0.5}
  local y = {0.1, 338.8, 118.1, 888.0, 9.2, 228.1, 668.5, 998.5, 449.1, 778.9, 559.2, 0.3, 0.1,
             778.1, 668.8, 339.3, 448.9, 10.8, 557.7, 228.3, 998.0, 888.8, 119.6, 0.3, 0.6, 557.6,
             339.3, 888.0, 998.5, 778.9, 10.2, 117.6, 228.9, 668.4, 449.2, 0.2}
  local fit = stats.line(x, y)
  near(fit.a, -0.262323073774029, 1e-9)
  near(fit.b, 1.00211681802045, 1e-12)
  near(fit.a_error, 0.232818234301152, 1e-9)
  near(fit.b_error, 0.429796848199937e-3, 1e-9)
  near(fit.r2, 0.999993745883712, 1e-9)
  check(stats.line({1, 1}, {2, 3}) == nil and stats.line({1}, {1}) == nil)
  check(stats.line({1, 2}, {2, 3}).b_error == nil, "two points have no error")
end)

test("a chain: ns a VNF", function()
  local fit = stats.chain({1, 2, 3}, {1e9 / 150, 1e9 / 200, 1e9 / 250})
  near(fit.a, 100, 1e-6)
  near(fit.b, 50, 1e-6)
end)

local function series(seed, levels, noise)
  local draw, values = random.new(seed), {}
  for _, level in ipairs(levels) do
    for _ = 1, level[2] do values[#values + 1] = level[1] * (1 + noise * draw:normal()) end
  end
  return values
end

test("change points are found where they are", function()
  local changes = stats.changes(series(1, {{10, 15}, {12, 15}, {9, 15}}, 0.02))
  same(#changes, 2)
  check(math.abs(changes[1].at - 16) <= 1 and math.abs(changes[2].at - 31) <= 1)
  near(changes[1].ratio, 1.2, 0.02)
  near(changes[2].ratio, 0.75, 0.02)
  same(#stats.changes(series(1, {{10, 5}, {20, 5}}, 0.01)), 1, "ten values are enough")
  same(#stats.changes{1, 2}, 0)
  same(#stats.changes(series(2, {{10, 20}, {10.02, 20}}, 0.0001)), 0, "0.2 % does not count")
end)

test("noise alone has few of them, steady values none", function()
  local found = 0
  for seed = 1, 100 do found = found + #stats.changes(series(seed, {{10, 20}}, 0.1)) end
  check(found <= 5, "%d of 100 series of noise", found)
  same(#stats.changes{5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5}, 0)
end)

test("what is drawn depends on the seed alone", function()
  local a, b, other = random.new(5), random.new(5), random.new(6)
  for _ = 1, 10 do rig.same(a:number(), b:number()) end
  check(a:number() ~= other:number())
  local sum, square = 0, 0
  for _ = 1, 10000 do
    local x = a:normal()
    sum, square = sum + x, square + x * x
  end
  check(math.abs(sum / 10000) < 0.04 and math.abs(square / 10000 - 1) < 0.06)
end)
