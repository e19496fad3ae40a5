chain(Source(), Sink())
stop()
