local source, sinc = Source(), Sink()
chain(source, MACSwap(), sink)
