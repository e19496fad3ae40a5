chain(Source{count = 2^64}, Sink())
chain(Source{count = -1}, Sink())
chain(Source{count = 0/0}, Sink())
chain(Source{count = math.huge}, Sink())
