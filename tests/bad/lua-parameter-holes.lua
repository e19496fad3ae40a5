chain(Source{templates = {"ether / ipv4 / udp", nil, "ether / ipv4 / tcp"}}, Sink())
