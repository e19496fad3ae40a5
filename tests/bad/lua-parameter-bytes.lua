chain(port.pcap{rx = "\xff.pcap"}, Sink())
