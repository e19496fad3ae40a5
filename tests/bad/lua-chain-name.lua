Source("source")
chain("sorce", Sink())
