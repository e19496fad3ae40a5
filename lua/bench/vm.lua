-- SPDX-License-Identifier: BSD-3-Clause
-- VNFs in virtual machines: one QEMU each, with two vhost-user devices and the small guest that
-- build/guest.sh makes, in which testpmd forwards. Under KVM where a guest boots with it, else under
-- emulation: then frames are forwarded and counted, and rates say nothing.

local process = require "sluice.bench.process"
local uv = require "luv"
local vm = {}

local MEMORY = 512 -- MiB
local RING = 1024
local BOOT_S = {kvm = 30, tcg = 180}

--- What each kind of accelerator is called in reports.
vm.words = {kvm = "KVM", tcg = "emulation"}

-- What QEMU is given in any case.
local function command(guest, accelerator, memory, more)
  return {guest.qemu, "-machine", "q35", "-accel", accelerator,
          "-cpu", accelerator == "kvm" and "host" or "max", "-smp", "2", "-m", memory,
          "-object", ("memory-backend-memfd,id=memory,share=on,size=%dM"):format(memory),
          "-numa", "node,memdev=memory", "-nodefaults", "-nographic", "-no-reboot",
          "-serial", "stdio", "-kernel", guest.kernel, "-initrd", guest.initrd,
          "-append", "console=ttyS0 quiet " .. more}
end

-- Why KVM cannot be used, or nil. That /dev/kvm is there says little: within virtual machines guests
-- often do not boot.
local function kvm_fault(guest, cores)
  if not uv.fs_access("/dev/kvm", "RW") then return "there is no /dev/kvm that may be used" end
  local program = process.start(command(guest, "kvm", 256, "guest=probe"), {cores = cores})
  local booted = process.wait_until(function()
    return program.text:find("guest: ready", 1, true) or not program.running
  end, BOOT_S.kvm)
  booted = booted and program.text:find("guest: ready", 1, true)
  program:kill()
  return not booted and "a guest does not boot with it: " .. program:said() or nil
end

--- QEMU, the guest and how it is run: {qemu, kernel, initrd, accelerator, why}. `folder`: where the
--- guest is; nil: beside the program. Stops with code 3 where something is missing.
function vm.find(folder, cores)
  local guest = {qemu = process.find("qemu-system-x86_64")}
  if not guest.qemu then
    process.stop(3, "--vnf-in vm: there is no qemu-system-x86_64 (Debian: qemu-system-x86)")
  end
  folder = folder or uv.exepath():match("^(.*)/") .. "/guest"
  guest.kernel, guest.initrd = folder .. "/vmlinuz", folder .. "/initrd-vnf"
  for _, path in ipairs{guest.kernel, guest.initrd} do
    if not uv.fs_stat(path) then
      process.stop(3, "--vnf-in vm: there is no guest in %s: `make guest` of Sluice's sources "
                   .. "builds it in build/out/guest; --guest DIR says where it is", folder)
    end
  end
  guest.why = kvm_fault(guest, cores)
  guest.accelerator = guest.why and "tcg" or "kvm"
  return guest
end

-- "0-2,5" as {0, 1, 2, 5}.
local function cores_of(text)
  local list = {}
  for first, last in text:gmatch("(%d+)%-?(%d*)") do
    for i = math.tointeger(first), math.tointeger(last) or math.tointeger(first) do
      list[#list + 1] = i
    end
  end
  return list
end

--- Cores for virtual machines: all that may be used but those two; where there are no others, that of
--- the traffic.
function vm.cores(cores)
  local file = io.open("/proc/self/status")
  local text = file and file:read("a") or ""
  if file then file:close() end
  local list = {}
  for _, i in ipairs(cores_of(text:match("Cpus_allowed_list:%s*([%d,-]+)") or "")) do
    if i ~= cores.traffic and i ~= cores.switch then list[#list + 1] = i end
  end
  return #list > 0 and list or {cores.traffic}
end

local Vms = {}
Vms.__index = Vms

-- The destinations that a VNF writes, as those in containers do.
local function mac(port) return ("02:00:00:00:01:%02x"):format(port) end

local function devices(words, k, paths, pair, serve)
  local function add(...) for _, word in ipairs{...} do words[#words + 1] = word end end
  for _, port in ipairs(pair) do
    add("-chardev", ("socket,id=char%d,path=%s%s"):format(port, paths[port],
                                                         serve and ",server=on,wait=on" or ""),
        "-netdev", ("vhost-user,id=net%d,chardev=char%d"):format(port, port),
        -- Without `vectors=0` QEMU 7.2 crashes under emulation.
        "-device", ("virtio-net-pci,netdev=net%d,mac=02:00:00:00:%02x:%02x,disable-legacy=on,"
                    .. "vectors=0,romfile=,rx_queue_size=%d,tx_queue_size=%d")
                   :format(port, k + 1, port, RING, RING))
  end
  return words
end

--- Starts the VNFs of a scenario, and waits until they forward. `spec`: guest (what find() gave),
--- scenario, paths (of sockets, by port), vnf (io or mac), cores, serve (whether the switch connects).
function vm.start(spec)
  local self = setmetatable({spec = spec, programs = {}}, Vms)
  local guest, vnf = spec.guest, spec.vnf
  local function ready(program, what, text)
    program:ready(what, function() return program.text:find(text, 1, true) end,
                  BOOT_S[guest.accelerator])
  end
  for k, pair in ipairs(spec.scenario.chain) do
    local words = ("guest=testpmd forward=%s peers=%s,%s"):format(vnf, mac(pair[1]), mac(pair[2]))
    local args = devices(command(guest, guest.accelerator, MEMORY, words), k, spec.paths, pair,
                         spec.serve)
    self.programs[k] = process.start(args, {cores = spec.cores, input = true})
  end
  for k, program in ipairs(self.programs) do
    ready(program, ("VNF %d booted"):format(k), "testpmd> ")
    program:write("start\n")
    ready(program, ("VNF %d forwarded"):format(k), vnf .. " packet forwarding")
  end
  return self
end

--- Frames that VNFs could not send on, by the port that they were for.
function Vms:dropped()
  local list = {}
  for _, program in ipairs(self.programs) do
    program.text = ""
    program:write("show fwd stats all\n")
  end
  for k, program in ipairs(self.programs) do
    program:ready("its counters", function()
      return program.text:find("Accumulated forward statistics for all ports.*testpmd> ")
    end, 30)
    for i, n in program.text:gmatch("Forward statistics for port (%d+).-TX%-dropped:%s*(%d+)") do
      local port = self.spec.scenario.chain[k][math.tointeger(i) + 1]
      list[port] = math.tointeger(n)
    end
  end
  return list
end

--- Raises that one has ended by itself, if it has.
function Vms:check_alive()
  for k, program in ipairs(self.programs) do
    if not program.running then
      process.stop(1, "VNF %d, a virtual machine, %s: %s", k, program:ended(), program:said())
    end
  end
end

return vm
