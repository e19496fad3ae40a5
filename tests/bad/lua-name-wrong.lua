chain(Source("the source"), Sink())
