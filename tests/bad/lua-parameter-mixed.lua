chain(Source{count = 1}, L2Fwd{entries = {{mac = "02:00:00:00:00:01", gate = 0}, 1, size = 4}}, Sink())
