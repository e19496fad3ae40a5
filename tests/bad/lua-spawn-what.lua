chain(Source(), Sink())
spawn{}
