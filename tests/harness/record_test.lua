-- SPDX-License-Identifier: BSD-3-Clause
-- Records: JSON, what is checked, whole lines, damage named by file and line, what is there
-- already.

local rig = require "rig"
local json = require "sluice.json"
local record = require "sluice.bench.record"
local made = require "made"
local test, same, check, raises = rig.test, rig.same, rig.check, rig.raises
local tmp = os.getenv("HARNESS_TMP")

test("JSON: numbers keep all their digits", function()
  same(json.encode{a = 9007199254740993, b = 0.1, c = 1e300, d = -3},
       '{"a":9007199254740993,"b":0.1,"c":1e300,"d":-3}')
  check(json.decode('{"a":9007199254740993}').a == 9007199254740993)
  check(math.type(json.decode("[7]")[1]) == "integer")
end)

test("JSON: lists, nothing, order of keys", function()
  same(json.encode{b = {}, a = json.list{}, c = json.null, d = {1, "x", false}},
       '{"a":[],"b":{},"c":null,"d":[1,"x",false]}')
  same(json.encode({a = 1, z = {y = 2, b = 3}, m = 4}, {"z", "y"}),
       '{"z":{"y":2,"b":3},"a":1,"m":4}')
  same(json.encode("text\n\"\u{20ac}"), '"text\\n\\"\u{20ac}"')
  same(json.decode('{"a":null}').a, nil)
end)

test("JSON: what cannot be written is named", function()
  raises("the value.a[2].b cannot be JSON: it should be a number", json.encode,
         {a = {1, {b = print}}})
  raises("the value.x cannot be JSON: it is a number that is not finite", json.encode, {x = 0 / 0})
  raises("the value[1] cannot be JSON: it is a text that is not UTF-8", json.encode, {"\xff"})
  raises("its keys are neither names alone nor 1 to the last item", json.encode, {1, a = 2})
  raises("its keys are neither", json.encode, {[1] = 1, [3] = 2})
  raises("its keys are neither", json.encode, {[0.5] = 1})
  raises("its name is not UTF-8", json.encode, {["\xff"] = 1})
  raises("one of its names has a NUL byte", json.encode, {["a\0b"] = 1})
  same(json.decode(json.encode{"a\0b"})[1], "a\0b")
  local loop = {}
  loop.loop = loop
  raises("more than 64 deep", json.encode, loop)
end)

test("JSON: what cannot be read is told with its column", function()
  for _, bad in ipairs{"", "{", '{"a":1,"a":2}', "nothing", "[1] 2", "[1e999]"} do
    local value, why = json.decode(bad)
    check(value == nil and why:find("^column %d+: "), "%s", bad)
  end
end)

test("each kind of record is written and read again", function()
  for _, one in ipairs(made.one_of_each()) do
    local line = record.line(one)
    check(not line:find("\n"))
    same(line:match('^{"type":"(%w+)","version":1,"session":'), one.type)
    local records, faults = record.read_text("x", line .. "\n")
    same(faults, {}, one.type)
    same(record.line(records[1]), line, one.type)
  end
end)

local function trial(change)
  local one = made.one_of_each()[2]
  change(one)
  return record.check(one)
end

test("a faulty record: every fault", function()
  same(trial(function(one) one.size, one.dir, one.rx_pps = "64", "both", nil end),
       {"dir should be one of uni, rev, bi", "size should be a number", "rx_pps is missing"})
  same(trial(function(one) one.verdict = "vnf 12" end), {})
  same(trial(function(one) one.verdict = "vnf" end)[1]:match("^verdict should be one of switch"),
       "verdict should be one of switch")
  same(trial(function(one) one.extra, one.switch.name = 1, nil end),
       {"switch.name is missing", "extra is no field of it"})
  same(trial(function(one) one.drops = {{hop = "a", frames = 1.5}} end),
       {"drops[1].frames should be a whole number"})
  same(trial(function(one) one.drops = {a = 1} end), {"drops should be a list"})
  same(trial(function(one) one.version = 2 end), {"version is 2, this program reads 1"})
  same(#record.check{type = "other"}, 1)
  same(#record.check(5), 1)
  raises("a record (trial) is faulty: session is missing", record.line,
         record.new("trial", made.without(made.one_of_each()[2], "session")))
end)

test("lines are appended whole, and a line that was cut stays one", function()
  local path = tmp .. "/append.jsonl"
  os.remove(path)
  local all = made.one_of_each()
  local writer = assert(record.append(path))
  writer.write(all[1])
  writer.write(all[2])
  writer.close()
  local file <close> = io.open(path, "a")
  file:write('{"type":"tri')
  file:close()
  writer = assert(record.append(path))
  writer.write(all[3])
  raises("faulty", writer.write, {type = "trial"})
  writer.close()
  writer.close()
  local records, faults = record.read(path)
  same(#records, 3)
  same(#faults, 1)
  check(faults[1]:find("^" .. path:gsub("%p", "%%%0") .. ":3: this is no JSON: column %d"), "%s",
        faults[1])
end)

test("damage is named by file and line, the rest is read", function()
  local good = record.line(made.one_of_each()[1])
  local records, faults = record.read_text("r.jsonl", table.concat({
    good, "", "{}", good:gsub('"version":1', '"version":9'), good, '{"type":"env"'}, "\n"))
  same(#records, 2)
  same(faults, {"r.jsonl:2: an empty line",
                "r.jsonl:3: type should be one of env, trial, result, latency, compare, intrinsic, iperf3",
                "r.jsonl:4: version is 9, this program reads 1",
                "r.jsonl:6: the line was cut off: the run was ended while it wrote"})
  local none, why = record.read(tmp .. "/none.jsonl")
  check(none == nil and why:find("none.jsonl: No such file"))
  check(select(2, record.append(tmp .. "/no/such/dir")):find("ENOENT"))
end)

test("which cells are there", function()
  local all = made.one_of_each()
  same(record.test(all[2]), "loopback:2/uni/64/memif/io/sluice")
  local done = record.done(all)
  check(done["loopback:2/uni/64/memif/io/sluice mrr"]
        and done["loopback:2/uni/64/memif/io/sluice latency 0.5"])
  local n = 0
  for _ in pairs(done) do n = n + 1 end
  same(n, 2)
  same(record.test{scenario = "p2p", vnfs = 0, dir = "bi", size = 353.8, mix = "simple",
                   wire = "ring",
                   vnf = "none", link_bps = 1e10, switch = {name = "ovs"}},
                       "p2p/bi/mix-simple/ring/10G/ovs")
end)

test("the published schema is that of the table", function()
  local text = require("sluice.bench.schema").text()
  local file = io.open("docs/bench-results.schema.json")
  local published = file and file:read("a")
  if file then file:close() end
  if published ~= text then
    local fresh <close> = io.open(os.getenv("OUT") .. "/bench-results.schema.json", "w")
    fresh:write(text)
    error("docs/bench-results.schema.json is not that of lua/bench/fields.lua; a new one is in " ..
          os.getenv("OUT"), 0)
  end
end)
