chain(Source(), Sink())
local lost = MACSwap("lost")
