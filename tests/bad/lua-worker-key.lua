worker{cores = 0}
chain(Source(), Sink())
