-- SPDX-License-Identifier: BSD-3-Clause
-- A simulated switch: a seeded loss curve, now and then a spike of loss without a cause, and a mode
-- in which all is slower, into which it flips for a while. The same seed gives the same trials.

local random = require "sluice.bench.random"
local simulated = {}
simulated.__index = simulated

--- what: seed, capacity (pps), noise (share, of the capacity in a trial), spike (probability of a
--- trial that loses for nothing), flip (probability that a trial changes the mode), slow (capacity
--- in the other mode, as a share), told (whether trials with a flip say so), floor (loss at any
--- load), buffer (frames)
function simulated.new(what)
  return setmetatable({what = what, draw = random.new(what.seed or 1), trials = {}}, simulated)
end

function simulated:run(trial)
  local what, draw = self.what, self.draw
  local pps = trial.pps or 2 * what.capacity
  local intended = trial.frames or math.floor(pps * trial.seconds)
  local flipped = draw:number() < (what.flip or 0)
  if flipped then self.slow = not self.slow end
  local capacity = what.capacity * (self.slow and (what.slow or 0.5) or 1)
                   * (1 + (what.noise or 0) * draw:normal())
  local kept = math.floor(intended * math.min(1, capacity / pps))
  if trial.frames then
    -- A burst fills the buffer at what is not forwarded meanwhile.
    local room = capacity >= pps and math.huge or what.buffer / (1 - capacity / pps)
    kept = trial.frames <= room and trial.frames or math.floor(room)
  end
  kept = math.floor(kept * (1 - (what.floor or 0)))
  if draw:number() < (what.spike or 0) then kept = math.floor(kept * (0.5 + draw:number() / 2)) end
  local result = {intended = intended, received = kept, rx_pps = kept / (trial.seconds or 1)}
  if flipped and what.told then
    result.valid, result.why = false, "the mode flipped"
    return result
  end
  self.trials[#self.trials + 1] = {pps = pps, seconds = trial.seconds, loss = 1 - kept / intended}
  return result
end

--- Runs a search to its end.
function simulated:search(name, options)
  local controller = require("sluice.bench.search").new(name, options)
  for trial in controller.next do controller.tell(self:run(trial)) end
  return controller
end

return simulated
