chain(Source(), Sink())
chian(Source(), Sink())
