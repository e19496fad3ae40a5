return {
  build = function(what)
    chain(Source(), what, Sink())
  end,
}
