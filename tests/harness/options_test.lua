-- SPDX-License-Identifier: BSD-3-Clause
-- Command lines: what they mean, every fault at once, help from the table; cells and suites.

local rig = require "rig"
local cells = require "sluice.bench.cells"
local commands = require "sluice.bench.commands"
local options = require "sluice.bench.options"
local test, same, check = rig.test, rig.same, rig.check

local function words(line)
  local list = {}
  for word in line:gmatch("%S+") do list[#list + 1] = word end
  return list
end

local function parse(line) return options.parse(words(line)) end

local function good(line)
  local values, faults = parse(line)
  if not values then error(line .. ": " .. table.concat(faults, "; "), 2) end
  return values
end

local function bad(line, ...)
  local values, faults = parse(line)
  if values then error(line .. " is taken", 2) end
  if rig.text(faults) ~= rig.text{...} then
    error(("%s: %s"):format(line, table.concat(faults, "\n")), 2)
  end
end

local sizes = "64 to 9216 bytes with FCS, or imix:cisco, imix:csit, imix:ipsec, imix:ixia, "
              .. "imix:simple, imix:tcp, imix:tolly"

test("run: defaults", function()
  local values = good("run p2p")
  same(values, {command = "run", scenarios = {{scenario = "p2p", vnfs = 0}}, size = {{size = 64}},
                dir = {"uni"}, switch = {"sluice"}, switch_path = {}, wire = {"memif"},
                    vnf = {"io"},
                vnf_in = "container", search = "mrr", hugepages = "auto", trials = 7, seed = 1,
                    cores = {traffic = 0, switch = 1}})
end)

test("run: all of it", function()
  local values = good("run p2p,p2v loopback:1-3 --size 64,256,imix:simple --dir=uni,rev,bi "
      .. "--switch sluice,testpmd,ovs --switch-path bess=/opt/bess --switch-path vpp=/x "
      .. "--wire vhost --vnf mac --vnf-in vm --search b2b --link 10G --trials 3 --time 100ms "
      .. "--cores 2,3 -o out.jsonl -j")
  same(#values.scenarios, 5)
  same(values.scenarios[5], {scenario = "loopback", vnfs = 3})
  same(values.size[3].mix, "simple")
  same(values.switch_path, {{name = "bess", value = "/opt/bess"}, {name = "vpp", value = "/x"}})
  same({values.link, values.time, values.output, values.json, values.cores.switch},
       {10e9, 0.1, "out.jsonl", true, 3})
  same(good("run -oa.jsonl p2p").output, "a.jsonl")
  same(good("run p2v --wire pci:0000:01:00.0+0000:01:00.1").wire, {"pci:0000:01:00.0+0000:01:00.1"})
end)

test("the other commands", function()
  same(good("latency v2v --load 0.1,1").load, {0.1, 1})
  same(good("compare sluice testpmd").pairs, 7)
  same(good("compare ./a ./b --scenario loopback:2").scenario, {{scenario = "loopback", vnfs = 2}})
  same(good("compare ./a ./b --graph g.yaml -s n=1 --pairs 1").graph, "g.yaml")
  same(good("suite paper --switch sluice,ovs").suite, "paper")
  same(good("intrinsic g.yaml --callgrind --by-node -s n=3").set, {{name = "n", value = "3"}})
  same(good("intrinsic g.yaml --sluice ./old --cores 0,2").sluice, "./old")
  same(good("report a.jsonl b.jsonl -o out --format html,png").files, {"a.jsonl", "b.jsonl"})
  same(good("report --trend results").trend, "results")
  same(good("report -- -x").files, {"-x"})
  for _, name in ipairs{"doctor", "roofline", "list", "selftest", "schema"} do
    same(good(name).command, name)
  end
end)

test("every fault of a line, with what was meant", function()
  bad("run p2q,loopback:9-2,p2p:1 --size 63,imix:353 --dir both --swich ovs --trials 0 "
      .. "--wire memfi",
      'SCENARIO: "p2q" should be p2p, p2v, v2v, loopback:N or loopback:1-5; did you mean "p2p"?',
      'SCENARIO: "loopback:9-2" should be loopback:N or loopback:1-5, with 1 to 15 VNFs',
      'SCENARIO: "p2p:1" should be p2p alone: it has no chain',
      '--size: "63" should be ' .. sizes,
      '--size: "imix:353" should be ' .. sizes,
      '--dir: "both" should be one of uni, rev, bi',
      'there is no option --swich; did you mean "--switch"?',
      'SCENARIO: "ovs" should be p2p, p2v, v2v, loopback:N or loopback:1-5',
      '--trials: "0" should be 1 to 1000',
      '--wire: "memfi" should be memif, vhost, ring or pci:ADDRESS+ADDRESS, as in '
      .. 'pci:0000:01:00.0+0000:01:00.1; did you mean "memif"?')
end)

test("switches, times, links", function()
  bad("run p2p --switch sluise",
      '--switch: "sluise" should be one of sluice, testpmd, ovs, bess, fastclick, '
      .. 'vpp, snabb; did you mean "sluice"?')
  bad("run p2p --switch-path click=/x --switch-path y", '--switch-path: there is no switch "click"',
      '--switch-path: "y" should be NAME=VALUE')
  bad("run p2p --time 1 --link 10Gbps --cores 1,1",
      '--time: "1" should be 10ms to 60min, as in 100ms or 1s',
      '--link: "10Gbps" should be a rate of a link, as in 10G, 2.5G or 100M',
      '--cores: "1,1" should be two cores, that of the traffic and that of the switch, as in 0,1')
  bad("run p2p --size 64, --size 128",
      '--size: "" should be ' .. sizes,
      "--size is given twice: several go with commas")
end)

test("what is missing, twice or too much", function()
  bad("", "a command is missing: doctor, roofline, list, run, latency, intrinsic, compare, iperf3, suite, "
      .. "report, selftest, schema")
  bad("rum p2p", 'there is no command "rum"; did you mean "run"?')
  bad("run", "SCENARIO is missing: p2p, p2v, v2v, loopback:N or loopback:1-5; several with commas")
  bad("compare sluice", "B is missing: the other")
  bad("compare a b c", '"c" is too much: it takes A B')
  bad("roofline --size 64,3000", '--size: "3000" should be 64 to 2048')
  bad("doctor now", '"now" is too much: it takes no arguments')
  bad("run p2p -o", "-o should have FILE behind it")
  bad("run p2p --json=1 --trials 1 --trials 2", '--json takes nothing, not "1"',
      "--trials is given twice")
  bad("run p2p -x --o=1", "there is no option -x", "there is no option --o")
end)

test("what does not go together", function()
  bad("run p2p,v2v --dir rev", "--dir rev: none of the scenarios has it; it is for p2v")
  good("run p2p,p2v --dir uni,rev")
  bad("run p2p --wire pci:0000:01:00.0+0000:01:00.1 --hugepages no",
      "--wire pci:0000:01:00.0+0000:01:00.1: p2p has 2 physical ports, and each needs two "
      .. "addresses, the switch's and that of the cable's other end",
      "--hugepages no: a card needs hugepages")
  bad("run p2p --vnf-in vm", "--vnf-in vm: p2p has no VNFs")
  bad("run p2p --search ndr --trials 3",
      "--trials is for mrr and b2b: ndr runs as many as it needs")
  good("run p2p --search ndr")
  bad("run p2p --search ndr --confirm",
      "--confirm is for mrr: ndr looks for a load, not for a limit")
  same(good("run p2p --confirm").confirm, true)
  bad("report", "FILE is missing: results, or --trend DIR")
  bad("report a --trend b --baseline paper", "--trend has its own files: no FILE goes with it",
      "--baseline does not go with --trend")
  bad("report a --format text,csv,png", "--format csv needs a folder to write into: -o DIR")
end)

test("help has every command and option, and fits", function()
  local function fits(text)
    for line in text:gmatch("[^\n]+") do check(#line <= 100, "%s", line) end
  end
  local all = parse("--help").help
  fits(all)
  for _, command in ipairs(commands) do
    check(all:find("\n  " .. command.name .. " ", 1, true)
          or all:find("\n  " .. command.name .. " *\n"), "%s", command.name)
    local help = parse(command.name .. " --help").help
    fits(help)
    for _, row in ipairs(command.options) do
      check(help:find("--" .. row.name, 1, true), "%s", row.name)
    end
  end
end)

test("nothing on a command line is an error of the program", function()
  local random = require("sluice.bench.random").new(1)
  local parts = {"run", "report", "suite", "compare", "p2p", "loopback:", "--size", "=", ",", "-o",
                 "--", "-", "", "64",
                 "--switch-path", "x=y", "%", "\xff", "--trend", "loopback:99999999999999999999",
                     "%d", "--json"}
  for _ = 1, 3000 do
    local line = {}
    for i = 1, random:integer(6) do
      line[i] = parts[random:integer(#parts)]
          .. (random:number() < 0.3 and parts[random:integer(#parts)] or "")
    end
    options.parse(line)
  end
end)

test("cells: what goes together, switches innermost", function()
  local values = good("run p2p,p2v,v2v --dir uni,rev --switch sluice,ovs --wire memif,vhost")
  local list = cells.product{scenarios = values.scenarios, sizes = values.size, dirs = values.dir,
                             wires = values.wire, vnfs = values.vnf, switches = values.switch}
  same(#list, (2 + 4 + 1) * 2)
  same({list[1].switch.name, list[2].switch.name}, {"sluice", "ovs"})
  same(list[1].vnf, "none")
end)

test("suites: the paper's has 51 cells a switch", function()
  same(#cells.suite("paper", {"sluice"}), 51)
  same(#cells.suite("paper", {"sluice", "testpmd", "ovs"}), 153)
  same(#cells.suite("rfc2544", {"sluice"}), 14)
  local names = {}
  for _, cell in ipairs(cells.suite("paper", {"sluice", "ovs"})) do
    local name = require("sluice.bench.record").test(cell)
    check(not names[name], "%s is there twice", name)
    names[name] = true
  end
end)
