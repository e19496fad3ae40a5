return {
  build = function()
    chain(Source{count = "x"}, Elephant{}, Sink())
  end,
}
