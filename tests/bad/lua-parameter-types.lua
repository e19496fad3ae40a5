-- A value of the wrong kind for a parameter of each kind.
chain(
  Source{count = "many", burst = 1.5},
  L2Fwd{ageing = "soon",
        size = -1},
  L2Fwd{entries = "all"},
  L2Fwd{entries = {{mac = "02:00", gate = 0}}},
  L2Fwd{entries = {{mac = "02:00:00:00:00:01", gate = "left"}}},
  Filter{expression = true},
  Queue{backpressure = "yes"},
  Sink())
