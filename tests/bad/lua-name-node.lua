Sink("end")
chain(Source(), "end")
Discard("end")
