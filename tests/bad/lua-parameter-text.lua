-- A text is no number, also where it looks like one.
chain(Source{count = "10"}, Sink())
