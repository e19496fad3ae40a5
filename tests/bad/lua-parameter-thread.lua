chain(Source{templates = {"ether / ipv4 / udp", coroutine.create(print)}}, Sink())
