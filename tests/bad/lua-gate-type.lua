local split = Filter{expression = "udp"}
chain(split:gate(1.5), Sink())
