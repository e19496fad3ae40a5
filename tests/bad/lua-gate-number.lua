local split = Filter{expression = "udp"}
chain(Source(), split)
chain(split:gate(0), Sink())
chain(split:gate(7), Sink())
