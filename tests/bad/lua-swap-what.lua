chain(Source(), Sink())
swap(5)
