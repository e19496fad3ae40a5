chain(Source(), {swap = MACSwap()}, Sink())
