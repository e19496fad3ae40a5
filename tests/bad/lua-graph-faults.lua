-- Another graph, of which all is reported.
local other = graph(function()
  chain(Source{count = "x"}, Sink())
  chain(Source{counts = 1}, Sink())
end)
