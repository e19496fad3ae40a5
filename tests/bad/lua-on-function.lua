chain(Source(), Sink())
on.start("now")
