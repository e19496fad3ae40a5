load_module("none.so")
chain(Source(), Sink())
