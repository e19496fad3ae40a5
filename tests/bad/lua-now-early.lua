chain(Source(), Sink())
print(now())
