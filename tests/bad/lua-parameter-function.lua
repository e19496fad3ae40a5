chain(Source{count = function() return 1 end}, Sink())
