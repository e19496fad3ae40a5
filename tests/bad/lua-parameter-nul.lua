chain(port.pcap{rx = "a\0b"}, Sink())
chain(Source{["count\0"] = 1}, Sink())
