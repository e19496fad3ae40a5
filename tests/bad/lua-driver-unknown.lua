chain(port.elephant{}, Sink())
