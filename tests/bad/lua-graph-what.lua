chain(Source(), Sink())
local other = graph(5)
