-- graphs/sweep.lua: a table of rates over sizes of bursts and frames
--
-- For each trial the script swaps in a new graph; nothing is started anew. Put what you want to
-- measure in the place of MACSwap.
--
--   build/out/sluice run --quiet graphs/sweep.lua
--   build/out/sluice run --quiet graphs/sweep.lua --set time=1s --set csv=rates.csv
vars{time = {"50ms", type = "duration", help = "length of a trial"},
     csv = {"", help = "a file to write the table to as well"}}

local bursts, sizes = {1, 4, 16, 32, 64}, {60, 250, 1514}

local function trial(burst, size)
  return function()
    settings{burst = burst}
    chain(Source("make", {size = size}), MACSwap("swap"), Sink("out"))
  end
end
trial(bursts[1], sizes[1])()

-- What one trial came to: packets in a second, cycles for each.
local function measure()
  local packets, cycles, time = node.out.stats.packets, workers[1].busy_cycles, now()
  wait(vars.time)
  packets = node.out.stats.packets - packets
  return packets / (now() - time), (workers[1].busy_cycles - cycles) / packets
end

on.start(function()
  local csv = vars.csv ~= "" and assert(io.open(vars.csv, "w"))
  if csv then csv:write("size,burst,pps,cycles\n") end
  print("bytes  burst      Mpps  cycles/packet")
  for _, size in ipairs(sizes) do
    for _, burst in ipairs(bursts) do
      swap(trial(burst, size))
      wait("10ms")
      local rate, cycles = measure()
      print(("%5d %6d %9.2f %14.1f"):format(size, burst, rate / 1e6, cycles))
      if csv then csv:write(("%d,%d,%.0f,%.2f\n"):format(size, burst, rate, cycles)) end
    end
  end
  if csv then csv:close() end
  stop()
end)
