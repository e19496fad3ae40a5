-- SPDX-License-Identifier: BSD-3-Clause
-- Who was the bottleneck of a trial, by counters of each role and port, and whether its loss adds
-- up. Pure functions of what a trial has gathered.
--
-- A role: {role = "generator" | "switch" | "vnf" | "monitor", k = which vnf, busy_cycles,
-- idle_cycles, packets, bursts, full_bursts, attempted, refused}. Busy: polls that returned work,
-- their processing and sending. Generator, VNFs and monitor share one core, the switch has its own.
-- A role that sends has `refused`: what the next ring had no room for.

local verdict = {}

--- What counts as what. Shares; times in seconds.
verdict.limits = {
  busy = 0.95,      -- of a core's cycles: it can do no more
  refused = 0.001,  -- of what was attempted: the next one does not keep up
  full = 0.5,       -- of the bursts taken: there was more to take
  wire = 0.99,      -- of the cap that paces a port: the wire is full
  ceiling = 0.95,   -- of what the reference forwarder reaches: the switch may not be the limit
  stalled = 0.05,   -- of the window, in long hiccups or waits for a core: the host was the limit
}

local function ratio(part, whole) return whole and whole > 0 and (part or 0) / whole or 0 end

local function name_of(role) return role.role == "vnf" and "vnf " .. role.k or role.role end

local function busy_share(busy, idle) return ratio(busy, busy and busy + (idle or 0)) end

-- The two cores, from the roles: {switch = role, traffic = {busy = share, roles}, generator,
-- refused}.
local function cores(roles)
  local at = {traffic = {}, busy = 0, idle = 0, attempted = 0, refused = 0}
  for _, role in ipairs(roles) do
    if role.role == "switch" then
      at.switch = role
    else
      at.traffic[#at.traffic + 1] = role
      at.busy, at.idle = at.busy + (role.busy_cycles or 0), at.idle + (role.idle_cycles or 0)
      at.attempted = at.attempted + (role.attempted or 0)
      at.refused = at.refused + (role.refused or 0)
    end
  end
  at.traffic_share = busy_share(at.busy, at.idle)
  at.refused_share = ratio(at.refused, at.attempted)
  return at
end

local function percent(share) return ("%.0f %%"):format(100 * share) end

local function is(limit, why, ...)
  return {limited_by = limit, why = why:format(...), own = limit == "switch" or limit == "none"}
end

-- Modes that differ, and stalls of the host, explain anything.
local function noise(trial)
  if trial.mode_before ~= trial.mode_after then
    return is("noise", "the mode of the cores went from %s to %s", trial.mode_before,
              trial.mode_after)
  end
  local stalled = trial.hiccups and ratio(trial.hiccups.long_s, trial.seconds) or 0
  if stalled > verdict.limits.stalled then
    return is("noise", "hiccups above 100 us took %s of the window", percent(stalled))
  end
  for _, name in ipairs{"switch", "traffic"} do
    local share = trial.waited and trial.waited[name] or 0
    if share > verdict.limits.stalled then
      return is("noise", "something else had the core of the %s for %s of the window", name,
                percent(share))
    end
  end
end

-- Paced ports: the wire is full if what was received is its cap.
local function wire(trial)
  if not trial.wire_pps then return nil end
  local share = ratio(trial.rx_pps, trial.wire_pps)
  if share >= verdict.limits.wire then
    return is("wire", "%s of what the paced link carries were received", percent(share))
  end
end

-- A load that was carried whole is no bottleneck's doing.
local function carried(trial, at)
  if not trial.intended_pps then return nil end
  local lost = at.refused + (trial.unsent or 0) + (trial.lost_inside or 0)
  if lost <= 0 and trial.rx_pps >= trial.intended_pps * verdict.limits.wire then
    return is("none", "the whole load was carried")
  end
end

-- What the switch could not get rid of: {role or "vnf 2" -> frames}, by the ring that was full.
local function refused_by(trial, at)
  local worst, most = nil, 0
  local sent = at.switch and at.switch.packets or at.attempted
  for _, role in ipairs(at.traffic) do
    local frames = (trial.dropped_to or {})[name_of(role)] or 0
    if ratio(frames, sent) > verdict.limits.refused and frames > most then
      worst, most = role, frames
    end
  end
  return worst, ratio(most, sent)
end

-- The role that takes most of the traffic process's core.
local function busiest(at)
  local worst = at.traffic[1]
  for _, role in ipairs(at.traffic) do
    if (role.busy_cycles or 0) > (worst.busy_cycles or 0) then worst = role end
  end
  return worst, busy_share(worst.busy_cycles, at.busy + at.idle - worst.busy_cycles)
end

local function switch_counted(at)
  local limits, switch = verdict.limits, at.switch
  local busy = busy_share(switch.busy_cycles, switch.idle_cycles)
  if busy < limits.busy then return nil end
  -- A poller that gets little at a time is busy with it too: there must be more than it takes.
  local full = ratio(switch.full_bursts, switch.bursts)
  if at.refused_share >= limits.refused or full >= limits.full then
    return is("switch", "its core is %s busy and %s", percent(busy),
              at.refused_share >= limits.refused
              and "rings before it refuse " .. percent(at.refused_share)
              or percent(full) .. " of its bursts are full")
  end
end

-- Without counters of the switch: what is in front of it, and what another one reaches here.
local function switch_silent(trial, at)
  if at.refused_share < verdict.limits.refused then return nil end
  local share = ratio(trial.rx_pps, trial.ceiling_pps)
  if trial.ceiling_pps and share >= verdict.limits.ceiling then
    local role = busiest(at)
    return is(name_of(role), "it reaches %s of the reference forwarder, which may be all there is",
              percent(share))
  end
  return is("switch", "rings before it refuse %s of what is sent", percent(at.refused_share))
end

-- A generator that is refused offers more than is taken, however busy it is with that; but while the
-- host has the switch's core, rings fill, whatever the switch could do.
local function switch_waits(at)
  local busy = busy_share(at.switch.busy_cycles, at.switch.idle_cycles)
  if busy < verdict.limits.busy and at.refused_share >= verdict.limits.stalled then
    return is("window", "the switch is %s busy, yet rings before it refuse %.1f %%", percent(busy),
              100 * at.refused_share)
  end
end

local function traffic(at)
  if at.traffic_share < verdict.limits.busy then return nil end
  local role, share = busiest(at)
  return is(name_of(role), "its core is %s busy, %s with it", percent(at.traffic_share),
            percent(share))
end

--- Who limits a trial: {limited_by = "switch", "generator", "monitor", "vnf K", "wire", "window",
--- "noise" or "none" (the load was carried whole), why, own = whether the figure is the switch's
--- own}. The first rule that holds:
---   noise      the mode of the cores flipped, hiccups that no ring bridges took more than 5 % of the
---              window, or something else had one of the cores for so long (not asked where the trial
---              is `calm`)
---   wire       99 % of what a paced link carries were received
---   none       a load below the greatest was carried whole
---   its role   the switch had to drop, because the ring towards that role was full
---   switch     its core is 95 % busy, and rings before it refuse 0.1 % or half its bursts are
---              full;
---              without counters: rings refuse, and the reference forwarder does 5 % better
---   window     the switch has idle time, and yet rings before it refuse 5 %
---   a role     the traffic process's core is 95 % busy: the role that takes most of it
---   window     both cores have idle time, and something was refused or lost
---   noise      nothing explains it
---@param trial {roles: table[], seconds: number, rx_pps: number, intended_pps: number?,
---  wire_pps: number?, ceiling_pps: number?, dropped_to: table?, unsent: number?,
---  lost_inside: number?, hiccups: {long_s: number}?, waited: {traffic: number?, switch: number?}?,
---  mode_before: string?, mode_after: string?, calm: boolean?}
function verdict.of(trial)
  local at = cores(trial.roles)
  local found = not trial.calm and noise(trial) or wire(trial) or carried(trial, at)
  if found then return found end
  local role, share = refused_by(trial, at)
  if role then
    return is(name_of(role), "the ring towards it was full: the switch dropped %.1f %%",
              100 * share)
  end
  local counted = at.switch and at.switch.busy_cycles
  if counted then
    found = switch_counted(at) or switch_waits(at) or traffic(at)
  else
    found = switch_silent(trial, at) or traffic(at)
  end
  if found then return found end
  local busy = counted and busy_share(at.switch.busy_cycles, at.switch.idle_cycles) or 0
  if busy < verdict.limits.busy
     and (at.refused > 0 or (trial.lost_inside or 0) > 0 or (trial.unsent or 0) > 0) then
    return is("window", "both cores have idle time, yet rings were full")
  end
  return is("noise", "no core, ring or wire is full")
end

--- What several trials say together: what most of them say; of equals, what comes first in the list
--- is taken that is not the switch, so that no figure is called the switch's own by chance.
---@param list table[] what of() gave
function verdict.together(list)
  local count, best = {}, nil
  for _, one in ipairs(list) do count[one.limited_by] = (count[one.limited_by] or 0) + 1 end
  for _, one in ipairs(list) do
    local n = count[one.limited_by]
    local most = best and count[best.limited_by] or 0
    if n > most or n == most and best.own and not one.own then best = one end
  end
  return best
end

--- Whether a loss adds up: intended = attempted + unsent; attempted = accepted + refused; accepted
--- = received + lost inside + in flight. Every part is in frames; what is absent is 0. The
--- residuals must be 0, and so must what may not happen: `faults` says what is wrong, and the trial
--- is invalid.
---@param frames {intended: integer, attempted: integer, unsent?: integer, accepted: integer,
---  refused?: integer, received: integer, lost_inside?: integer, in_flight?: integer,
---  duplicates?: integer, reordered?: integer, damaged?: integer, foreign?: integer}
---@param allowed? table<string, boolean> of duplicates, reordered, damaged, foreign
function verdict.balance(frames, allowed)
  local function of(name) return frames[name] or 0 end
  local residual = {
    generator = of("intended") - of("attempted") - of("unsent"),
    wire = of("attempted") - of("accepted") - of("refused"),
    inside = of("accepted") - of("received") - of("lost_inside") - of("in_flight"),
  }
  local faults = {}
  local function fault(text, ...) faults[#faults + 1] = text:format(...) end
  for _, name in ipairs{"generator", "wire", "inside"} do
    if residual[name] ~= 0 then
      fault("%d frames are unaccounted for (%s)", residual[name],
            ({generator = "intended = attempted + unsent", wire = "attempted = accepted + refused",
              inside = "accepted = received + lost inside + in flight"})[name])
    end
  end
  for name in pairs(frames) do
    if frames[name] < 0 then fault("%s is negative: %d", name, frames[name]) end
  end
  for _, name in ipairs{"duplicates", "reordered", "damaged", "foreign"} do
    if of(name) > 0 and not (allowed or {})[name] then
      fault("%d frames were %s", of(name), name == "duplicates" and "doubled" or name)
    end
  end
  local lost = of("intended") - of("received")
  if lost < 0 then fault("more was received than intended: %d frames", -lost) end
  table.sort(faults)
  return {lost = lost, loss_ratio = ratio(lost, frames.intended), residual = residual,
          whole = #faults == 0, faults = faults}
end

return verdict
