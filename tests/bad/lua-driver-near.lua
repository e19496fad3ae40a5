local p = port.pcapp{rx = "x.pcap"}
