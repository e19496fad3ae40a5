-- SPDX-License-Identifier: BSD-3-Clause
-- The benchmarks of RFC 2544: throughput (26.1), frame loss rate (26.3), and back-to-back frames
-- (26.4) as RFC 9004 corrects it.

local rfc2544 = {}

local function lossless(result) return result.received >= result.intended end

--- Throughput: the greatest load without loss, one trial a load, by halves. Options: max_pps,
--- seconds (60), width (0.01), min_pps (max / 1000).
function rfc2544.throughput(measure, options)
  local seconds, width = options.seconds or 60, options.width or 0.01
  local low, high = 0, options.max_pps
  local least = options.min_pps or high / 1000
  if lossless(measure{pps = high, seconds = seconds}) then
    return {metric = "rfc2544", pps = high, lower_pps = high, at_max = true, loss_ratio = 0,
            why = "the greatest load loses nothing"}
  end
  while (high - low) / high > width and high > least do
    local middle = (low + high) / 2
    if lossless(measure{pps = middle, seconds = seconds}) then low = middle else high = middle end
  end
  return {metric = "rfc2544", pps = low, lower_pps = low, upper_pps = high, loss_ratio = 0,
          why = low == 0 and "even the smallest load loses frames" or nil}
end

--- The loss rate at 100, 90, ... % of max_pps, until two loads in a row lose nothing. Options:
--- max_pps, seconds (60), step (10 %, which the RFC allows at most).
function rfc2544.loss(measure, options)
  local curve, clean, step = {}, 0, options.step or 10
  local percent = 100
  while percent > 0 and clean < 2 do
    local pps = options.max_pps * percent / 100
    local result = measure{pps = pps, seconds = options.seconds or 60}
    local loss = (result.intended - result.received) / result.intended
    curve[#curve + 1] = {percent = percent, pps = pps, loss = loss}
    clean = loss <= 0 and clean + 1 or 0
    percent = percent - step
  end
  return {metric = "loss", curve = curve, max_pps = options.max_pps}
end

-- The longest burst that comes through whole, to within the width.
local function burst_longest(measure, options, most)
  local low, high = 0, most
  if lossless(measure{pps = options.max_pps, frames = most}) then return most end
  while high - low > math.max(1, options.width and high * options.width or 1) do
    local middle = (low + high) // 2
    if lossless(measure{pps = options.max_pps, frames = middle}) then
      low = middle
    else
      high = middle
    end
  end
  return low
end

--- Times of the buffer that a burst of so many frames implies (RFC 9004, 5.5 and 6.3): the switch
--- forwards while it fills, which the corrected time takes out.
---@return number implied seconds
---@return number corrected seconds
function rfc2544.buffer_times(frames, max_pps, throughput_pps)
  local implied = frames / max_pps
  return implied, implied - implied * math.min(1, throughput_pps / max_pps)
end

--- Back-to-back frames: the longest burst at max_pps that loses nothing, found again and again.
--- Options: max_pps, throughput_pps (measured before, at the same size), repeats (50), width (nil:
--- to the frame), burst_seconds (2): the longest burst tried.
function rfc2544.b2b(measure, options)
  if type(options.throughput_pps) ~= "number" then
    return {failed = "back-to-back needs throughput_pps, the throughput measured before"}
  end
  local most = math.floor(options.max_pps * (options.burst_seconds or 2))
  local repeats, lengths = options.repeats or 50, {}
  for i = 1, repeats do
    lengths[i] = burst_longest(measure, options, most)
    -- What forwards all of the longest burst does so every time: there is no buffer to measure.
    if lengths[i] == most then
      return {metric = "b2b", max_pps = options.max_pps,
              frames = {mean = most, min = most, max = most, n = i}, at_max = true,
              why = "the longest burst loses nothing: no buffer can be measured"}
    end
  end
  local sum, square, low, high = 0, 0, math.huge, 0
  for _, n in ipairs(lengths) do
    sum, low, high = sum + n, math.min(low, n), math.max(high, n)
  end
  local mean = sum / repeats
  for _, n in ipairs(lengths) do square = square + (n - mean) ^ 2 end
  local implied, corrected = rfc2544.buffer_times(mean, options.max_pps, options.throughput_pps)
  return {metric = "b2b", max_pps = options.max_pps, implied_buffer_s = implied,
          corrected_buffer_s = corrected,
          frames = {mean = mean, min = low, max = high, n = repeats,
                    deviation = repeats > 1 and math.sqrt(square / (repeats - 1)) or nil}}
end

return rfc2544
