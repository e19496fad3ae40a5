local a = port.null("left")
local b = port.ring("left")
chain(a, Sink())
chain(b, Sink())
