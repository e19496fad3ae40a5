chain(Source(), Sink())
print(drops.total)
