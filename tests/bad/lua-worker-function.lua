worker{core = 0, sources = {Source}}
chain(Source(), Sink())
