vars{
  iface = {help = "the interface"},
}
chain(Source(), Sink())
