chain(Source(), MACSwap():input(1), Sink())
