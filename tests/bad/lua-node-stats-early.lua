local sink = Sink()
chain(Source(), sink)
print(sink.stats.packets)
