chain(Source(), Sink())
every("often", function() end)
