chain(MACSwap(), Source(), Sink())
