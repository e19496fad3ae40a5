chain(Source(), Sink())
print(#workers)
