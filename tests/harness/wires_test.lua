-- SPDX-License-Identifier: BSD-3-Clause
-- Wires inside the process and to cards: how two graphs become one and are told apart again, and
-- what is said of addresses.

local rig = require "rig"
local inside = require "sluice.bench.inside"
local pci = require "sluice.bench.pci"
local scenario = require "sluice.bench.scenario"
local test, check, same = rig.test, rig.check, rig.same

test("switch and traffic in one graph, a worker each", function()
  local both = inside.merge(
    {ports = {port0 = {ring = {name = "wire0"}}}, nodes = {from_0 = {PortInc = {port = "port0"}},
     burn_0 = {Burn = {per_packet = 5}}, to_0 = {PortOut = {port = "port0"}}},
     graph = {"from_0 -> burn_0 -> to_0"}, workers = {{core = 1, sources = {"from_0"}}}},
    {ports = {port0 = {ring = {name = "wire0"}}}, nodes = {gen1 = {Generator = {}},
     to_0 = {PortOut = {port = "port0"}}}, graph = {"gen1 -> to_0"}, eal = "--no-huge",
     workers = {{core = 0, sources = {"gen1"}}}})
  same(both, {
    ports = {port0 = {ring = {name = "wire0"}}, dut_port0 = {ring = {name = "wire0"}}},
    nodes = {gen1 = {Generator = {}}, to_0 = {PortOut = {port = "port0"}},
             dut_from_0 = {PortInc = {port = "dut_port0"}}, dut_burn_0 = {Burn = {per_packet = 5}},
             dut_to_0 = {PortOut = {port = "dut_port0"}}},
    graph = {"gen1 -> to_0", "dut_from_0 -> dut_burn_0 -> dut_to_0"}, idle = "spin",
    eal = "--no-huge",
    workers = {{core = 0, sources = {"gen1"}}, {core = 1, sources = {"dut_from_0"}}}})
  local stats = {workers = {{core = 0}, {core = 1}}, ports = {port0 = {a = 1}, dut_port0 = {a = 2}},
                 nodes = {gen1 = {a = 3}, dut_from_0 = {a = 4}}}
  same(inside.part(stats, "switch"), {workers = {{core = 1}}, ports = {port0 = {a = 2}},
                                      nodes = {from_0 = {a = 4}}})
  same(inside.part(stats, "traffic"), {workers = {{core = 0}}, ports = {port0 = {a = 1}},
                                       nodes = {gen1 = {a = 3}}})
end)

local a, b, c, d = "0000:01:00.0", "0000:01:00.1", "0000:02:00.0", "0000:02:00.1"
local one, two = ("pci:%s+%s"):format(a, b), ("pci:%s+%s+%s+%s"):format(a, b, c, d)

test("cables have two ends each, all of them others", function()
  for _, word in ipairs{one, two} do check(pci.is(word), "%s", word) end
  for _, word in ipairs{"pci:", "pci:" .. a, "memif", "pci:" .. a .. "+" .. a, one .. "+" .. c,
                        two .. "+" .. a .. "+" .. b, "pci:01:00.0+01:00.1"} do
    check(not pci.is(word), "%s", word)
  end
  same(pci.cables(two), {{switch = a, traffic = b}, {switch = c, traffic = d}})
  local ports = scenario.make("loopback", 1, "uni", two).ports
  same({ports[1].wire, ports[1].switch, ports[4].switch, ports[4].traffic, ports[2].wire},
       {"pci", a, c, d, "vhost"})
  same(scenario.make("p2v", 0, "uni", one).ports[1].traffic, b)
end)

test("what does not go together, or is not here, is said", function()
  same(pci.wrong(one, {{scenario = "p2v"}, {scenario = "v2v"}}), nil)
  same(pci.wrong(two, {{scenario = "p2p"}, {scenario = "loopback"}}), nil)
  check(pci.wrong(one, {{scenario = "p2p"}}):find("p2p has 2 physical ports", 1, true))
  check(pci.wrong(two, {{scenario = "p2v"}}):find("p2v has 1 physical port,", 1, true))
  same(pci.wrong("memif", {{scenario = "p2p"}}), nil)
  local drivers = {[a] = "../../drivers/vfio-pci", [b] = "../../drivers/ixgbe"}
  local function link(path) return drivers[path:match("devices/([^/]+)")] end
  local function exists(path) return not path:find(c, 1, true) end
  check(pci.missing(one, link, exists):find(b .. " belongs to the kernel's driver ixgbe", 1, true))
  drivers[b] = nil
  check(pci.missing(one, link, exists):find(b .. " has no driver, bind it", 1, true))
  drivers[b] = "../mlx5_core"
  same(pci.missing(one, link, exists), nil)
  check(pci.missing(two, link, exists):find("there is no PCI device " .. c, 1, true))
  same(pci.missing("ring", link, exists), nil)
end)
