chain(Source(), Sink())
wait("1s")
