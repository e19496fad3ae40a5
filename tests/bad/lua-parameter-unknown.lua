-- All faults of a graph come in one run.
chain(
  Source{counts = 1},
  L2Fwd{colour = "red"},
  Sink())
