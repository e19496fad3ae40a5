chain(Source(), Sink())
every("1us", function() end)
