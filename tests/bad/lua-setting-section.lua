settings{ports = {}, nodes = {}, "spin"}
chain(Source(), Sink())
