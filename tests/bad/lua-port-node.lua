-- A node where a port is due.
local sink = Sink()
chain(PortInc{port = sink}, sink)
