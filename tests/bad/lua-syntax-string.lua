chain(Source("a), Sink())
