settings{
  burst = 0,
}
chain(Source(), Sink())
