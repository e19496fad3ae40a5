-- SPDX-License-Identifier: BSD-3-Clause
-- `bench iperf3`: TCP between two hosts (network namespaces) through Sluice's bridge, the kernel's and
-- Open vSwitch's, trial by trial in turn. Interfaces are veth pairs without offloads, the same for all.

local cells = require "sluice.bench.cells"
local dut = require "sluice.bench.dut"
local env = require "sluice.bench.env"
local json = require "sluice.json"
local net = require "sluice.bench.net"
local process = require "sluice.bench.process"
local record = require "sluice.bench.record"
local running = require "sluice.bench.running"
local stats = require "sluice.bench.stats"
local text = require "sluice.bench.report.text"
local uv = require "luv"
local verdict = require "sluice.bench.verdict"
local waits = require "sluice.bench.waits"

local MTU = 1500
local ADDRESS = {"10.0.0.1", "10.0.0.2"}
local PORTS = {"left", "right"}

local function spec(name) return require("sluice.bench.bridges." .. name:gsub("-", "_")) end

-- Why there is nothing to measure at all, or nil.
local function missing()
  if uv.getuid() ~= 0 then return "it needs root, for namespaces and interfaces" end
  for program, package in pairs{iperf3 = "iperf3", ip = "iproute2", ethtool = "ethtool",
                                unshare = "util-linux", nsenter = "util-linux"} do
    if not process.find(program) then
      return ("%s is not installed (Debian: %s)"):format(program, package)
    end
  end
end

-- Which bridges are here: {name, version, path}. Of the others it is said why not.
local function detect(self, names)
  local here, paths = {}, {}
  for _, pair in ipairs(self.options.switch_path or {}) do paths[pair.name] = pair.value end
  for _, name in ipairs(names) do
    local file = spec(name)
    local path = paths[name] or name == "ovs-dpdk" and paths.ovs or nil
    local tool = dut.tool(name, path, {spec = file})
    local why = not tool.program and ("not found (%s, Debian: %s)"):format(file.program, file.package)
                or file.missing and file.missing(tool)
    if why then
      self:fail(3, name, why)
      self.versions[name] = false
    else
      local version = name == "bridge" and uv.os_uname().release or name == "sluice" and env.build().version
                      or (tool.output{tool.program, "--version"} or ""):match("Open vSwitch%) (%S+)")
      self.versions[name] = version or "unknown"
      here[#here + 1] = {name = name, path = path, trials = {}}
    end
  end
  return here
end

-- Seconds of CPU that programs have used.
local function cpu_of(programs)
  local ticks = 0
  for _, program in ipairs(programs) do
    local line = (env.read(("/proc/%d/stat"):format(program.pid)) or ""):match("%) (.*)$") or ""
    local n = 0
    for word in line:gmatch("%S+") do
      n = n + 1
      if n == 12 or n == 13 then ticks = ticks + tonumber(word) end
    end
  end
  return ticks / 100
end

-- Seconds that all cores have spent in interrupts of the kernel.
local function interrupts()
  local words = {}
  for n in ((env.read("/proc/stat") or ""):match("^cpu ([^\n]*)") or ""):gmatch("%d+") do
    words[#words + 1] = tonumber(n)
  end
  return ((words[6] or 0) + (words[7] or 0)) / 100
end

-- What the scheduler says of programs, by process; of those that have ended, what it said last.
local function waits_of(programs, last)
  local now = {}
  for _, program in ipairs(programs) do
    local threads = waits.read(program.pid)
    now[program] = next(threads) and threads or last and last[program] or {}
  end
  return now
end

-- The greatest share of its time that one of them had to wait for a core, of those that have work.
local function waited(before, after, seconds)
  local most = 0
  for program, threads in pairs(after) do
    local one = waits.between(before[program] or {}, threads)
    if one and one.run_s > 0.05 * seconds then most = math.max(most, one.share) end
  end
  return most
end

-- The server waits for one client; what the client says, decoded, and how long one of these and of the
-- switch's programs waited for a core.
local function transfer(hosts, cores, seconds, programs)
  local server = process.start({"iperf3", "-s", "-1", "-B", ADDRESS[2], "--forceflush"},
                               {net = hosts[2].pid, cores = cores})
  server:ready("it listened", function() return server.text:find("Server listening", 1, true) end)
  local client = process.start({"iperf3", "-c", ADDRESS[2], "-t", tostring(math.ceil(seconds)), "-J",
                                "--connect-timeout", "5000"}, {net = hosts[1].pid, cores = cores})
  local all = table.move(programs, 1, #programs, 3, {client, server})
  local before, after = waits_of(all), nil
  local ended = process.wait_until(function()
    after = waits_of(all, after or before)
    return not client.running and client.open == 0
  end, seconds + 30, 0.05)
  client:kill()
  server:kill()
  local said = ended and json.decode(client.text)
  if not said or said.error or not said["end"].sum_received then
    process.stop(1, "iperf3: %s", not ended and "it took too long" or said and said.error or client:said())
  end
  return said["end"], waited(before, after, seconds)
end

-- One trial: namespaces, switch and traffic anew, so that none finds what another has left.
local function trial(self, at, seconds, n)
  local file, mark = spec(at.name), process.mark()
  local hosts = {net.namespace(), net.namespace()}
  local middle = net.namespace()
  for i, port in ipairs(PORTS) do net.join(middle, port, hosts[i], ADDRESS[i]) end
  local folder = ("%s/iperf3-%s-%d"):format(self.folder, at.name, n)
  uv.fs_mkdir(folder, 448)
  local tool = dut.tool(at.name, at.path, {
    spec = file, folder = folder, ports = PORTS, net = middle.pid, core = self.cores.switch,
    main_core = self.cores.traffic, huge = self.huge.use,
    prefix = ("sluice-bench-%d-i%d"):format(uv.os_getpid(), n),
    enter = function(args) return net.run(middle, args) end})
  local own = process.mark()
  local handle = file.start(tool)
  local programs = process.since(own)
  -- What has a worker of its own has a core of its own; the kernel works where it likes.
  local cores = file.worker and {self.cores.traffic} or {self.cores.traffic, self.cores.switch}
  transfer(hosts, cores, 1, programs) -- addresses are learned, and it works at all
  local begin, cpu, busy = env.seconds(), cpu_of(programs), interrupts()
  local said, wait_share = transfer(hosts, cores, seconds, programs)
  local took = env.seconds() - begin
  local one = {
    bps = said.sum_received.bits_per_second, retransmits = said.sum_sent.retransmits or 0,
    switch = #programs > 0 and (cpu_of(programs) - cpu) / took or nil,
    interrupts = (interrupts() - busy) / took, client = said.cpu_utilization_percent.host_total / 100,
    server = said.cpu_utilization_percent.remote_total / 100, memory = dut.memory_of(programs), waited = wait_share}
  self.commands[at.name] = programs[#programs] and table.concat(programs[#programs].args, " ") or nil
  file.stop(tool, handle)
  process.kill_down(mark)
  return one
end

local function result(self, at, seconds)
  local rates, sent_again = {}, 0
  for i, one in ipairs(at.trials) do
    rates[i], sent_again = one.bps, sent_again + one.retransmits
  end
  local memory, wait_share = at.trials[#at.trials].memory, stats.median_of(at.trials, "waited")
  -- Exit codes tell a figure that the host has cut.
  self.measured = self.measured + 1
  local noise = wait_share > verdict.limits.stalled
  if noise then self.limited[#self.limited + 1] = at.name end
  return self:write("iperf3", {
    waited = wait_share, limited_by = noise and "noise" or "none",
    switch = {name = at.name, version = self.versions[at.name]}, seconds = seconds, mtu = MTU,
    bps = stats.summary(rates), retransmits = sent_again,
    cpu = {switch = stats.median_of(at.trials, "switch"), client = stats.median_of(at.trials, "client"),
           server = stats.median_of(at.trials, "server"), interrupts = stats.median_of(at.trials, "interrupts")},
    memory_bytes = memory and memory.rss + memory.hugepages, hugepage_bytes = memory and memory.hugepages,
    command = ("sluice bench iperf3 --switch %s --time %gs --trials %d"):format(
        table.concat(self.options.switch, ","), seconds, self.options.trials)})
end

local function measure(self, here)
  local seconds, n = math.max(1, math.ceil(self.options.time)), 0
  for turn = 1, self.options.trials do
    for _, at in ipairs(here) do
      n = n + 1
      self:progress(("%s, %d of %d"):format(at.name, turn, self.options.trials))
      local mark = process.mark()
      local good, one = xpcall(trial, process.traceback, self, at, seconds, n)
      if good then
        at.trials[#at.trials + 1] = one
      else
        process.kill_down(mark)
        if not process.is_stop(one) or one.code == 130 then error(one, 0) end
        self:fail(one.code, at.name, one.text)
      end
    end
  end
  self:progress(nil)
  local records = {}
  for _, at in ipairs(here) do
    if #at.trials > 0 then records[#records + 1] = result(self, at, seconds) end
  end
  return records
end

return function(values)
  local why = missing()
  if why then process.stop(3, "%s", why) end
  local names = values.switch or cells.bridges
  -- What is here is told by us: these are bridges, not the switches of other commands.
  values.switch = {}
  return running(values, function(self)
    values.switch = names
    local records = measure(self, detect(self, names))
    for _, line in ipairs(values.json and {} or text.iperf3(records)) do self:say("%s", line) end
    for _, one in ipairs(values.json and records or {}) do self:say("%s", record.line(one)) end
  end)
end
