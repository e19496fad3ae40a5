chain(Source(), Sink())
spawn{"sleep", "100"}
