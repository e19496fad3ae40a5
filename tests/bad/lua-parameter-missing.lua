local rx = PortInc()
chain(rx, Sink())
