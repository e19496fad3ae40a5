-- The module instead of a node of it.
chain(Source, MACSwap, function() end, Sink)
