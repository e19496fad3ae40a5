-- graphs/latency.lua: loss and latency through two wires and a switch, at several rates
--
-- A Generator stamps each packet with the time at which it was meant to go, a Meter behind the
-- second wire reads it. Put what you want to measure in the place of `swap`. All is one worker's
-- work here, so the latency is that of its loop: packets wait for their turn.
--
--   build/out/sluice run --quiet graphs/latency.lua
--   build/out/sluice run --quiet graphs/latency.lua --set pattern=poisson --set time=5s
local traffic = require "sluice.traffic"
vars{time = {"50ms", type = "duration", help = "length of a trial"},
     pattern = {"constant", choices = {"constant", "poisson"}, help = "how packets are spaced"},
     flows = {100, min = 1, help = "senders"}}

settings{idle = "spin"}
local near, far = port.ring("near"), port.ring("far")
local made = traffic.generator("made", {frame = 64, flows = vars.flows, pattern = vars.pattern,
                                        templates = {"ether / ipv4 / udp"}, start = false})
local seen = Meter("seen")
chain(made, PortOut{port = near})
chain(PortInc{port = near}, MACSwap("swap"), PortOut{port = far})
chain(PortInc{port = far}, seen)

on.start(function()
  print("   rate   received  unsent   lost     p50 ns     p99 ns   p99.9 ns     max ns")
  for _, rate in ipairs{"100kpps", "500kpps", "1Mpps", "2Mpps"} do
    seen:reset()
    made:start{rate = rate, duration = vars.time}
    expect(wait_until(function() return not made:status().running end, "60s"), "an end")
    local sent = made:status()
    local function all() return seen:look().received == sent.attempted end
    expect(wait_until(all, "10s"), "every packet that was sent at " .. rate)
    local got = seen:read{histogram = "none"}
    print(("%7s %10d %7d %6d %10d %10d %10d %10d"):format(
          rate, got.received, sent.unsent, got.lost, got.p50_ns,
          got.p99_ns, got.p99_9_ns, got.max_ns))
    expect(got.lost == 0 and got.duplicates == 0 and got.reordered == 0, "all of them, in order")
  end
  stop()
end)
