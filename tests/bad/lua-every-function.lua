chain(Source(), Sink())
every("1s", (function() end)())
