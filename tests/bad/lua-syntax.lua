chain(Source(),
      Sink()
local after = 1
