-- check: --set frames=5
chain(Source(), Sink())
