local left = port.null("left")
chain(left, Sink())
print(left.stats.rx_packets)
