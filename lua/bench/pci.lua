-- SPDX-License-Identifier: BSD-3-Clause
-- Network cards of the user's own as physical ports: `pci:SWITCH+TRAFFIC` for each, the port that
-- the switch has and the one at the other end of its cable, which the traffic has.

local pci = {}

--- The cables of a wire: {{switch = address, traffic = address}, ...}; nil: it is no such wire.
---@param wire string
function pci.cables(wire)
  local rest = wire:match("^pci:(.*)$")
  if not rest then return nil end
  local addresses, cables = {}, {}
  for address in (rest .. "+"):gmatch("([^+]*)%+") do addresses[#addresses + 1] = address end
  for i = 1, #addresses, 2 do
    cables[#cables + 1] = {switch = addresses[i], traffic = addresses[i + 1]}
  end
  return cables
end

--- Whether a word is such a wire: one cable or two, of addresses that differ.
---@param word string
function pci.is(word)
  local cables = pci.cables(word)
  if not cables or #cables > 2 then return false end
  local seen = {}
  for _, cable in ipairs(cables) do
    for _, address in ipairs{cable.switch, cable.traffic or ""} do
      if not address:find("^%x%x%x%x:%x%x:%x%x%.%x$") or seen[address] then return false end
      seen[address] = true
    end
  end
  return true
end

--- What does not go together with scenarios; nil: nothing.
---@param wire string
---@param scenarios {scenario: string}[]
function pci.wrong(wire, scenarios)
  local cables = pci.cables(wire)
  for _, one in ipairs(cables and scenarios or {}) do
    local wanted = ({p2p = 2, p2v = 1, v2v = 0, loopback = 2})[one.scenario]
    if wanted > 0 and #cables ~= wanted then
      return ("--wire %s: %s has %d physical port%s, and each needs two addresses, the switch's "
              .. "and that of the cable's other end"):format(wire, one.scenario, wanted,
                                                            wanted == 1 and "" or "s")
    end
  end
end

local fit = {["vfio-pci"] = true, igb_uio = true, uio_pci_generic = true, mlx4_core = true,
             mlx5_core = true, mana = true}

--- What is wrong with the cards of a wire on this machine; nil: nothing that is seen.
---@param wire string
---@param link fun(path: string): string? what a symbolic link points to
---@param exists fun(path: string): boolean
function pci.missing(wire, link, exists)
  for _, cable in ipairs(pci.cables(wire) or {}) do
    for _, address in ipairs{cable.switch, cable.traffic} do
      local folder = "/sys/bus/pci/devices/" .. address
      if not exists(folder) then
        return ("--wire %s: there is no PCI device %s, `lspci -D` lists those that there are")
               :format(wire, address)
      end
      local driver = (link(folder .. "/driver") or ""):match("[^/]*$")
      if not fit[driver] then
        return ("--wire %s: %s %s, bind it with: modprobe vfio-pci && dpdk-devbind.py "
                .. "--bind=vfio-pci %s"):format(wire, address, driver == "" and "has no driver"
               or "belongs to the kernel's driver " .. driver, address)
      end
    end
  end
end

return pci
