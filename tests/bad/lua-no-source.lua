chain(MACSwap(), Sink())
