local split = Filter{expression = "udp"}
chain(Source(), split:gate("mach"), Sink())
