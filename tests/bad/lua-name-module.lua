chain(Source("Sink"), Sink())
