chain(Source(), Sink())
wait_until(function() return true end)
