chain(Source(), Sink())
after(-1, function() end)
