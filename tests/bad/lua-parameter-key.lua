chain(Source{[true] = 1}, Sink())
chain(Source{[0] = 1}, Sink())
