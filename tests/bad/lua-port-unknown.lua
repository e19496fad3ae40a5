chain(PortInc{port = "left"}, Sink())
