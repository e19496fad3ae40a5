chain(Source(), Sink())
swap(function() chain(Source(), Sink()) end)
