local source = Source()
chain(source, Sink("one"))
chain(source, Sink("two"))
