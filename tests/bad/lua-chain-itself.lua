local list = {MACSwap()}
list[2] = list
chain(Source(), list, Sink())
