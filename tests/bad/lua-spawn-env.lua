chain(Source(), Sink())
spawn{"true", env = "PATH=/"}
