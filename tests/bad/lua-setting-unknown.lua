settings{bursts = 1}
chain(Source(), Sink())
