chain(Source(), 5, Sink())
