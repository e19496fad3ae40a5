chain(Source(), Sink())
on.begin(function() end)
