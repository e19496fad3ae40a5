worker{core = 0, sources = {"rx"}}
chain(Source(), Sink())
