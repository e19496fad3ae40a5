chain(Source(), {MACSwap(), nil, MACSwap()}, Sink())
