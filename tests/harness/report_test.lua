-- SPDX-License-Identifier: BSD-3-Clause
-- The report of the stored session: text as it was, tables and metrics that others can read, plots
-- that gnuplot draws, a page that asks for nothing, a history with its changes.

local rig = require "rig"
local made = require "made"
local json = require "sluice.json"
local record = require "sluice.bench.record"
local report = require "sluice.bench.report"
local gnuplot = require "sluice.bench.report.gnuplot"
local text = require "sluice.bench.report.text"
local trend = require "sluice.bench.report.trend"
local write = require "sluice.bench.report.write"
local random = require "sluice.bench.random"
local test, same, check = rig.test, rig.same, rig.check
local tmp, out = os.getenv("HARNESS_TMP"), os.getenv("OUT")

local stored = "tests/data/bench/made.jsonl"

local function read(path)
  local file = io.open(path, "rb")
  if not file then return nil end
  local content = file:read("a")
  file:close()
  return content
end

-- What is stored must be what is made now; if not, the new one is left where it can be looked at.
local function golden(path, content)
  if read(path) == content then return end
  local name = out .. "/" .. path:match("[^/]*$")
  local file <close> = assert(io.open(name, "w"))
  file:write(content)
  error(("%s is not what is made now; that is in %s"):format(path, name), 0)
end

test("the stored session is the one that is made", function() golden(stored, made.lines()) end)

local records, faults = report.read{stored}
local data = report.collect(records)

test("it is read whole", function()
  same(faults, {})
  same(#data.results, 45)
  same(#data.latency, 9)
  same(select(2, report.read{stored, tmp .. "/none"}), {tmp .. "/none: No such file or directory"})
end)

test("text", function() golden("tests/data/bench/made.txt", text.write(data)) end)

test("lines are those of the method", function()
  local one = made.one_of_each()[3]
  one.value_pps = {median = 15.31e6, min = 14.9e6, max = 15.6e6, n = 7}
  one.l1_gbps, one.cycles_per_packet, one.ratio_to_testpmd = 10.29, 151, 0.97
  same(text.lines{one}[1], "loopback 2  64B  uni  memif io  sluice    15.31 Mpps  10.29 Gbps L1  "
       .. "[14.9..15.6] n=7  151 cyc/pkt  0.97x testpmd  near  limit: switch")
  one.own, one.limited_by = false, "generator"
  check(text.lines{one}[1]:find(">= 15.31 Mpps", 1, true)
        and not text.lines{one}[1]:find("testpmd"))
end)

test("of two results of a cell the later one is final, of two modes both", function()
  local one, other = made.one_of_each()[3], made.one_of_each()[3]
  other.value_pps = {median = 1, min = 1, max = 1, n = 1}
  same(#report.collect{one, other}.results, 1)
  same(report.collect{one, other}.results[1].value_pps.median, 1)
  other.mode = "far"
  same(#report.collect{one, other}.results, 2)
  same(#report.collect{}.results, 0)
  same(text.write(report.collect{}), "\n")
end)

test("times", function()
  same(report.seconds("1970-01-01T00:00:00Z"), 0)
  same(report.seconds("2026-01-01T00:00:00Z"), 1767225600)
  same(report.seconds("2000-02-29T23:59:59Z"), 951868799)
  same(report.seconds("yesterday"), nil)
end)

test("tables: as many fields in each row", function()
  local csv = require "sluice.bench.report.csv"
  for _, name in ipairs{"results", "trials", "latency"} do
    local rows, width = 0, nil
    for line in csv[name](data):gmatch("[^\n]+") do
      local _, commas = line:gsub('"[^"]*"', "x"):gsub(",", "")
      width = width or commas
      same(commas, width, name)
      rows = rows + 1
    end
    same(rows, #data[name] + 1, name)
  end
  local one = made.one_of_each()[2]
  one.why = 'a "why", with\nlines'
  check(csv.trials{trials = {one}}:find('"a ""why"", with\nlines"', 1, true))
end)

test("Influx line protocol", function()
  local n = 0
  for line in require("sluice.bench.report.metrics").influx(data):gmatch("[^\n]+") do
    check(line:find("^sluice_bench[_latency]*,[%w_=.,:-]+ [%w_=.,e+-]+ %d+$"), "%s", line)
    n = n + 1
  end
  same(n, #data.results + #data.latency)
end)

test("chains have the time a VNF", function()
  local chains = report.chains(data.results)
  same(#chains, 3)
  rig.near(chains[1].fit.b, 56, 0.05)
  rig.near(chains[3].fit.b, 97, 0.05)
end)

test("published figures stand beside as ratios", function()
  local lines = require("sluice.bench.report.paper").lines(data.results)
  same(lines[1]:match("^(.-); "), "p2p bi, to ovs: here sluice >= 1.88, testpmd >= 1.84")
  check(lines[2]:find("^v2v uni, to ovs: here sluice 1%.%d+, testpmd 1%.%d+; published vale 2.61"))
end)

test("a folder that cannot be written is told", function()
  local done, why = write.report(records, {out = stored .. "/x", formats = {"text"}})
  check(done == nil and why:find("ENOTDIR"), "%s", why)
end)

test("without plots nothing else is needed", function()
  same(write.report(records, {out = tmp .. "/plain", formats = {"openmetrics", "influx"}}),
       {tmp .. "/plain/metrics.txt", tmp .. "/plain/influx.txt"})
end)

-- A level with two changes, a day apart each.
local function history()
  local draw, medians = random.new(4), {}
  for i = 1, 36 do
    medians[i] = (i <= 12 and 15.9e6 or i <= 24 and 14.3e6 or 15.6e6) * (1 + 0.01 * draw:normal())
  end
  return medians
end

test("a history has its changes, inside one host and mode", function()
  local all = made.history(history())
  for _, one in ipairs(made.history({7e6, 7.1e6}, "far")) do all[#all + 1] = one end
  for _, one in ipairs(made.history({9e6}, "near", "elsewhere")) do
    one.session = "other"
    all[#all + 1] = one
  end
  local list = trend.series(all)
  same(#list, 3)
  local series = list[3]
  same(#series.points, 36)
  same({#series.changes, series.changes[1].at, series.changes[2].at}, {2, 13, 25})
  local words = trend.text(list)
  check(words:find(
      "\n  2026%-01%-14T00:00:00Z: 15.%d Mpps to 14.%d Mpps %(%-%d+%.%d %%%), p = 0.001\n"), "%s",
          words)
  check(words:find("too few results to tell a change", 1, true))
end)

test("a folder of results", function()
  os.execute("mkdir -p " .. tmp .. "/history/empty")
  for i, lines in ipairs{made.history{1e6}, made.history{2e6}} do
    local writer = assert(record.append(("%s/history/%d.jsonl"):format(tmp, i)))
    for _, one in ipairs(lines) do writer.write(one) end
    writer.close()
  end
  same(#trend.files(tmp .. "/history/"), 2)
  same(select(2, trend.files(tmp .. "/history/empty")), tmp
       .. "/history/empty: there are no results (*.jsonl)")
  check(select(2, trend.files(tmp .. "/none")):find("ENOENT"))
end)

if not gnuplot.found() then
  print("skipped plots: gnuplot is not installed")
  return
end

test("every format is written", function()
  local done, missing = write.report(records, {out = tmp .. "/out", formats = write.formats,
                                               baseline = "paper"})
  check(done and not missing, "%s", missing)
  local kinds = {}
  for _, path in ipairs(done) do
    local content = read(path)
    check(content and #content > 100, "%s is empty", path)
    local kind = path:match("[^.]*$")
    kinds[kind] = (kinds[kind] or 0) + 1
    if kind == "svg" then check(content:find("<svg.*</svg>"), "%s", path) end
    if kind == "png" then check(content:sub(1, 4) == "\x89PNG", "%s", path) end
  end
  same(kinds, {txt = 3, csv = 3, json = 1, html = 1, svg = 12, png = 12})
  check(#json.decode(read(tmp .. "/out/report.json")) == 2 + 45 + 9 + 1)
  check(read(tmp .. "/out/report.txt"):find("\nPublished (other hardware", 1, true))
  check(not read(tmp .. "/out/rate-mrr-uni-64-bytes-near.gnuplot"), "scripts do not stay")
end)

test("bars that are not the switch's own are hatched", function()
  local function patterns(name)
    return select(2, read(tmp .. "/out/" .. name):gsub("<pattern", ""))
  end
  check(patterns("rate-mrr-uni-64-bytes-near.svg") >= 2)
  same(patterns("rate-mrr-uni-256-bytes-far.svg"), 0, "there all are the switch's own")
end)

test("the page asks for nothing and has every plot", function()
  local page = read(tmp .. "/out/report.html")
  same(select(2, page:gsub("<svg", "")), 12)
  for link in page:gmatch("[^%w](%a+)%s*=%s*['\"]https?:") do
    check(link == "xmlns" or link == "xlink", "the page asks for %s", link)
  end
  check(not page:find("<script") and not page:find("@import") and not page:find("src="))
  -- Names within plots are their own: no plot takes another's hatching.
  local seen = {}
  for id in page:gmatch("%sid=['\"]([^'\"]+)['\"]") do
    check(not seen[id], "the name %s is there twice", id)
    seen[id] = true
  end
  for id in page:gmatch("url%(#([^)]+)%)") do check(seen[id], "nothing has the name %s", id) end
end)

test("names from results do no harm in pages and plots", function()
  local all = made.history{15e6, 14e6}
  for i, one in ipairs(all) do
    if one.type == "result" then
      one.switch.name = "<b>'x' $(touch " .. tmp .. "/harm) `y` \"z\"\n</pre>"
      one.wire = i == 2 and "memif" or "`touch " .. tmp .. "/harm` \"\\"
      one.limited_why, one.test = "<script>", i .. "'; system 'touch " .. tmp .. "/harm'"
    end
  end
  local done, why = write.report(all, {out = tmp .. "/harmless", formats = write.formats})
  check(done and not why, "%s", why)
  done, why = write.trend(all, {out = tmp .. "/harmless/t", formats = {"html", "svg"}})
  check(done and not why, "%s", why)
  check(read(tmp .. "/harmless/report.txt"):find("`touch", 1, true))
  check(not read(tmp .. "/harmless/report.html"):find("<b>", 1, true))
  check(not read(tmp .. "/harmless/report.html"):find("<script>", 1, true))
  check(not read(tmp .. "/harm"))
end)

test("a history is drawn", function()
  local done = assert(write.trend(made.history(history()),
                                  {out = tmp .. "/trend", formats = {"text", "html", "svg"}}))
  same(#done, 3)
  check(read(tmp .. "/trend/report.html"):find("trend-v2v-uni-64-vhost-sluice", 1, true))
end)
