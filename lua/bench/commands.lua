-- SPDX-License-Identifier: BSD-3-Clause
-- The commands of `sluice bench` as a table: from it command lines are read and help is written
-- (options.lua). A row: name, letter, what it takes (nil: nothing), help; `read` makes a value of a
-- word, or gives nil and what it should be; `list`: words with commas; `many`: may be given again.

local cells = require "sluice.bench.cells"
local pci = require "sluice.bench.pci"
local rates = require "sluice.bench.rates"

local function choice(names)
  local known = {}
  for _, name in ipairs(names) do known[name] = true end
  return function(word)
    if known[word] then return word end
    return nil, "one of " .. table.concat(names, ", "), names
  end
end

local function whole(low, high)
  return function(word)
    local n = word:find("^%d+$") and math.tointeger(word)
    if n and n >= low and n <= high then return n end
    return nil, ("%d to %d"):format(low, high)
  end
end

local units = {ms = 1e-3, s = 1, min = 60}

local function duration(word)
  local number, unit = word:match("^(%d+%.?%d*)(%a+)$")
  local seconds = number and units[unit] and tonumber(number) * units[unit]
  if seconds and seconds >= 0.01 and seconds <= 3600 then return seconds end
  return nil, "10ms to 60min, as in 100ms or 1s"
end

local function share(word)
  local number = word:find("^%d*%.?%d+$") and tonumber(word)
  if number and number > 0 and number <= 1 then return number end
  return nil, "a share of R+ above 0 and up to 1, as in 0.5"
end

local function wire(word)
  if word == "memif" or word == "vhost" or word == "ring" then return word end
  if pci.is(word) then return word end
  return nil, "memif, vhost, ring or pci:ADDRESS+ADDRESS, as in pci:0000:01:00.0+0000:01:00.1",
         {"memif", "vhost", "ring"}
end

local function cores(word)
  local a, b = word:match("^(%d+),(%d+)$")
  if a and a ~= b then return {traffic = math.tointeger(a), switch = math.tointeger(b)} end
  return nil, "two cores, that of the traffic and that of the switch, as in 0,1"
end

local function pair(word)
  local name, value = word:match("^([%w_-]+)=(.+)$")
  if name then return {name = name, value = value} end
  return nil, "NAME=VALUE"
end

local function text(word)
  if word ~= "" then return word end
  return nil, "not empty"
end

local function row(name, letter, takes, read, help, more)
  local one = {name = name, letter = letter, takes = takes, read = read, help = help}
  for key, value in pairs(more or {}) do one[key] = value end
  return one
end

local size = row("size", nil, "BYTES,...", cells.size_read,
                 "sizes of frames with FCS, or a mix by name, as in imix:csit",
                 {list = true, default = "64"})
local dir = row("dir", nil, "WAY,...", choice{"uni", "rev", "bi"},
                "directions: uni, bi, and rev, which p2v has",
                {list = true, default = "uni"})
local switch = row("switch", nil, "NAME,...", nil, "the switches to measure",
                   {list = true, default = "sluice", switch = true})
local switch_path = row("switch-path", nil, "NAME=DIR", pair,
                        "where a switch is that is not in PATH", {many = true, switch = true})
local wires = row("wire", nil, "WIRE,...", wire,
                  "what physical ports are: memif, vhost, ring (sluice alone) or "
                  .. "pci:ADDRESS+ADDRESS, the switch's card and the one at its cable's other "
                 .. "end (p2p and loopback: two such pairs)", {list = true, default = "memif"})
local vnf = row("vnf", nil, "KIND,...", choice{"io", "mac"},
                "what a VNF does: io (nothing) or mac (rewrites the "
                .. "destination)", {list = true, default = "io"})
local vnf_in = row("vnf-in", nil, "PLACE", choice{"container", "vm"},
                   "where VNFs are: container or vm", {default = "container"})
local guest = row("guest", nil, "DIR", text,
                  "the guest that `make guest` builds (beside the program)")
local link = row("link", nil, "RATE", rates.link_read,
                 "paces physical ports at line rate, as in 10G")
local trials = row("trials", nil, "N", whole(1, 1000), "trials of each test", {default = "7"})
local time = row("time", nil, "DURATION", duration, "of a trial (1s; rfc2544 and loss: 60s)")
local seed = row("seed", nil, "N", whole(0, 2 ^ 53 // 1 | 0), "of all that is drawn",
                 {default = "1"})
local core = row("cores", nil, "A,B", cores, "the cores of traffic and switch", {default = "0,1"})
local resume = row("resume", nil, nil, nil, "leaves out what the output holds already")
local hugepages = row("hugepages", nil, "WAY", choice{"auto", "no"},
                      "auto: free ones, or as root some that are reserved for the time being; no: "
                      .. "none", {default = "auto"})
local output = row("output", "o", "FILE", text, "appends the results to the file (JSON Lines)")
local json = row("json", "j", nil, nil, "prints one JSON object a line")

local shared = {size, dir, switch, switch_path, wires, vnf, vnf_in, guest, link}

local function options(...)
  local all = {}
  for _, rows in ipairs{...} do
    for _, one in ipairs(rows.name and {rows} or rows) do all[#all + 1] = one end
  end
  return all
end

local scenario = {name = "SCENARIO", read = cells.scenario_read, list = true, flat = true,
                  many = true,
                  key = "scenarios", near = cells.names,
                  help = "p2p, p2v, v2v, loopback:N or loopback:1-5; several with commas"}

local formats = {"text", "csv", "html", "svg", "png", "json", "openmetrics", "influx"}

--- The commands, in the order of help.
return {
  {name = "doctor", help = "what this machine can measure, each problem with its fix", args = {},
   options = options(switch_path, core, json)},
  {name = "roofline",
   help = "what two cores can move: packets that one writes, the other copies and the first reads",
   args = {},
   options = options(row("size", nil, "BYTES,...", whole(64, 2048), "sizes of frames with FCS",
                         {list = true, default = "64,256,1024"}),
                     trials, core, json)},
  {name = "list", help = "scenarios, wires, switches, suites", args = {},
   options = options(switch_path, json)},
  {name = "run", help = "measures switches in scenarios", args = {scenario},
   options = options(shared,
                     row("search", nil, "KIND",
                         choice{"mrr", "ndr", "pdr", "rfc2544", "loss", "b2b"},
                         "what is looked for: mrr (the rate at full load), ndr and pdr "
                         .. "(MLRsearch), rfc2544, loss, b2b", {default = "mrr"}),
                     row("confirm", nil, nil, nil, "mrr: what is called the switch's own is measured "
                         .. "again with cycles wasted in the traffic process"),
                     trials, time, seed, core, hugepages, output, resume, json)},
  {name = "latency", help = "percentiles and histogram at shares of R+, which is measured first",
   args = {scenario},
   options = options(shared, row("load", nil, "SHARE,...", share, "shares of R+",
                                 {list = true, default = "0.1,0.5,0.99"}),
                     time, seed, core, hugepages, output, json)},
  {name = "intrinsic", help = "cycles and instructions a packet of a graph, in one process",
   args = {{name = "GRAPH", key = "graph", read = text, help = "a graph file or script"}},
   options = options(row("callgrind", nil, nil, nil, "counts instructions too"),
                     row("by-node", nil, nil, nil, "of each node"),
                     row("set", "s", "NAME=VALUE", pair, "gives a variable of the graph a value",
                         {many = true}),
                     row("sluice", nil, "PATH", text, "the program that runs it (this one)"),
                     trials, time, core, output, json)},
  {name = "compare", help = "two switches, builds (programs) or graphs in adjacent pairs",
   args = {{name = "A", key = "a", read = text, help = "the one: a switch's name or a path"},
           {name = "B", key = "b", read = text, help = "the other"}},
   options = options(row("scenario", nil, "SCENARIO", cells.scenario_read,
                         "what both are measured in",
                         {default = "p2p", flat = true, list = true, near = cells.names}),
                     size, dir, switch_path, wires, vnf, link,
                     row("graph", nil, "GRAPH", text,
                         "a graph that both builds run, instead of a scenario"),
                     row("set", "s", "NAME=VALUE", pair, "gives a variable of graphs a value",
                         {many = true}),
                     row("pairs", nil, "N", whole(1, 1000), "how many pairs: six give an interval",
                         {default = "7"}),
                     time, seed, core, hugepages, output, json)},
  {name = "iperf3", help = "TCP from namespace to namespace through bridges, by iperf3", args = {},
   options = options(row("switch", nil, "NAME,...", choice(cells.bridges),
                         table.concat(cells.bridges, ", "),
                         {list = true, default = table.concat(cells.bridges, ",")}),
                     switch_path,
                     row("time", nil, "DURATION", duration, "of a trial", {default = "5s"}),
                     row("trials", nil, "N", whole(1, 1000), "trials of each bridge", {default = "3"}),
                     core, hugepages, output, json)},
  {name = "suite",
   help = "quick, paper or rfc2544; what the output holds already is not measured again",
   args = {{name = "SUITE", key = "suite", read = choice(cells.suite_names),
            help = "quick, paper or rfc2544"}},
   options = options(switch, switch_path,
                     row("trials", nil, "N", whole(1, 1000), "trials of each test (7; quick: 3)"),
                     time, seed, core, hugepages, output, json)},
  {name = "report", help = "final figures of results",
   args = {{name = "FILE", key = "files", read = text, many = true, optional = true,
            help = "results (JSON Lines)"}},
   options = options(row("output", "o", "DIR", text,
                         "writes into the folder (without: text on standard output)"),
                     row("format", nil, "FORMAT,...", choice(formats), table.concat(formats, ", "),
                         {list = true, default = "text"}),
                     row("baseline", nil, "NAME", choice{"paper"},
                         "puts what was published beside it"),
                     row("trend", nil, "DIR", text,
                         "the history of a folder of results, with its changes"))},
  {name = "selftest", help = "shows that the harness measures what it says", args = {},
   options = options(time, core, hugepages, json)},
  {name = "schema", help = "the JSON Schema of results", args = {}, options = {}},
}
