vars{frames = {1000, min = 1, help = "n"}, wait = {"1s", type = "duration"}, mode = {"a", choices = {"a", "b"}}}
settings{burst = 16}
local left, right = port.null("left", {count = vars.frames}), port.memory{}
local cls = Filter("cls", {expression = "udp"})
local fwd = L2Fwd{ageing = vars.wait, entries = {{mac = "02:00:00:00:00:01", gate = 0}}}
chain(left, {MACSwap(), cls:gate("match")}, function() return fwd end, right)
local _ = cls:gate(1) >> Sink("rest"):input(0)
worker{core = 0, sources = {"PortInc#1"}}
on.start(function() wait("1ms") fwd:add{mac = "02:00:00:00:00:02", gate = 0} stop() end)
every("1ms", function() expect(drops.total == 0, "lost") end)
